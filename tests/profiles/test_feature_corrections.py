"""A person puts a memory right: the features that stand on it follow."""

from memories.belief import review
from memories.ingest import NewMessage
from memories.models import Feature, Memory
from tests.people import Person
from tests.profiles.test_feature_erasing import add, quotes, said
from tests.profiles.test_feature_folding import folded, known, told

BAKER = ("work", "job", "baker")
BUTCHER = ("work", "job", "butcher")


def correct(person: Person, content: str) -> None:
    memory = Memory.objects.live().get()
    review.edit(person.scope, memory.pk, {"content": content})


def of_set(person: Person, key: str) -> set[tuple[str, str, str]]:
    rows = Feature.objects.visible_to(person.scope).live().filter(set__key=key)
    return set(rows.values_list("tag", "feature", "value"))


def test_a_correction_reaches_the_feature_at_once_and_stays(alice: Person) -> None:
    told(alice, "I work as a baker.")
    job = Feature.objects.get()
    correct(alice, "Ada works as a butcher")
    assert known(alice) == {BUTCHER}
    folded(alice)
    assert known(alice) == {BUTCHER}
    job.refresh_from_db()
    assert (job.value, quotes(job)) == ("butcher", ["I work as a baker."])
    assert [c.by for c in job.changes.order_by("id")][1] == alice.scope.actor


def test_what_was_corrected_before_the_first_fold_is_folded_as_corrected(alice: Person) -> None:
    alice.say(NewMessage("I work as a baker.", name="Ada"), user_id="ada")
    correct(alice, "Ada works as a butcher")
    folded(alice)
    assert known(alice) == {BUTCHER}


def test_what_is_said_after_a_correction_counts(alice: Person) -> None:
    told(alice, "I live in Rome.")
    correct(alice, "Ada lives in Milan")
    told(alice, "I live in Turin now.")
    assert known(alice) == {("home", "home", "Turin")}


def test_a_correction_corrected_again_reaches_the_feature(alice: Person) -> None:
    told(alice, "I work as a baker.")
    correct(alice, "Ada works as a butcher")
    correct(alice, "Ada works as a baker")
    assert known(alice) == {BAKER}


def test_a_model_s_feature_keeps_its_shelf_and_says_the_new_words(alice: Person) -> None:
    told(alice, "I like jazz.")
    Feature.objects.all().delete()
    made = add(alice, "likes jazz", "I like jazz.")
    correct(alice, "Ada likes opera")
    made.refresh_from_db()
    assert (made.tag, made.value) == ("likes", "likes opera")


def test_a_memory_that_moves_takes_its_features_along(alice: Person) -> None:
    said(alice, "Hello.")
    alice.say("I live in Lisbon.", user_id="ben")
    folded(alice, "user:ben")
    memory = Memory.objects.live().get(content__contains="Lisbon")
    review.move(alice.scope, [memory.pk], "ada")
    assert of_set(alice, "user:ben") == set()
    assert of_set(alice, "user:ada") == {("home", "home", "Lisbon")}
    review.move(alice.scope, [memory.pk], "ben")
    assert of_set(alice, "user:ben") == {("home", "home", "Lisbon")}
    assert of_set(alice, "user:ada") == set()


def test_what_moved_before_the_first_fold_is_told_of_the_other(alice: Person) -> None:
    alice.say("I live in Lisbon.", user_id="ben")
    review.move(alice.scope, [Memory.objects.live().get().pk], "ada")
    folded(alice, "user:ben")
    assert of_set(alice, "user:ben") == set()
    assert of_set(alice, "user:ada") == {("home", "home", "Lisbon")}


def test_all_wordings_of_a_claim_are_cited_and_no_others(alice: Person) -> None:
    wordings = [
        "I like hiking in the mountains.",
        "I really like hiking in the mountains.",
        "I love hiking in the mountains.",
        "I enjoy hiking in the mountains.",
    ]
    told(alice, "I like hiking.", *wordings)
    made = Feature.objects.live().get()
    assert sorted(quotes(made)) == sorted(wordings)

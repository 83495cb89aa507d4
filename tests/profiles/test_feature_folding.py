"""What was said becomes features: by rules, without a model."""

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from memories.belief import review
from memories.belief.review import forget
from memories.index import check, workspace_index
from memories.ingest import NewMessage
from memories.models import Episode, Feature, FeatureChange, FeatureMark, FeatureSet, Memory
from memories.privacy.erase import remove
from memories.profiles.features import apply, undo_features
from memories.profiles.features.apply import ChangeOrigin
from memories.profiles.features.commands import ADD, Cited, Command
from memories.profiles.features.set_queue import discover_sets
from memories.profiles.features.update import UpdateResult, update_now, update_set
from tests.people import Person
from workspaces.models import Subject


def told(person: Person, *said: str, **wish: Any) -> None:
    """Said about ada by Ada, and taken in."""
    person.say(*[NewMessage(each, name="Ada") for each in said], user_id="ada", **wish)
    folded(person)


def folded(person: Person, key: str = "user:ada") -> UpdateResult | None:
    discover_sets()
    return update_now(person.scope, key)


def known(person: Person) -> set[tuple[str, str, str]]:
    rows = Feature.objects.visible_to(person.scope).live()
    return set(rows.values_list("tag", "feature", "value"))


def test_plain_statements_become_features_with_their_words(alice: Person) -> None:
    told(alice, "I live in Lisbon. I prefer tea to coffee.")
    assert known(alice) == {
        ("home", "home", "Lisbon"),
        ("choices", "prefers", "prefers tea to coffee"),
    }
    home = Feature.objects.get(feature="home")
    assert [c.quote for c in home.citations.all()] == ["I live in Lisbon."]


def test_an_equal_slot_updates_and_the_old_value_stays_in_the_history(alice: Person) -> None:
    told(alice, "I live in Lisbon.")
    told(alice, "I live in Porto now.")
    home = Feature.objects.live().get(feature="home")
    assert home.value == "Porto"
    steps = [(c.action, c.before and c.before["value"]) for c in home.changes.order_by("id")]
    assert steps == [("add", None), ("update", "Lisbon")]
    assert [c.quote for c in home.citations.filter(change__is_current=True)] == ["I live in Porto now."]


def test_a_change_is_taken_back_with_its_words(alice: Person) -> None:
    told(alice, "I live in Lisbon.")
    told(alice, "I live in Porto now.")
    home = Feature.objects.live().get(feature="home")
    undo_features.undo(alice.scope, home.pk)
    again = Feature.objects.get(pk=home.pk)
    assert again.value == "Lisbon"
    cited = again.citations.filter(change__is_current=True)
    assert [c.quote for c in cited] == ["I live in Lisbon."]
    assert undo_features.undo(alice.scope, home.pk).ended_at is not None


def test_what_is_older_than_what_is_known_changes_nothing(alice: Person) -> None:
    told(alice, "I live in Porto.")
    past = timezone.now() - timedelta(days=400)
    told(alice, "I live in Lisbon.", occurred_at=past)
    assert known(alice) == {("home", "home", "Porto")}


def test_every_episode_is_taken_in_once(alice: Person) -> None:
    told(alice, "I live in Lisbon.", "Hello there!", "I work as a nurse.")
    assert FeatureMark.objects.count() == 3
    assert folded(alice) is not None
    assert FeatureMark.objects.count() == 3
    assert FeatureSet.objects.get().waiting == 0


def test_a_forgotten_memory_takes_its_feature_with_it_and_restored_brings_it_back(
    alice: Person,
) -> None:
    told(alice, "I live in Lisbon.")
    memory = Memory.objects.get()
    forget(alice.scope, memory.pk, "outdated")
    assert known(alice) == set()
    review.restore(alice.scope, memory.pk)
    folded(alice)
    assert known(alice) == {("home", "home", "Lisbon")}


def test_features_of_one_agents_words_are_not_told_to_another(
    alice: Person, bob: Person, carol: Person, mallory: Person
) -> None:
    bob.say(NewMessage("I live in Lisbon.", name="Ada"), user_id="ada")
    carol.say(NewMessage("I live in Porto.", name="Ada"), user_id="ada")
    folded(alice)
    assert known(bob) == {("home", "home", "Lisbon")}
    assert known(carol) == {("home", "home", "Porto")}
    assert len(known(alice)) == 2
    assert known(mallory) == set()


def test_a_set_waits_for_its_threshold(alice: Person) -> None:
    alice.say(NewMessage("I live in Lisbon.", name="Ada"), user_id="ada")
    discover_sets()
    found = FeatureSet.objects.get()
    assert (found.waiting, found.due_at - found.waiting_since) == (1, timedelta(seconds=60))
    assert update_set(found.pk) is None


def test_what_is_erased_takes_its_features_and_their_history_with_it(alice: Person) -> None:
    told(alice, "I live in Lisbon.")
    told(alice, "I live in Porto now.")
    gone = Episode.objects.get(content="I live in Porto now.")
    with transaction.atomic():
        remove.remove_episodes(workspace_index.index_of(alice.workspace.pk), [gone.pk])
    assert not FeatureChange.objects.filter(after__value="Porto").exists()
    folded(alice)
    assert known(alice) == {("home", "home", "Lisbon")}
    assert alice.finds("Porto", layers=("features",)) == []
    assert alice.finds("home", layers=("features",)) == ["Ada home (home): Lisbon"]


def test_a_merged_subject_s_words_are_folded_into_the_other_s_set(alice: Person) -> None:
    told(alice, "I live in Lisbon.")
    alice.say(NewMessage("I work as a nurse.", name="Ada"), user_id="ada2")
    folded(alice, "user:ada2")
    ids = [Subject.objects.get(external_id=name).pk for name in ("ada2", "ada")]
    review.merge_subjects(alice.scope, *ids)
    folded(alice)
    assert known(alice) == {("home", "home", "Lisbon"), ("work", "job", "nurse")}
    assert check.check_index(workspace_index.index_of(alice.workspace.pk), lambda _: None).broken == {}


def test_who_died_between_taking_in_and_merging_has_left_nothing_unmerged(alice: Person) -> None:
    told(alice, "I like rowing.")
    found, space = FeatureSet.objects.get(), workspace_index.index_of(alice.workspace.pk)
    cited = (Cited(Episode.objects.get().pk, 0, 6, "I like", timezone.now()),)
    alike = [
        Command(ADD, "preferences", "likes", "likes", value, about="Ada", cited=cited)
        for value in ("likes warm plum jam", "likes warm plum jams")
    ]
    texts = [Feature.text_of(each.tag, each.feature, each.value, "Ada") for each in alike]
    vectors = apply.embed_texts(space, texts)
    with transaction.atomic():
        apply.apply_commands(space, ChangeOrigin(found, "set:test", "rule"), alike, vectors)
    config = {"featuresPerConsolidation": 2}
    FeatureSet.objects.update(due_at=timezone.now(), failures=1, config=config)
    done = update_set(found.pk)
    assert done is not None
    assert (done.episodes, done.merged, FeatureSet.objects.get().failures) == (0, 1, 0)

"""What is left of features when some of the words they stand on are erased."""

from typing import Any

from django.db import transaction

from memories.index import check, workspace_index
from memories.models import Episode, Feature, FeatureChange, FeatureSet
from memories.privacy.erase import remove
from memories.profiles.features import apply, edit_features, undo_features
from memories.profiles.features.apply import ChangeOrigin
from memories.profiles.features.commands import ADD, Cited, Command
from memories.profiles.features.consolidate import consolidate
from memories.profiles.features.edit_features import NewFeature
from tests.people import Person
from tests.profiles.test_feature_folding import folded, known, told


def erase(person: Person, content: str) -> None:
    gone = Episode.objects.get(content=content)
    with transaction.atomic():
        remove.remove_episodes(workspace_index.index_of(person.workspace.pk), [gone.pk])
    assert check.check_index(workspace_index.index_of(person.workspace.pk), lambda _: None).broken == {}


def episode(content: str) -> Episode:
    return Episode.objects.get(content=content)


def add(person: Person, value: str, *contents: str, tag: str = "likes") -> Feature:
    """As a model would: a feature that cites these episodes whole."""
    found, space = (
        FeatureSet.objects.get(key="user:ada"),
        workspace_index.index_of(person.workspace.pk),
    )
    cited = tuple(
        Cited(e.pk, 0, len(e.content), e.content, e.occurred_at) for e in Episode.objects.filter(content__in=contents)
    )
    last = max(each.occurred_at for each in cited)
    command = Command(ADD, "preferences", tag, "likes", value, about="Ada", cited=cited, occurred_at=last)
    vectors = apply.embed_texts(space, [Feature.text_of(tag, "likes", value, "Ada")])
    with transaction.atomic():
        done = apply.apply_commands(space, ChangeOrigin(found, "set:test", "llm"), [command], vectors)
    return Feature.objects.get(pk=done.added[0])


def quotes(feature: Feature) -> list[str]:
    return [c.quote for c in feature.citations.filter(change__is_current=True)]


def said(person: Person, *contents: str) -> None:
    """Kept, and taken in without a feature of their own."""
    person.say(*contents, user_id="ada", extract="none")
    folded(person)


def by_hand(person: Person, value: str, *contents: str, **wish: Any) -> Feature:
    ids = tuple(episode(each).pk for each in contents)
    new = NewFeature("identity", "home", "home", value, episode_ids=ids, **wish)
    return edit_features.create(person.scope, "user:ada", new)


def test_what_a_person_wrote_stays_by_the_words_that_are_left(alice: Person) -> None:
    said(alice, "The sea is near.", "Trains are late.")
    made = by_hand(alice, "written by hand", "The sea is near.", "Trains are late.")
    erase(alice, "Trains are late.")
    made.refresh_from_db()
    assert (made.value, quotes(made)) == ("written by hand", ["The sea is near."])
    assert made.changes.count() == 1


def test_what_rules_read_from_two_messages_stays_by_the_other(alice: Person) -> None:
    told(alice, "I like jazz.")
    told(alice, "I really like jazz.")
    made = Feature.objects.live().get(value="likes jazz")
    assert len(quotes(made)) == 2
    erase(alice, "I really like jazz.")
    assert quotes(Feature.objects.live().get(pk=made.pk)) == ["I like jazz."]


def test_the_value_before_returns_where_the_newest_words_are_erased(alice: Person) -> None:
    told(alice, "I live in Lisbon.")
    told(alice, "I live in Porto now.")
    home = Feature.objects.live().get(feature="home")
    erase(alice, "I live in Porto now.")
    home.refresh_from_db()
    assert (home.value, quotes(home)) == ("Lisbon", ["I live in Lisbon."])
    assert not FeatureChange.objects.filter(before__value="Porto").exists()
    assert alice.finds("Porto", layers=("features",)) == []
    assert alice.finds("home", layers=("features",)) == ["Ada home (home): Lisbon"]


def test_an_old_value_whose_words_are_erased_leaves_the_history(alice: Person) -> None:
    told(alice, "I live in Lisbon.")
    told(alice, "I live in Porto now.")
    erase(alice, "I live in Lisbon.")
    home = Feature.objects.live().get(feature="home")
    assert [(c.action, c.before) for c in home.changes.all()] == [("add", None)]
    assert home.value == "Porto"


def test_a_value_that_only_the_erased_words_say_falls_though_others_were_cited(
    alice: Person,
) -> None:
    said(alice, "I like tea.", "I like green tea.")
    made = add(alice, "likes green tea", "I like tea.", "I like green tea.")
    erase(alice, "I like green tea.")
    assert not Feature.objects.filter(pk=made.pk).exists()


def merged(person: Person) -> tuple[Feature, Feature]:
    said(person, "I like warm plum jam.", "I like warm plum jams a lot.")
    one = add(person, "likes warm plum jam", "I like warm plum jam.")
    other = add(person, "likes warm plum jams a lot", "I like warm plum jams a lot.")
    FeatureSet.objects.update(config={"featuresPerConsolidation": 2})
    assert consolidate(person.scope, "user:ada") == 1
    return one, other


def test_a_merge_comes_apart_where_the_words_of_its_outcome_are_erased(alice: Person) -> None:
    one, other = merged(alice)
    erase(alice, "I like warm plum jams a lot.")
    assert not Feature.objects.filter(pk=other.pk).exists()
    one.refresh_from_db()
    assert (one.ended_at, one.value) == (None, "likes warm plum jam")
    assert quotes(one) == ["I like warm plum jam."]
    assert not FeatureChange.objects.filter(reason__contains="lot").exists()


def test_a_merge_goes_on_without_the_part_whose_words_are_erased(alice: Person) -> None:
    one, other = merged(alice)
    erase(alice, "I like warm plum jam.")
    assert not Feature.objects.filter(pk=one.pk).exists()
    other.refresh_from_db()
    assert (other.ended_at, quotes(other)) == (None, ["I like warm plum jams a lot."])
    assert [c.action for c in other.changes.order_by("id")] == ["add", "merge"]


def test_a_merge_that_was_taken_back_is_not_made_again(alice: Person) -> None:
    one, other = merged(alice)
    undo_features.undo(alice.scope, one.pk)
    assert consolidate(alice.scope, "user:ada") == 0
    assert set(Feature.objects.live().values_list("pk", flat=True)) == {one.pk, other.pk}


def test_taking_one_merge_back_leaves_the_others(alice: Person) -> None:
    said(alice, "I like big red kites.", "I like big red kites so much.")
    add(alice, "likes big red kites", "I like big red kites.")
    add(alice, "likes big red kites so much", "I like big red kites so much.")
    said(alice, "I like warm plum jam.", "I like warm plum jams a lot.")
    jam = add(alice, "likes warm plum jam", "I like warm plum jam.")
    add(alice, "likes warm plum jams a lot", "I like warm plum jams a lot.")
    assert consolidate(alice.scope, "user:ada") == 2
    undo_features.undo(alice.scope, jam.pk)
    values = {value for _, _, value in known(alice)}
    assert "likes big red kites" not in values
    assert len(values) == 3

"""What stands in a profile tells something by itself."""

import pytest

from memories.profiles.features import facts_to_features


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("Ada is going to make it work", "is going to make it work"),
        ("Ada will never give up", "will never give up"),
        ("It is Ada's favorite", "It is Ada's favorite"),
        ("Might be Ada's best jam", "Might be Ada's best jam"),
        ("Ada loves having them around", "loves having them around"),
        ("Ada wants to try this sometime", "wants to try this sometime"),
    ],
)
def test_what_points_elsewhere_or_says_nothing_is_left_out(statement: str, value: str) -> None:
    assert not facts_to_features.stands_alone(statement, value, "Ada")


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("Ada likes tea", "likes tea"),
        ("Ada is going to open a bakery", "is going to open a bakery"),
        ("Ada loves this barn", "loves this barn"),
        ("Baking is Ada's passion", "Baking is Ada's passion"),
        (
            "Ada paints it blue each spring before sailing",
            "paints it blue each spring before sailing",
        ),
        ("User prefers dark mode", "prefers dark mode"),
    ],
)
def test_what_says_something_stays(statement: str, value: str) -> None:
    assert facts_to_features.stands_alone(statement, value, "Ada")


def test_asides_are_cut_and_the_rest_stays() -> None:
    assert facts_to_features.to_the_point("loves old barns, so that was great") == "loves old barns"
    assert facts_to_features.to_the_point("likes tea, coffee and milk") == "likes tea, coffee and milk"


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("Ada lives in lisbon", "lisbon"),
        ("Ada moved back to the coast", "coast"),
        ("Ada's home is Porto", "Porto"),
        ("Ada has a small flat", "a small flat"),
    ],
)
def test_homes(statement: str, value: str) -> None:
    assert facts_to_features.is_home(statement, value)


@pytest.mark.parametrize("value", ["is staying calm", "is living the dream", "is hopeful"])
def test_no_homes(value: str) -> None:
    assert not facts_to_features.is_home(f"Ada {value}", value)


@pytest.mark.parametrize("value", ["got a red bicycle", "has a boat", "greenhouse"])
def test_things(value: str) -> None:
    assert facts_to_features.is_thing(value)


@pytest.mark.parametrize("value", ["lost their keys", "got a few good tips", "has a new job"])
def test_no_things(value: str) -> None:
    assert not facts_to_features.is_thing(value)


@pytest.mark.parametrize(
    ("statement", "clear"),
    [
        ("Ada lives in Faro", True),
        ("The barn leaks when it rains", True),
        ("They always bring her peace", False),
        ("It helps Ada with the work", False),
        ("Gives Ada a good feeling", False),
        ("Ada just loves it", False),
    ],
)
def test_what_a_prompt_is_told_beside_features_is_clear(statement: str, clear: bool) -> None:
    assert facts_to_features.is_clear(statement) is clear


@pytest.mark.parametrize(
    ("statement", "so"),
    [
        ("Ada is vegan", True),
        ("Ada has been vegan for two years", True),
        ("Ada follows a strictly vegan diet", True),
        ("Ada teaches people vegan pastry recipes", False),
        ("Ada is selling vegan soap", False),
        ("Ada is on a panel on vegan food", False),
        ("Ada is on a vegan cooking course", False),
        ("Ada got vegan shoes", False),
        ("Ada's diet is vegan", True),
        ("Ada is on a vegan diet", True),
        ("Ada is vegan these days", True),
        ("Ada is vegan when travelling", True),
        ("Ada is a vegan who loves cheese", True),
    ],
)
def test_who_talks_of_a_topic_is_not_that_topic(statement: str, so: bool) -> None:
    assert facts_to_features.is_state_of("Ada", statement, "vegan") is so


@pytest.mark.parametrize(
    ("statement", "value", "so"),
    [
        ("Ada got married in May", "married", True),
        ("Ada married Kim", "married", True),
        ("Ada married her neighbour", "married", True),
        ("Ada and Kim are married", "married", True),
        ("Ada and her friend have just got engaged", "engaged", True),
        ("Ada is divorced from Kim", "divorced", True),
        ("Ada is dating Kim", "dating", True),
        ("Ada is seeing somebody", "dating", True),
        ("Ada photographs married couples", "married", False),
        ("Ada got a single room", "single", False),
        ("Ada is a counsellor of engaged couples", "engaged", False),
    ],
)
def test_whom_somebody_is_with_is_told_in_many_words(statement: str, value: str, so: bool) -> None:
    assert facts_to_features.is_state_of("Ada", statement, value) is so


def test_a_thing_that_somebody_likes_is_nobody() -> None:
    assert facts_to_features.is_somebody("is their neighbour")
    assert not facts_to_features.is_somebody("Chess is Ada's escape")

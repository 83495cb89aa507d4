"""What was true when: ends that are told, plans that name their day, two values at one time."""

from datetime import UTC, datetime

import pytest

from memories.ingest import NewMessage
from memories.language.english import find_claims
from memories.language.english.statements import read
from memories.models import AsOf, Case, Feature, Memory, Supersession
from memories.profiles.features.set_queue import discover_sets
from memories.profiles.features.update import update_now
from tests.people import Person


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(hour=12, tzinfo=UTC)


def told(person: Person, *said: tuple[str, str]) -> None:
    for at, text in said:
        message = NewMessage(text, name="Mira", created_at=day(at))
        person.say(message, user_id="mira")


def true_on(person: Person, at: str, known: datetime | None = None) -> list[str]:
    rows = Memory.objects.believed(person.scope.workspace_id, AsOf(day(at), known))
    return sorted(rows.values_list("content", flat=True))


@pytest.mark.parametrize(
    ("text", "inside", "after"),
    [
        ("I lived in Tartu until 4 April 2025.", "2025-03-01", "2025-04-06"),
        ("Until May 2025 I worked as a tailor.", "2025-02-01", "2025-06-02"),
        ("My phone number was 600 4711 until February.", "2024-12-01", "2025-03-02"),
        ("I drove a Lada until last spring.", "2024-05-01", "2025-06-02"),
        ("I used to live in Narva until 2022.", "2021-01-01", "2023-01-02"),
        ("In 2019 I lived in Parnu.", "2019-06-01", "2020-01-02"),
        ("From 2015 to 2018 I worked at Swedbank.", "2016-06-01", "2019-01-02"),
        ("Back in 2016 my boss was Ms Kask.", "2016-06-01", "2017-01-02"),
    ],
)
def test_what_was_so_until_a_day_was_so_before_it(alice: Person, text: str, inside: str, after: str) -> None:
    told(alice, ("2025-08-01", text))
    assert len(true_on(alice, inside)) == 1
    assert true_on(alice, after) == []


def test_what_was_before_that_ends_where_the_present_began(alice: Person) -> None:
    told(
        alice,
        ("2025-03-01", "I live in Viljandi."),
        ("2025-03-02", "Before that I lived in Rakvere for nine years."),
    )
    assert true_on(alice, "2024-06-01") == ["Mira once lived in Rakvere for nine years"]
    assert true_on(alice, "2025-04-01") == ["Mira lives in Viljandi"]


@pytest.mark.parametrize(
    ("now", "plan", "old", "new"),
    [
        ("I work at Bolt.", "I will start at Wise on 1 June 2025.", "Bolt", "Wise"),
        ("I live in Tallinn.", "I'm going to move to Oulu in June 2025.", "Tallinn", "Oulu"),
        ("My boss is Kadri.", "From June my boss will be Jaan.", "Kadri", "Jaan"),
        ("My rent is 500 euros.", "My rent will be 555 euros from June 2025.", "500", "555"),
        ("I'm single.", "I'm getting married in June 2025.", "single", "married"),
        ("My gym is Reval.", "As of June my gym is Arena.", "Reval", "Arena"),
    ],
)
def test_a_dated_plan_ends_the_present_on_its_day(alice: Person, now: str, plan: str, old: str, new: str) -> None:
    told(alice, ("2025-02-01", now), ("2025-03-01", plan))
    (before,), (after,) = true_on(alice, "2025-05-01"), true_on(alice, "2025-07-01")
    assert old in before
    assert new in after


def test_what_a_plan_will_replace_is_believed_until_its_day_has_come(alice: Person) -> None:
    told(
        alice,
        ("2025-02-01", "I work at Bolt."),
        ("2025-03-01", "I will start at Wise on 1 June 2092."),
    )
    assert len(alice.live()) == 2
    assert not Supersession.objects.exists()
    assert true_on(alice, "2092-05-01") == ["Mira works at Bolt"]
    assert true_on(alice, "2092-07-01") == ["Mira will start at Wise on 1 June 2092"]
    told(alice, ("2025-04-01", "I work at Skype now."))
    assert alice.live() == ["Mira works at Skype now"]
    assert true_on(alice, "2025-05-01") == ["Mira works at Skype now"]


@pytest.mark.parametrize("is_turned", [False, True])
def test_the_earlier_of_two_values_gives_way_where_the_other_began(alice: Person, is_turned: bool) -> None:
    said = [
        ("2025-02-01", "I moved to Oulu in May 2023."),
        ("2025-02-02", "I lived in Vaasa from 2019 until 2023."),
    ]
    told(alice, *(reversed(said) if is_turned else said))
    assert true_on(alice, "2020-06-01") == ["Mira lived in Vaasa from 2019 until 2023"]
    assert true_on(alice, "2023-07-01") == ["Mira moved to Oulu in May 2023"]
    assert not Case.objects.exists()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I moved to Oulu in March 2022.", "I lived in Vaasa from 2018 until 2024."),
        ("My rent was 610 euros in 2023.", "My rent was 640 euros in 2023."),
        ("In 2020 my boss was Ms Lind.", "In 2020 my boss was Mr Saar."),
    ],
)
def test_two_values_at_one_time_are_a_case(alice: Person, one: str, other: str) -> None:
    told(alice, ("2025-02-01", one), ("2025-02-02", other))
    (pair,) = Supersession.objects.all()
    assert (pair.state, pair.rule) == ("pending", "overlap")
    assert Case.objects.undecided().count() == 1


def test_values_of_other_times_are_no_case(alice: Person) -> None:
    told(
        alice,
        ("2025-02-01", "In 2018 I lived in Vaasa."),
        ("2025-02-02", "In 2020 I lived in Turku."),
        ("2025-02-03", "I used to live in Espoo."),
        ("2025-02-04", "I live in Oulu."),
    )
    assert not Case.objects.exists()
    assert len(true_on(alice, "2025-03-01")) == 1


def test_what_is_told_late_was_not_known_before(alice: Person) -> None:
    told(alice, ("2025-02-01", "I live in Oulu."))
    known = Memory.objects.get().periods.get().from_at
    told(alice, ("2025-02-02", "In 2018 I lived in Vaasa."))
    assert true_on(alice, "2018-06-01", known) == []
    assert true_on(alice, "2018-06-01") == ["Mira lived in Vaasa in 2018"]


def test_what_was_is_no_feature_of_today(alice: Person) -> None:
    told(
        alice,
        ("2025-01-10", "I work as a plumber. My favourite tea is Assam."),
        ("2025-02-10", "I worked as a roofer in 2021. In 2022 my favourite tea was mint."),
        ("2025-02-11", "I will work as a pilot from 1 June 2092."),
    )
    discover_sets()
    update_now(alice.scope, "user:mira")
    values = set(Feature.objects.live().values_list("feature", "value"))
    assert values == {("job", "plumber"), ("favourite tea", "Assam")}


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("Ada's favourite tea is Darjeeling", "darjeel"),
        ("Ada's favourite dish is pudding", "pud"),
        ("Ada's favourite city is Nanjing", "nanj"),
        ("Ada's favourite sport is fencing", "fenc"),
    ],
)
def test_a_favourite_may_end_as_a_verb_does(statement: str, value: str) -> None:
    assert [slot.value for slot in read(statement).slots if slot.name == "favorite"] == [value]


def test_where_somebody_was_employed_is_not_where_he_is() -> None:
    assert [slot.value for slot in read("Ada is employed at Statkraft").slots] == ["statkraft"]
    assert read("Ada was employed at Statkraft until 2016").slots == ()


def test_who_is_doing_something_is_no_value() -> None:
    assert read("Ada's dentist is moving to Oslo").is_ongoing
    assert read("Ada is fencing").is_ongoing


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("In 2019 I lived in Parnu.", "Mira lived in Parnu in 2019"),
        (
            "Between 2015 and 2017 I studied at Aalto.",
            "Mira studied at Aalto between 2015 and 2017",
        ),
        ("From June, my boss will be Jaan.", "Mira's boss will be Jaan from June"),
        (
            "Starting in May I'll be working at Kone.",
            "Mira will be working at Kone starting in May",
        ),
        ("Before that, I worked at Nokia.", "Mira once worked at Nokia"),
        # What has a time of its own, or goes on, stays as it was said.
        ("In 2019 I moved to Oulu and in 2020 to Turku.", "In 2019 Mira moved to Oulu"),
        ("In 2019 I fell ill when I lived in Oulu.", "In 2019 Mira fell ill"),
    ],
)
def test_when_it_was_stands_behind_what_is_told(text: str, statement: str) -> None:
    found = [each.statement for each in find_claims.extract(text, "Mira", day("2025-02-01"))]
    assert any(each.startswith(statement) for each in found), found

"""The examples of training and of its checks: who is on which side, and what is mixed in to teach what is no change."""

import json
from collections import defaultdict
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from memories.judge.tokens import Tokens, line_tokens, pair_tokens
from training.lives import is_session, pairs, words

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SEED = 35
EXAMPLES = Path(__file__).parent / "examples"
TASKS = ("change", "worth", "order")
DEV_SHARE = 12  # one group in so many chooses thresholds, and is not trained on

# Whole talks, by the end or a part of what names them. Read at the end only:
HELD_TALKS = {
    "Ethan_Hunt/Fitness_10", "Ethan_Hunt/Travel_Planning_6", "Adeleke_Okonjo/Knowledge_Learning_1",
    "education_episode_custom_en_018_raven_portfolio_raven_makers_dual_track",
    "education_episode_custom_en_026_ember_practicum_ember_guides_dual_track",
    "office_episode_custom_en_001_maple_maplemark_dual_project",
    "office_episode_custom_en_010_monsoon_moonstone_dual_project",
}  # fmt: skip
# Choose thresholds:
DEV_TALKS = {
    "Ethan_Hunt/Fitness_4", "Adeleke_Okonjo/Project_Management_10",
    "education_episode_custom_en_017_solstice_clearance_solstice_guides_dual_track",
    "office_episode_custom_en_003_copper_copperline_dual_project",
}  # fmt: skip

# How often an example of a folder comes in one round: notes made of a few templates teach little by being repeated.
TURNS = {
    ("realmem", "change"): 1.5, ("realmem", "worth"): 0.5,
    ("gatemem", "change"): 0.3, ("gatemem", "worth"): 0.1, ("gatemem", "order"): 0.4,
}  # fmt: skip
BESIDE_ANOTHER = 0.25  # share of messages that are shown beside another belief, too
UNRELATED = 0.5  # share of messages that are shown beside a belief of any other group, too
STRANGERS = 200  # pairs of one person's real talk, of two subjects, a round
IN_ITS_WORDS = 0.3  # how often a belief is shown in the words that it was said in
IDLE = 2  # beliefs that each sentence of `worth` is shown beside: most of what people say changes nothing
NO_ORDERS = 200  # messages about changes that are no order, a round


class Example(NamedTuple):
    """One labelled line. `talk` names what is split as a whole: a group of examples, a talk."""

    task: str
    folder: str
    talk: str
    belief: str
    said: str
    before: str
    text: str
    label: str
    category: str
    kind: str
    part: str
    special: str


class Sides(NamedTuple):
    """The examples that are trained on, those that choose thresholds, those of real talk that are held back."""

    train: list[Example]
    dev: list[Example]
    held_talk: list[Example]


def read(folder: Path) -> Iterator[Example]:
    """Each example below a folder."""
    for path in sorted(folder.rglob("*.jsonl")):
        kind = path.suffixes[0][1:]
        task = "change" if kind == "lives" else kind
        for row in rows_of(path):
            text = row["sentence" if task == "worth" else "message"]
            yield Example(
                task=task,
                folder=path.parent.name if path.parent.parent.name == "real" else path.stem.split(".")[0],
                talk=_talk(row) or row.get("group") or text,
                belief=row.get("belief", ""),
                said=row.get("said", ""),
                before=row["before"],
                text=text,
                label=row["label"],
                category=row.get("category", ""),
                kind=row.get("kind", ""),
                part=row.get("part", ""),
                special=row.get("special", ""),
            )


def rows_of(path: Path) -> Iterator[dict[str, str]]:
    """The examples of a file: of lives their pairs."""
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield from pairs(row) if path.suffixes[0] == ".lives" else [row]


def _talk(row: dict[str, str]) -> str:
    """A real talk's name. Few people talk at length: theirs is split by subject, which stands before the colon."""
    if "talk" not in row:
        return ""
    subject, colon, _ = row.get("message_id", row.get("id", "")).partition(":")
    return f"{row['talk']}/{subject}" if colon else row["talk"]


def sides(examples: Path = EXAMPLES) -> Sides:
    """All examples but those of the writers held back."""
    train: list[Example] = []
    dev: list[Example] = []
    held: list[Example] = []
    for one in [*read(examples / "train"), *read(examples / "real")]:
        if one.talk in HELD_TALKS:
            held.append(one)
        elif one.talk in DEV_TALKS or (one.folder not in ("realmem", "gatemem") and _drawn(one.talk)):
            dev.append(one)
        else:
            train.append(one)
    return Sides(train, dev, held)


def dev_lives(examples: Path = EXAMPLES) -> list[dict[str, Any]]:
    """Working sessions and real talk, of those that choose thresholds: in them changes are as rare as they are."""
    lives = [
        json.loads(line)
        for side in ("train", "real")
        for path in sorted((examples / side).rglob("*.lives.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    return [life for life in lives if life["person"] in DEV_TALKS or (is_session(life) and _drawn(life["person"]))]


def _drawn(name: str) -> bool:
    return int.from_bytes(sha256(name.encode()).digest()[:4]) % DEV_SHARE == 0


def one_round(train: list[Example], random: Random) -> list[Example]:
    """The examples of one pass, drawn by `TURNS`, with pairs that teach what is no change."""
    chosen = []
    for one in train:
        chosen += [one] * _times(TURNS.get((one.folder, one.task), 1.0), random)
    changes = [one for one in train if one.task == "change"]
    # A message of a life stands beside others of its beliefs already.
    varied = [one for one in changes if one.folder != "gatemem" and (one.label, one.kind) != ("compatible", "else")]
    return [
        *chosen,
        *beside_another(varied, BESIDE_ANOTHER, random),
        *apart(varied, UNRELATED, random),
        *strangers(changes, STRANGERS, random),
        *no_orders(changes, NO_ORDERS, random),
        *idle([one for one in train if one.task == "worth"], varied, IDLE, random),
    ]


def _times(average: float, random: Random) -> int:
    return int(average) + (random.random() < average % 1)


def beside_another(changes: list[Example], share: float, random: Random) -> list[Example]:
    """Messages beside a belief of another group of the same writer, one that shares a word where there is one."""
    beliefs = defaultdict(list)
    for one in {(one.folder, one.talk, one.belief): one for one in changes}.values():
        beliefs[one.folder].append((one, words(f"{one.belief} {one.said}")))
    made = []
    for one in changes:
        if random.random() >= share:
            continue
        said = words(one.text)
        others = random.sample(beliefs[one.folder], min(60, len(beliefs[one.folder])))
        others = [pair for pair in others if pair[0].talk != one.talk]
        if others:
            other = max(others, key=lambda pair: len(pair[1] & said))[0]
            made.append(_compatible(one, other, "beside"))
    return made


def apart(changes: list[Example], beliefs_of_each: float, random: Random) -> list[Example]:
    """Messages beside so many beliefs, on average, of the same writer's other groups."""
    beliefs = defaultdict(list)
    for one in {(one.folder, one.talk, one.belief): one for one in changes}.values():
        beliefs[one.folder].append(one)
    return [
        _compatible(one, other, "apart")
        for one in changes
        for other in random.sample(beliefs[one.folder], min(_times(beliefs_of_each, random), len(beliefs[one.folder])))
        if other.talk != one.talk
    ]


def strangers(changes: list[Example], most: int, random: Random) -> list[Example]:
    """Pairs of one person's real talk that share a word and belong to two subjects."""
    people = defaultdict(list)
    for one in changes:
        if one.folder == "realmem":
            people[one.talk.partition("/")[0]].append((one, words(one.belief), words(one.text)))
    made = [
        _compatible(later, belief, "strangers")
        for talk in people.values()
        for belief, held, _ in talk
        for later, _, said in talk
        if belief.talk != later.talk and held & said
    ]
    read_together = {(one.belief, one.text) for one in changes}
    drawn = random.sample(made, min(most, len(made)))
    return [one for one in drawn if (one.belief, one.text) not in read_together]


def _compatible(message: Example, belief: Example, part: str) -> Example:
    return message._replace(
        belief=belief.belief, said=belief.said, label="compatible", kind="else", part=part, special=""
    )


def no_orders(changes: list[Example], most: int, random: Random) -> list[Example]:
    """Messages that tell a change in the world, and order nothing."""
    return [
        one._replace(task="order", label="none", category="")
        for one in random.sample(changes, min(most, len(changes)))
        if one.folder != "gatemem"
    ]


def idle(sentences: list[Example], changes: list[Example], beliefs_of_each: int, random: Random) -> list[Example]:
    """Sentences of any kind, and talk that nobody wrote for this product, beside beliefs of anybody."""
    return [
        _compatible(one, belief, "apart")._replace(task="change", category="")
        for one in sentences
        for belief in random.sample(changes, beliefs_of_each)
    ]


def controls_of(changes: list[Example]) -> list[Example]:
    """Pairs in which nothing changes: messages beside another belief, and pairs of two subjects."""
    return [*beside_another(changes, 1.0, Random(0)), *strangers(changes, STRANGERS, Random(0))]


def seen_so(one: Example, random: Random) -> Example:
    """The example as it is shown this time: a typist leaves signs out, a belief has its own words."""
    if one.said and random.random() < IN_ITS_WORDS:
        one = one._replace(belief=one.said)
    text = one.text
    if random.random() < 0.12:
        text = text.replace("'", "").replace("\u2019", "")
    if random.random() < 0.15:
        text = text.rstrip(".!")
    return one._replace(text=text or one.text)


def tokens_of(tokenizer: "Tokenizer", one: Example) -> Tokens:
    """The tokens of an example."""
    if one.task == "change":
        return pair_tokens(tokenizer, one.belief, one.said, one.before, one.text)
    return line_tokens(tokenizer, one.before, one.text)

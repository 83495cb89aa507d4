"""Measured thresholds of an embedding model: the cosine from which two statements count as near,
and the one at which a hit is as good as chance.

The former is the smallest that takes at most one in 10,000 random pairs of statements about one
subject for the same, with a precision of nine in ten on the labelled pairs below. The guards
(numbers, order, polarity...) stand before the threshold here as everywhere.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from django.db import transaction

from memories.index import configured_embedder
from memories.language.english.statements import read, relation
from memories.models import EmbeddingModel, Layer, Memory, Vector, WorkspaceIndex
from memories.providers import Embedder
from workspaces.models import AuditEntry

# Pairs that calibrate a threshold: all about one person, written for this. Data only.

# Two ways of saying one thing
SAME = (
    ("Robin keeps bees on the roof", "Robin is a rooftop beekeeper"),
    ("Robin plays the oboe in a wind quintet", "Robin is the oboist of a wind quintet"),
    ("Robin bakes sourdough every Sunday", "Every Sunday Robin bakes sourdough bread"),
    ("Robin is allergic to shellfish", "Robin has a shellfish allergy"),
    ("Robin drives a green camper van", "Robin's camper van is green"),
    ("Robin works night shifts at the hospital", "Robin works at the hospital on the night shift"),
    ("Robin grew up on a sheep farm", "Robin was raised on a sheep farm"),
    ("Robin prefers window seats", "Robin likes window seats better"),
    ("Robin has two sons and a daughter", "Robin has three children, two boys and one girl"),
    ("Robin is writing a cookbook", "Robin is working on a cookbook"),
    ("Robin speaks fluent Danish", "Robin is fluent in Danish"),
    ("Robin is afraid of thunderstorms", "Robin is scared of thunderstorms"),
    ("Robin's favourite season is autumn", "Autumn is Robin's favorite season"),
    ("Robin collects old maps", "Robin has a collection of old maps"),
    ("Robin runs a pottery studio", "Robin is the owner of a pottery studio"),
    ("Robin wakes up at half past five", "Robin gets up at 5:30 am"),
    ("Robin doesn't eat pork", "Robin does not eat pork"),
    ("Robin commutes by ferry", "Robin takes the ferry to work"),
    ("Robin is learning sign language", "Robin studies sign language"),
    ("Robin sings in the church choir", "Robin is a singer in the church choir"),
    ("Robin lives near the harbour", "Robin's home is near the harbour"),
    ("Robin has a pet tortoise called Otto", "Robin's tortoise is named Otto"),
    ("Robin volunteers at the fire brigade", "Robin is a volunteer at the fire brigade"),
    (
        "Robin studied marine biology in Plymouth",
        "Robin has a degree in marine biology from Plymouth",
    ),
    ("Robin needs reading glasses", "Robin has to wear reading glasses"),
    ("Robin hates horror films", "Robin can't stand horror movies"),
    ("Robin owns a small vineyard", "Robin has a little vineyard"),
    ("Robin is vegan", "Robin follows a vegan diet"),
    ("Robin meets friends for chess on Thursdays", "On Thursdays Robin plays chess with friends"),
    ("Robin's appointment is on 4 May", "Robin has an appointment on May 4th"),
    ("Robin donated 200 euros to the library", "Robin gave the library 200 euros"),
    ("Robin repairs antique clocks", "Robin fixes antique clocks"),
    ("Robin has lived abroad for ten years", "For ten years Robin has been living abroad"),
    ("Robin is married to a pilot", "Robin's spouse is a pilot"),
    ("Robin wants short answers", "Robin would like the answers to be short"),
    ("Robin swims in the lake in winter", "In winter Robin swims in the lake"),
    ("Robin has never been to Asia", "Robin never visited Asia"),
    ("Robin rents a garden plot", "Robin is renting a garden plot"),
    ("Robin builds model ships", "Robin makes model ships"),
    (
        "Robin takes the dog to the beach each morning",
        "Each morning Robin goes to the beach with the dog",
    ),
)
# Two different things, however near their words are
DIFFERENT = (
    ("Robin keeps bees on the roof", "Robin keeps goats behind the house"),
    ("Robin plays the oboe", "Robin plays the accordion"),
    ("Robin bakes sourdough every Sunday", "Robin bakes pretzels every Friday"),
    ("Robin is allergic to shellfish", "Robin is allergic to penicillin"),
    ("Robin booked the outbound ferry", "Robin booked the return ferry"),
    ("Robin works night shifts at the hospital", "Robin works on the hospital's garden"),
    ("Robin grew up on a sheep farm", "Robin visited a sheep farm"),
    ("Robin likes window seats", "Robin does not like window seats"),
    ("Robin has two sons", "Robin has two canoes"),
    ("Robin is writing a cookbook", "Robin is reading a cookbook"),
    ("Robin speaks fluent Danish", "Robin speaks a little Polish"),
    ("Robin is afraid of thunderstorms", "Robin is afraid of dentists"),
    ("Robin's favourite season is autumn", "Robin's favourite dish is ramen"),
    ("Robin collects old maps", "Robin collects old coins"),
    ("Robin runs a pottery studio", "Robin attends a pottery course"),
    ("Robin ran 5 km in March", "Robin ran 10 km in June"),
    ("Robin doesn't eat pork", "Robin doesn't eat mushrooms"),
    ("Robin commutes by ferry", "Robin's sister commutes by tram"),
    ("Robin finished the first chapter", "Robin finished the second chapter"),
    ("Robin sings in the church choir", "Robin paints the church door"),
    ("Robin lent Kim a tent", "Kim lent Robin a tent"),
    ("Robin has a tortoise called Otto", "Robin has a nephew called Emil"),
    ("Robin volunteers at the fire brigade", "Robin volunteers at the food bank"),
    ("Robin studied marine biology", "Robin studied music theory"),
    ("Robin needs reading glasses", "Robin needs hiking boots"),
    ("Robin hates horror films", "Robin loves silent films"),
    ("Robin owns a small vineyard", "Robin owns a small gallery"),
    (
        "Robin uploaded the photos from before the repair",
        "Robin uploaded the photos from after the repair",
    ),
    ("Robin meets friends for chess on Thursdays", "Robin meets friends for lunch on Mondays"),
    ("Robin's appointment is on 4 May", "Robin's anniversary is on 4 May"),
    ("Robin explores the history of the harbour", "Robin explores the wildlife of the harbour"),
    ("Robin repairs antique clocks", "Robin sells antique lamps"),
    ("Robin asked about the opening hours", "Robin asked about the closing date"),
    ("Robin is married to a pilot", "Robin is friends with a pilot"),
    ("Robin wants short answers", "Robin wants answers with sources"),
    ("Robin swims in the lake in winter", "Robin skates on the lake in winter"),
    ("Robin took the train from Lyon to Turin", "Robin took the train from Turin to Lyon"),
    ("Robin rents a garden plot", "Robin rents a storage box"),
    ("Robin builds model ships", "Robin builds dry stone walls"),
    ("Robin plans to visit Peru", "Robin visited Peru"),
)

MERGES, PRECISION = 1 / 10_000, 0.9
LOWEST, HIGHEST, STEP = 0.5, 0.99, 0.005
MOST = 200  # statements of one subject; all pairs of them are looked at
# The largest subjects of the workspaces that use the model, with their newest live statements.
STORED = """
select m.id, m.content, m.subject_id, e.id as entry from (
  select subject, count(*) as size from memories_entry
  where layer = %(layer)s and live and subject is not null group by subject
  having count(*) > 1 order by 2 desc limit %(subjects)s) s
cross join lateral (
  select id, item, subject from memories_entry
  where subject = s.subject and layer = %(layer)s and live order by id desc limit %(most)s) e
join memories_memory m on m.id = e.item
"""


@dataclass(frozen=True, slots=True)
class Near:
    """The cosine of a pair that no guard keeps apart; `is_same` is its label."""

    cosine: float
    is_same: bool


@dataclass(frozen=True, slots=True)
class Calibration:
    """The measurements of a model. `threshold` None: none is good enough, the old one stays."""

    model: str
    before: float
    threshold: float | None
    random_pairs: int
    merges: int
    precision: float
    recall: float


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question, and which of the texts (by their places) answer it."""

    text: str
    answers: frozenset[int]


@dataclass(frozen=True, slots=True)
class FloorCalibration:
    """The cosine at which a text is as likely as not to answer a question, where both are equally
    frequent. `floor` None: answers are no nearer than the rest, the old one stays."""

    model: str
    floor_before: float
    floor: float | None
    questions: int


Advance = Callable[[int], object]


def steps() -> int:
    """Return the number of units in which `calibrate` reports its progress."""
    return len(SAME) + len(DIFFERENT) + len(_texts())


def calibrate(model: EmbeddingModel, embedder: Embedder, advance: Advance) -> Calibration:
    """Measure one model without writing anything. Raises ProviderError."""
    pairs = [(pair, True) for pair in SAME] + [(pair, False) for pair in DIFFERENT]
    both = embedder.embed([text for pair, _ in pairs for text in pair])
    labelled = []
    for number, (pair, is_same) in enumerate(pairs):
        labelled.append(Near(_near(pair, both[2 * number : 2 * number + 2]), is_same))
        advance(1)
    # Of `_texts`: the first of each pair that is the same, the second of the others.
    vectors = [both[2 * place + (place >= len(SAME))] for place in range(len(pairs))]
    values = {"layer": int(Layer.MEMORIES), "most": MOST, "subjects": 10}
    found: Iterable[Any] = Memory.objects.raw(STORED, values)
    rows = {row.entry: row for row in found}
    known = Vector.objects.filter(entry_id__in=rows, embedding_model_id=model.pk, part=0)
    stored: dict[object, list[Statement]] = {}
    for entry, embedding in known.values_list("entry_id", "embedding"):
        vector = np.asarray(embedding, dtype=np.float32)
        statement = rows[entry].content, vector / np.linalg.norm(vector)
        stored.setdefault(rows[entry].subject_id, []).append(statement)
    groups = [list(zip(_texts(), vectors, strict=True)), *stored.values()]
    random_pairs, near = 0, []
    for group in groups:
        random_pairs += len(group) * (len(group) - 1) // 2
        near += _random(group, advance if group is groups[0] else lambda _: None)
    before = model.duplicate_threshold
    grid = map(float, np.arange(LOWEST, HIGHEST + STEP / 2, STEP))
    few_merges = (at for at in grid if sum(c >= at for c in near) <= MERGES * random_pairs)
    good = (round(at, 3) for at in few_merges if _shares(labelled, at)[0] >= PRECISION)
    threshold = next(good, None)
    at = before if threshold is None else threshold
    precision, recall = _shares(labelled, at)
    merges = sum(cosine >= at for cosine in near)
    return Calibration(str(model), before, threshold, random_pairs, merges, precision, recall)


def store(found: Calibration | FloorCalibration, model: EmbeddingModel, actor: str) -> bool:
    """Store a threshold, with an entry in the audit log of each workspace that uses the model."""
    if isinstance(found, FloorCalibration):
        column, before, value = "search_floor", found.floor_before, found.floor
    else:
        column, before, value = "duplicate_threshold", found.before, found.threshold
    if value is None or value == before:
        return False
    store_of(model, actor, column, before, value)
    return True


def store_of(model: EmbeddingModel, actor: str, column: str, before: object, value: object) -> None:
    """Store a measured value of a model, with an audit entry in each workspace that uses it."""
    with transaction.atomic():
        EmbeddingModel.objects.filter(pk=model.pk).update(**{column: value})
        rows = WorkspaceIndex.objects.filter(embedding_model=model).select_related("workspace")
        AuditEntry.objects.bulk_create(
            AuditEntry.line(
                row.workspace_id,
                actor,
                "calibrate",
                row.workspace,
                before={"model": str(model), column: before},
                after={"model": str(model), column: value},
            )
            for row in rows
        )


def calibrate_floor(
    model: EmbeddingModel,
    embedder: Embedder,
    talks: Iterable[tuple[Sequence[str], Sequence[LabelledQuestion]]],
) -> FloorCalibration:
    """Measure one model on talks, each its texts and the questions that some of them answer.
    Nothing is written. Raises ProviderError."""
    answers: list[np.ndarray] = []
    others: list[np.ndarray] = []
    number = 0
    for texts, questions in talks:
        kept = [(place, vector) for place, vector in enumerate(embedder.embed(texts)) if vector is not None]
        matrix = np.array([vector for _, vector in kept])
        asked = embedder.embed([question.text for question in questions], "query")
        for question, vector in zip(questions, asked, strict=True):
            is_answer = np.array([place in question.answers for place, _ in kept], bool)
            if vector is None or not is_answer.any():
                continue
            number += 1
            cosines = matrix @ vector
            answers.append(cosines[is_answer])
            others.append(cosines[~is_answer])
    floor = None
    if number:
        near, far = np.concatenate(answers), np.concatenate(others)
        # It leaves as large a share of the near below it as of the far above it.
        if far.size and np.median(near) > np.median(far):
            grid = np.arange(-1.0, 1.0, STEP)
            wrong = [abs((near < at).mean() - (far >= at).mean()) for at in grid]
            floor = round(float(grid[int(np.argmin(wrong))]), 3)
    return FloorCalibration(str(model), model.search_floor, floor, number)


def models_in_use() -> list[EmbeddingModel]:
    """The models that workspaces use; on an empty server the configured one."""
    used = list(EmbeddingModel.objects.filter(workspaceindex__isnull=False).distinct())
    configured = configured_embedder.configured_model() if not used else None
    return used or ([configured] if configured else [])


def _texts() -> list[str]:
    """The shipped statements, one of each pair: any two of them say different things."""
    return [old for old, _ in SAME] + [new for _, new in DIFFERENT]


def _near(pair: tuple[str, str], vectors: Sequence[np.ndarray | None]) -> float:
    """The cosine of a pair; below every threshold where a guard keeps the two apart."""
    old, new = vectors
    cosine = -1.0 if old is None or new is None else float(old @ new)
    if cosine < LOWEST:
        return -1.0
    readings = [read(text) for text in pair]
    found = relation(*readings, cosine=cosine, threshold=cosine)
    return cosine if found.kind in ("same", "unsure") else -1.0


Statement = tuple[str, np.ndarray | None]


def _random(group: Sequence[Statement], advance: Advance) -> list[float]:
    """Cosines of the pairs of a group that no guard keeps apart; equal texts form no pair."""
    kept = [(text, vector) for text, vector in group if vector is not None]
    matrix = np.array([vector for _, vector in kept], dtype=np.float32)
    advance(len(group))
    if len(kept) < 2:
        return []
    similar = matrix @ matrix.T
    close = [(i, j) for i, j in combinations(range(len(kept)), 2) if similar[i, j] >= LOWEST]
    return [_near((kept[i][0], kept[j][0]), (kept[i][1], kept[j][1])) for i, j in close if kept[i][0] != kept[j][0]]


def _shares(labelled: Sequence[Near], threshold: float) -> tuple[float, float]:
    """(precision, recall) when pairs at or over the threshold are taken for the same."""
    taken = [pair.is_same for pair in labelled if pair.cosine >= threshold]
    right, wanted = sum(taken), sum(pair.is_same for pair in labelled)
    return round(right / len(taken), 3) if taken else 0.0, round(right / wanted, 3)

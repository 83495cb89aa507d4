"""Outcomes of past messages under any thresholds, by the probabilities of the judge. Pure: values in, values out."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from memories.belief.touches.judged import HEARD
from memories.judge.judge import Thresholds

# What is done to a belief or with a sentence.
QUESTIONED, REPLACED, KEPT, FORGOTTEN = "questioned", "replaced", "kept", "forgotten"
KINDS = (QUESTIONED, REPLACED, KEPT, FORGOTTEN)
# What a probability is of: that a message ends what shares no word with it, or what a rule has found it to speak of;
# that a sentence is a lasting fact; that one of which a memory was read is fiction.
FAR, NEAR, FACT, FICTION = "far", "near", "fact", "fiction"


@dataclass(frozen=True, slots=True)
class JudgeScore:
    """A probability `of` FAR, NEAR, FACT or FICTION for the words of a message from `start` to `end`.

    They stand beside a `memory`, or words of an `earlier` message; in FAR beside `among` of them. `fiction` is the
    probability that they are not meant. `heard`: a rule has heard a change. `acts`: they are plain, and nobody protects
    the memory, so that they may replace it.
    """

    of: str
    episode: str
    start: int
    end: int
    probability: float
    memory: str = ""
    earlier: str = ""
    earlier_start: int = 0
    earlier_end: int = 0
    among: int = 0
    fiction: float = 0.0
    heard: bool = False
    acts: bool = False

    @property
    def row(self) -> dict[str, Any]:
        """The score as it is stored: without what is empty."""
        return {name: value for name, value in asdict(self).items() if value or name == "start"}

    @property
    def about(self) -> tuple[str, int]:
        """The belief or the words that something is done to; the same for all messages that speak of it."""
        if self.of == FACT:
            return self.episode, self.start
        return self.memory or self.earlier, self.earlier_start

    def kind_under(self, thresholds: Thresholds) -> str:
        """Return what is done for it; "" if nothing is."""
        if self.of == FACT:
            return KEPT if self.probability >= thresholds.keep else ""
        if self.of == FICTION:
            return FORGOTTEN if self.probability >= thresholds.drop else ""
        if self.of == NEAR:
            return QUESTIONED if self.probability >= thresholds.ask * (HEARD if self.heard else 1.0) else ""
        if self.probability < thresholds.far_among(self.among):
            return ""
        return REPLACED if self.acts and self.probability >= thresholds.act else QUESTIONED


@dataclass(frozen=True, slots=True)
class JudgeOutcome:
    """Something that is done, by the likeliest of the scores that lead to it."""

    kind: str
    score: JudgeScore


def outcomes(scores: Iterable[JudgeScore], thresholds: Thresholds) -> dict[tuple[str, int], JudgeOutcome]:
    """Return what is done under these thresholds, by what it is done to."""
    likeliest: dict[tuple[object, ...], JudgeScore] = {}
    for score in scores:
        if score.of in (FACT, FICTION) or score.fiction < thresholds.drop:
            # Of what shares no word with a message one belief at most, and one of the earlier words.
            place = (score.episode, bool(score.earlier)) if score.of == FAR else (score,)
            likeliest[place] = max(likeliest.get(place, score), score, key=lambda one: one.probability)
    done: dict[tuple[str, int], JudgeOutcome] = {}
    for score in sorted(likeliest.values(), key=lambda one: one.probability):
        kind, known = score.kind_under(thresholds), done.get(score.about)
        if kind and (known is None or known.kind not in (REPLACED, FORGOTTEN)):
            done[score.about] = JudgeOutcome(kind, score)
    return done

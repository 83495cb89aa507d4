"""The judge: what a message does to a belief, what a sentence is worth, which messages are orders.

It is asked beside the rules: where the model is absent or fails each answer is None, and the rules go on alone. It
looks at meaning and not at who is asked, in which words and how surely: guards stand before what it says is acted on.
"""

import hashlib
import json
import logging
import math
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memories.judge.labels import CATEGORY
from memories.judge.tokens import Tokens, line_tokens, pair_tokens

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SHIPPED = Path(__file__).parent / "model"
WEIGHTS, TOKENIZER, THRESHOLDS = "judge.onnx", "tokenizer.json", "thresholds.json"
VECTOR = "vector"  # the output that the heads read: the encoder's, of a pair as a whole
NAME = "judge-"  # the beginning of each model's name, which a hash follows
AT_ONCE = 16
FEW = 0.75  # share of `far` that is enough for a single belief
MANY = 20  # beliefs that a message is compared with at most; `far` is chosen for so many

log = logging.getLogger(__name__)


class JudgedPair(NamedTuple):
    """A belief, the words it was said in, and a later message with the one before it. What is not known is empty."""

    belief: str
    said: str
    before: str
    message: str


class Line(NamedTuple):
    """A sentence or a message, and the one before it."""

    before: str
    text: str


class Effect(NamedTuple):
    """An answer about a pair: probabilities, which add up to one."""

    replaces: float
    ends: float
    restates: float
    exception: float
    compatible: float

    @property
    def over(self) -> float:
        """The probability that the belief holds no longer, whether or not its successor is told."""
        return self.replaces + self.ends

    @property
    def change(self) -> str:
        """The likelier of the two."""
        return "replaces" if self.replaces >= self.ends else "ends"


class Worth(NamedTuple):
    """An answer about a sentence: probabilities; and the category of a fact, were it one."""

    fact: float
    moment: float
    chatter: float
    question: float
    others: float
    fiction: float
    order: float
    category: str


class Order(NamedTuple):
    """An answer about a message: probabilities."""

    none: float
    forget: float
    correct: float
    retract: float
    remember: float
    never: float


class Thresholds(NamedTuple):
    """Probabilities of a change from which it is acted on, and from which it is marked and asked about; `far`:
    marked where belief and message share no word. `keep`: that of a fact from which a sentence is kept; `drop`: that
    of fiction from which what a rule read in it is forgotten."""

    act: float
    ask: float
    far: float
    keep: float
    drop: float

    def far_among(self, beliefs: int) -> float:
        """Return the threshold for a belief that shares no word with the message, if the message is compared with so
        many: the more there are, the likelier it is that one is marked by accident."""
        least = max(self.ask, FEW * self.far)
        return least + (self.far - least) * min(1.0, math.log(max(beliefs, 1)) / math.log(MANY))


Rows = npt.NDArray[np.float32]


class SeenPairs(NamedTuple):
    """Answers of a model about pairs, a row for each: the probabilities of `Effect`, and the `vectors` that it reads
    them from; None where it gives none, as older models do."""

    changes: Rows
    vectors: Rows | None


class LoadedJudge(NamedTuple):
    name: str
    thresholds: Thresholds
    tokenizer: "Tokenizer"
    session: Any
    outputs: tuple[str, ...]


class TrainedJudge:
    """A model in a folder, loaded when it is first asked. Safe to share by threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        # By process: a session of the one it was forked from has lost its threads.
        self._loaded: dict[int, LoadedJudge | None] = {}

    @property
    def is_there(self) -> bool:
        """Tell whether there is a model, without loading it."""
        return (self._folder / WEIGHTS).is_file()

    @property
    def name(self) -> str | None:
        """The name that stands on a decision: a hash of weights, tokenizer and thresholds."""
        model = self._model()
        return model and model.name

    @property
    def thresholds(self) -> Thresholds | None:
        """Thresholds that were chosen for this model."""
        model = self._model()
        return model and model.thresholds

    def changes(self, pairs: Sequence[JudgedPair]) -> list[Effect] | None:
        """Tell what each message does to the belief beside it."""
        seen = self.see(pairs)
        return None if seen is None else effects_of(seen.changes)

    def see(self, pairs: Sequence[JudgedPair]) -> SeenPairs | None:
        """Tell the same, and what it is read from."""
        model = self._model()
        outputs = ["change", VECTOR] if model and VECTOR in model.outputs else ["change"]
        rows = self._answers(outputs, lambda tokenizer: [pair_tokens(tokenizer, *pair) for pair in pairs])
        return None if rows is None else SeenPairs(rows[0], rows[1] if len(rows) > 1 else None)

    def worth(self, lines: Sequence[Line]) -> list[Worth] | None:
        """Tell what each sentence is worth."""
        rows = self._answers(["worth", "category"], lambda tokenizer: [line_tokens(tokenizer, *line) for line in lines])
        if rows is None:
            return None
        worth, categories = rows
        return [
            Worth._make([*row.tolist(), CATEGORY[int(category)]])
            for row, category in zip(worth, categories.argmax(1), strict=True)
        ]

    def orders(self, lines: Sequence[Line]) -> list[Order] | None:
        """Tell what each message asks of the memory."""
        rows = self._answers(["order"], lambda tokenizer: [line_tokens(tokenizer, *line) for line in lines])
        return None if rows is None else [Order(*map(float, row)) for row in rows[0]]

    def _answers(self, outputs: Sequence[str], tokens_by: "Callable[[Tokenizer], list[Tokens]]") -> list[Rows] | None:
        """A table for each output, a row for each text. None where there is no model, or it fails."""
        model = self._model()
        if model is None:
            return None
        try:
            return run(model.session, outputs, tokens_by(model.tokenizer))
        except Exception:  # the library's own, of no common class
            log.exception("the judge failed")
            return None

    def _model(self) -> LoadedJudge | None:
        with self._lock:
            process = os.getpid()
            if process not in self._loaded:
                self._loaded[process] = _load(self._folder)
            return self._loaded[process]


def _load(folder: Path) -> LoadedJudge | None:
    if not (folder / WEIGHTS).is_file():
        return None
    try:
        import onnxruntime

        digest = hashlib.sha256()
        for name in (WEIGHTS, TOKENIZER, THRESHOLDS):
            digest.update((folder / name).read_bytes())
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = options.enable_mem_pattern = False
        options.log_severity_level = 4  # what fails is raised as well
        session = onnxruntime.InferenceSession(str(folder / WEIGHTS), options, providers=["CPUExecutionProvider"])
        return LoadedJudge(
            f"{NAME}{digest.hexdigest()[:12]}",
            thresholds_in(folder),
            tokenizer_of(folder / TOKENIZER),
            session,
            tuple(output.name for output in session.get_outputs()),
        )
    except Exception:  # both libraries' own, of no common class
        log.exception("the judge cannot be loaded")
        return None


def effects_of(changes: Rows) -> list[Effect]:
    """Return the answers of a table of probabilities."""
    return [Effect(*map(float, row)) for row in changes]


def thresholds_in(folder: Path) -> Thresholds:
    """Thresholds that were chosen for the model in a folder; the model is not loaded."""
    return Thresholds(**json.loads((folder / THRESHOLDS).read_text()))


def tokenizer_of(path: Path) -> "Tokenizer":
    """A tokenizer that neither pads nor cuts."""
    from tokenizers import Tokenizer

    tokenizer: Tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def run(session: Any, outputs: Sequence[str], tokens: Sequence[Tokens]) -> list[Rows]:
    """A table for each output, a row for each text.

    Those of like length go together: each is computed as long as the longest beside it.
    """
    sizes = {output.name: output.shape[1] for output in session.get_outputs()}
    found = [np.zeros((len(tokens), sizes[name]), np.float32) for name in outputs]
    order = sorted(range(len(tokens)), key=lambda at: len(tokens[at].ids))
    for start in range(0, len(order), AT_ONCE):
        chosen = order[start : start + AT_ONCE]
        ids, sides, known = np.zeros((3, len(chosen), len(tokens[chosen[-1]].ids)), np.int64)
        for row, at in enumerate(chosen):
            length = len(tokens[at].ids)
            ids[row, :length], sides[row, :length], known[row, :length] = tokens[at].ids, tokens[at].sides, 1
        for rows, answer in zip(found, session.run(outputs, {"ids": ids, "sides": sides, "known": known}), strict=True):
            rows[chosen] = answer
    return found


shipped = TrainedJudge(SHIPPED)

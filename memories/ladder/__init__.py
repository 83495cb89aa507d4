"""The ladder: models that read facts, asked in order until one answers.

A workspace names its own in `settings["extractors"]`; else it is the one of the server's
settings. Each step is told, also those that failed.
"""

from memories.ladder.answers import LadderAnswer, ReadFact, Step
from memories.ladder.climbing import Ladder, ladder_from, ladder_of
from memories.ladder.rungs import PROVIDERS, Rung, faults_of, rungs_of

WHEN = UNMATCHED, ALWAYS = ("unmatched", "always")  # the setting `llm`: which messages it reads

__all__ = [
    "ALWAYS",
    "PROVIDERS",
    "UNMATCHED",
    "WHEN",
    "Ladder",
    "LadderAnswer",
    "ReadFact",
    "Rung",
    "Step",
    "faults_of",
    "ladder_from",
    "ladder_of",
    "rungs_of",
]

"""Words that say the same for our purpose, and words that say little. Data only.

`synonyms.txt` has one class per line, named by its first word. Words are compared by their stems,
so that one form of a regular word stands for all; irregular forms are listed.
"""

from pathlib import Path

_classes = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
CLASSES = tuple(tuple(line.split()) for line in _classes.splitlines())

# They carry little of the meaning: a paraphrase may lack them.
LIGHT = frozenset(
    """
    have get make do go take be use person people thing time kind type sort way lot work
    activity language time place lesson called product most biggest spot tool system service app application software project one
    something someone really very quite also too even time account name call keep different various
    certain own general overall city town whole entire number amount total level
    play hold give wear issue session provider platform want try plan hope prefer team university inc ltd corporation company restaurant cafe group
    """.split()
)

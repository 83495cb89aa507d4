"""A document's summary in its own words: the sentences nearest to all that it says."""

import numpy as np

from memories.errors import ProviderError
from memories.index import due_vectors
from memories.index.configured_embedder import embedder_of
from memories.language.english import clauses
from memories.models import WorkspaceIndex

SENTENCES, READ = 3, 20_000  # chosen; characters that are looked at
SHORTEST_SENTENCE, LONGEST_SENTENCE = 25, 400  # characters of a sentence
CONSIDERED = 120


def summary_of(space: WorkspaceIndex, text: str) -> str:
    """Three sentences of the text in their order; by a remote embedder the first three, for which
    nobody is asked."""
    places = clauses.sentences(text[:READ])
    said = (" ".join(text[start:end].split()) for start, end in places)
    told = [one for one in said if SHORTEST_SENTENCE <= len(one) <= LONGEST_SENTENCE and not one.startswith("#")]
    told = told[:CONSIDERED]
    if len(told) <= SENTENCES or embedder_of(space).is_remote:
        return " ".join(told[:SENTENCES])
    try:
        [vectors] = due_vectors.embed(space, [told])
    except ProviderError:
        return " ".join(told[:SENTENCES])
    known = [(n, vector) for n, vector in enumerate(vectors) if vector is not None]
    if not known:
        return " ".join(told[:SENTENCES])
    middle = np.mean([vector for _, vector in known], axis=0)
    near = sorted(known, key=lambda each: -float(each[1] @ middle))[:SENTENCES]
    return " ".join(told[n] for n in sorted(n for n, _ in near))

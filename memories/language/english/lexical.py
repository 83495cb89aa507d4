"""Words of a text as the keyword index needs them: stems, integer keys, BM25 weights, fingerprint.

Pure and fast: this runs for every message that is kept. The statements that use the keys live
with the search; what a score means lives in ranking.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from hashlib import blake2b
from typing import Literal
from zlib import crc32

import numpy as np
import numpy.typing as npt
import Stemmer

from memories.language.bounds import BESIDE, parts
from memories.language.english.other_languages import WrittenIn, language_of, stem_by_script, stem_in

K1, B = 1.2, 0.75
# Stems of an ordinary text: one number for every workspace. Its own mean, measured, ranked worse:
# recall@10 .829 for .833 over talk between people and .639 for .664 with an assistant. It would
# also leave the weights of before with another mean than those that come.
ORDINARY_LENGTH = 16.0
PASSAGE_LENGTH = 65.0  # of a document's passage: about a third of its tokens
SPARSE_DIMENSIONS = 1_000_000_000
SPARSE_ENTRIES = 16_000  # pgvector refuses more elements in one sparsevec
LAYERS = 8  # a workspace's number and a layer share the upper half of a key
LOOKED_UP = 8  # trigrams of a query
SHORT = 60  # stems; a longer message carries its own context
# What "it" or an answer is about was said in the two messages before.
PREVIOUS_WEIGHT, EARLIER_WEIGHT, FOLLOWING_WEIGHT = 0.5, 0.25, 0.25

# Postgres' english.stop, and what an apostrophe leaves of the contractions
_stop_text = """
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself
    she her hers herself it its itself they them their theirs themselves what which who whom this
    that these those am is are was were be been being have has had having do does did doing a an
    the and but if or because as until while of at by for with about against between into through
    during before after above below to from up down in out on off over under again further then
    once here there when where why how all any both each few more most other some such no nor not
    only own same so than too very s t can will just don should now
    ll re ve isn aren wasn weren hasn haven hadn doesn didn wouldn couldn shouldn mustn
    im ive dont didnt doesnt isnt thats
"""
STOP_WORDS = frozenset(_stop_text.split())

_stemmer = Stemmer.Stemmer("english")
_ends = " .,;:!?\u2026\u3002\uff01\uff1f"  # not "C#" nor "5 %"
_ascii_words = re.compile(r"[a-z0-9]+")
# Thai, Lao, Burmese, Khmer, kana and Han are written without spaces
_unspaced = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")


_MARKS = frozenset(chr(code) for code in range(0x300, 0x20000) if unicodedata.category(chr(code)) in ("Mn", "Mc"))
_mark = f"[{''.join(sorted(_MARKS))}]"
_accents = re.compile("[\u0300-\u036f]+")
# \w knows no combining marks: without them Hindi or Thai words fall to pieces. Most texts have
# none, and to look for two thousand at each letter takes a thousand times as long as to find out.
_words = re.compile(rf"(?:[^\W_]|{_mark})+")
_unmarked_words = re.compile(r"[^\W_]+")

# Sorting the marks of one letter takes time that grows with their square; no letter has thirty
# (Unicode's own bound for streams).
_stacked = re.compile(rf"({_mark}{{30}}){_mark}+")
AT_ONCE = 50_000  # characters

# Postgres' builtin C.UTF-8 lowers one character at a time and always to one character. Python
# differs in the dotted capital I, in the sigma at the end of a word, and in letters younger
# than its Unicode tables. Found by comparing all code points with PostgreSQL 18.4.
_as_postgres = (
    {0x130: "i", 0x3A3: "\u03c3", 0x1C89: "\u1c8a", 0xA7CB: "\u0264", 0xA7CC: "\ua7cd"}
    | {0xA7DA: "\ua7db", 0xA7DC: "\u019b"}
    | {code: chr(code + 0x20) for code in range(0x10D50, 0x10D66)}
)


def stems(text: str) -> list[str]:
    """Return a text's index terms in order, with repeats; lower case, function words left out.

    Words are stemmed by the Snowball of the text's language, and by that of English too if the
    language is not certain, as in a short question. Scripts written without spaces are cut into
    overlapping pairs of characters.
    """
    if text.isascii():
        words = _ascii_words.findall(text.lower())
    else:
        low = normal("NFKC", text).translate(_as_postgres).lower()
        words = (_unmarked_words if _MARKS.isdisjoint(low) else _words).findall(low)
    language = language_of(words, STOP_WORDS)
    if language is None and text.isascii():
        return list(_stemmer.stemWords([word for word in words if _says(word)]))
    return [term for word in words for term in _terms(word, language)]


@lru_cache(maxsize=4_096)
def stem_set(text: str) -> frozenset[str]:
    """Return the stems of a statement or a sentence; cached, as these are read again and again."""
    return frozenset(stems(text))


def document(text: str) -> dict[str, float]:
    """Count each stem in a text of any length, without holding all its words in memory at once."""
    found: Counter[str] = Counter()
    for part in parts(text, AT_ONCE):
        found.update(stems(part))
    return dict(found)


def normal(form: Literal["NFC", "NFD", "NFKC"], text: str) -> str:
    """Return `text` in a Unicode normal form; of the marks on one letter only the first thirty are
    kept."""
    is_plain = text.isascii() or _MARKS.isdisjoint(text)
    return unicodedata.normalize(form, text if is_plain else _stacked.sub(r"\1", text))


def unaccented(text: str) -> str:
    """Return the word without accents: many people leave them out in queries."""
    return text if text.isascii() else _accents.sub("", normal("NFD", text))


def _says(word: str) -> bool:
    return word not in STOP_WORDS and (len(word) > 1 or word.isdigit())


def _terms(word: str, language: WrittenIn | None) -> Iterable[str]:
    if _unspaced.search(word):
        runs = _unspaced.findall(word)
        pairs = [run[i : i + 2] for run in runs for i in range(max(1, len(run) - 1))]
        return _unspaced.sub(" ", word).split() + pairs
    if word.isascii():
        if not _says(word):
            return ()
    elif (own := stem_by_script(word)) is not None:
        return (own,) if own else ()
    if language and word in language.function_words:
        return ()
    english = _stemmer.stemWord(unaccented(word))
    if language is None:
        return (english,) if word.isascii() else dict.fromkeys((word, english))
    own = unaccented(stem_in(language.name, word))
    return (own,) if language.is_certain else dict.fromkeys((own, english))


def term_keys(number: int, layer: int, stems: Iterable[str]) -> list[int]:
    """Return distinct signed 64-bit keys `((number * 8 + layer) << 32) | crc32(stem)`, sorted.

    `number` is the workspace's small integer (below 2**28), `layer` 0 to 7: keys of one workspace
    and layer are neighbours in the index and never meet those of another.
    """
    prefix = _prefix(number, layer)
    return sorted({prefix | crc32(stem.encode()) for stem in stems})


def trigram_keys(number: int, layer: int, text: str) -> list[int]:
    """Return keys for every three characters of the lower-cased text, like those of `term_keys`."""
    prefix, folded = (
        _prefix(number, layer),
        (text.lower() if text.isascii() else text.translate(_as_postgres).lower()),
    )
    if folded.isascii():
        # All at once: the crc32 of three bytes is made of what each of them adds to it.
        codes = np.frombuffer(folded.encode(), np.uint8)
        if len(codes) < 3:
            return []
        found = [_trigrams(codes[at : at + AT_ONCE + 2]) for at in range(0, len(codes) - 2, AT_ONCE)]
        keys = found[0] if len(found) == 1 else np.unique(np.concatenate(found))
        told: list[int] = (keys | prefix).tolist()
        return told
    # a lone surrogate cannot be stored, yet asking for one is no reason to fail
    pieces = {folded[i : i + 3].encode(errors="surrogatepass") for i in range(len(folded) - 2)}
    return sorted({prefix | crc32(piece) for piece in pieces})


def _trigrams(codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    first, second, third = _crc_parts()
    keys = first[codes[:-2]] ^ second[codes[1:-1]] ^ third[codes[2:]]
    keys.sort()
    is_new = np.concatenate(([True], keys[1:] != keys[:-1]))
    distinct: npt.NDArray[np.int64] = keys[is_new]
    return distinct


@cache
def _crc_parts() -> tuple[npt.NDArray[np.int64], ...]:
    """Return, for each of three places, by byte, what it changes in the crc32; the first adds the
    rest."""
    nothing = crc32(bytes(3))
    alone = [[crc32(bytes([0] * at + [code] + [0] * (2 - at))) for code in range(256)] for at in range(3)]
    first, *others = np.array(alone, np.int64)
    return first, *(part ^ nothing for part in others)


def ilike_keys(number: int, layer: int, query: str) -> list[int]:
    """Return some keys that every text containing the literal query has; none if it is shorter than
    3.

    They find a superset of the matches: the statement must check with ILIKE as well. Eight keys
    leave few others, and all of a long query's would take five times as long to look up.
    """
    keys = trigram_keys(number, layer, query)
    return keys[:: math.ceil(len(keys) / LOOKED_UP)] if keys else []


def ilike_pattern(query: str) -> str:
    """Return the ILIKE pattern for texts that contain the query literally; its wildcards are
    escaped."""
    escaped = query.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def _prefix(number: int, layer: int) -> int:
    if not (0 <= number < 1 << 28 and 0 <= layer < LAYERS):
        raise ValueError(f"no key for workspace number {number}, layer {layer}")
    return (number * LAYERS + layer) << 32


def counts(stems: Iterable[str]) -> dict[str, float]:
    """Count each stem: the lexical document of a text that stands alone."""
    return dict(Counter(stems))


def lent(text: str) -> Sequence[str]:
    """Return the stems of a message that its neighbours may borrow; a long one lends none, and has
    its own `document` without theirs."""
    return stems(text) if len(text) <= BESIDE else ()


def index_stems(
    own: Sequence[str], previous: Sequence[str] = (), following: Sequence[str] = (), earlier: Sequence[str] = ()
) -> dict[str, float]:
    """Return fractional counts for a message's lexical document: its stems and a share of its
    neighbours'.

    Neighbours are the messages before and after it in the conversation, `earlier` the one before
    the previous; they lend their words only if both are short (60 stems), because a long message
    carries its own context.
    """
    document: dict[str, float] = counts(own)
    if len(own) > SHORT:
        return document
    for neighbour, weight in ((previous, PREVIOUS_WEIGHT), (following, FOLLOWING_WEIGHT), (earlier, EARLIER_WEIGHT)):
        if len(neighbour) <= SHORT:
            for stem in neighbour:
                document[stem] = document.get(stem, 0.0) + weight
    return document


def bm25_weights(counts: Mapping[str, float], ordinary: float = ORDINARY_LENGTH) -> dict[int, float]:
    """Return the document's half of BM25 by term number: tf*(k1+1) / (tf +
    k1*(1-b+b*length/ordinary)).

    A term's number is crc32 % 10**9 + 1. The query's half is the idf; their inner product is the
    score.
    """
    length = sum(counts.values())
    norm = K1 * (1 - B + B * length / ordinary)
    weights: dict[int, float] = {}
    for stem, tf in counts.items():
        number = term_number(stem)
        weights[number] = weights.get(number, 0.0) + tf * (K1 + 1) / (tf + norm)
    return weights


def term_number(stem: str) -> int:
    """Return a term's place in a sparse vector, 1 to 10**9; rarely, two terms share one."""
    return crc32(stem.encode()) % SPARSE_DIMENSIONS + 1


def numbers_of(keys: Iterable[int]) -> list[int]:
    """Return the term numbers of term keys, in their order."""
    return [(key & 0xFFFFFFFF) % SPARSE_DIMENSIONS + 1 for key in keys]


def sparse_text(weights: Mapping[int, float]) -> str:
    """Return pgvector's text form of a sparsevec: the 16,000 heaviest weights, in order of their
    index."""
    kept = sorted(weights.items())
    if len(kept) > SPARSE_ENTRIES:
        kept = sorted(sorted(kept, key=lambda entry: -entry[1])[:SPARSE_ENTRIES])
    return f"{{{','.join([f'{i}:{v:.6g}' for i, v in kept])}}}/{SPARSE_DIMENSIONS}"


def fingerprint(text: str) -> bytes:
    """Return 16 bytes that are equal for texts that differ only in case, spacing and end stops."""
    folded = normal("NFKC", normal("NFKC", text).casefold())
    spaced = " ".join(folded.split())
    said = spaced.rstrip(_ends) or spaced
    return blake2b(said.encode(errors="surrogatepass"), digest_size=16).digest()

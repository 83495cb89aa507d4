"""Features as they were at an instant: the index holds what they say now, so the past is read out
of their history and compared here, with the vectors of what has not changed since."""

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from django.db.models import Q

from memories import ranking
from memories.english import lexical
from memories.index import due_vectors, entries, prepared_sql
from memories.models import (
    SCOPE_CODE,
    AsOf,
    Feature,
    Layer,
    WorkspaceIndex,
    about_nobody,
    name_joins,
)
from memories.ranking import Candidate, Columns
from memories.search.candidates import TOP, Depth, EntryMatch
from memories.search.conditions import LayerQuery
from memories.search.request import WORDS_ONLY

MOST = 2_000  # of the newest features; what is not the same today is embedded for the question

# Their rows, as a filter sees them.
FITS = f"""
select row.id from (
  select f.id, f.subject_id, f.agent_id, f.conversation_id, f.created_at, f.updated_at,
         c.after ->> 'category' as category, c.after ->> 'tag' as tag,
         c.after ->> 'feature' as feature, c.after ->> 'value' as value,
         c.after ->> 'about' as about, c.after ->> 'visibility' as visibility,
         c.after -> 'metadata' as metadata, t.content
  from unnest(%(changes)s::uuid[], %(contents)s::text[]) t (change, content)
  join memories_featurechange c on c.id = t.change join memories_feature f on f.id = c.feature_id
) row
{name_joins("row")}
where {{condition}}
"""
STILL = """
select f.id, f.content, v.embedding from memories_feature f
join memories_entry e on e.layer = %(layer)s and e.item = f.id
join memories_vector v on v.entry_id = e.id and v.embedding_model_id = %(model)s and v.part = 0
where f.id = any(%(ids)s::uuid[])
"""


@dataclass(frozen=True, slots=True)
class PastFeatures:
    """The features that a question reaches, as they were: a part of the search like any other."""

    index: WorkspaceIndex
    asked: LayerQuery
    at: AsOf

    def merged(self, *, by_words: bool, most: int) -> list[EntryMatch]:
        """The nearest and the newest that hold the whole query, as `candidates.linea` has them."""
        features = self._features()
        cosines = self._cosines(features)
        words = self.asked.query.casefold()
        holding = [f for f in features if by_words and words in f.content.casefold()][-TOP:]
        nearest = sorted(
            (f for f in features if f.pk in cosines), key=lambda f: -cosines[f.pk]
        )[:most]  # fmt: skip
        here = {feature.pk for feature in (*nearest, *holding)}
        near = {feature.pk for feature in nearest}
        return [
            EntryMatch(entry, f.pk, cosines[f.pk] if f.pk in near else None, f in holding)
            for entry, f in _numbered(features)
            if f.pk in here
        ]

    def pool(self, stems: list[str], depth: Depth) -> Columns:
        features = self._features()
        cosines = self._cosines(features)
        texts = [f.content for f in features]
        documents = [lexical.bm25_weights(lexical.counts(lexical.stems(text))) for text in texts]
        wanted = {lexical.term_number(stem) for stem in stems}
        holding = Counter(number for document in documents for number in wanted & document.keys())
        idf = {n: log(1 + (len(texts) - df + 0.5) / (df + 0.5)) for n, df in holding.items()}
        scores = [sum(idf[n] * own[n] for n in idf.keys() & own.keys()) for own in documents]
        rows = [
            Candidate(
                entry, int(Layer.FEATURES), cosines.get(f.pk), score, position=0,
                at=f.created_at.timestamp(), assistant=None, author="",
                length=len(lexical.stems(f.content)), marks=ranking.marks(f.content),
                item=f.pk.bytes,
            )
            for (entry, f), score in zip(_numbered(features), scores, strict=True)
        ]  # fmt: skip
        return Columns.of(rows)

    def _features(self) -> list[Feature]:
        """The oldest first."""
        # The features, of any time, that the asker may see and asks about.
        rows = Feature.objects.visible_to(self.asked.scope)
        if self.asked.subject is not None:
            rows = rows.filter(Q(subject_id=self.asked.subject) | about_nobody(self.asked.scope))
        place = Q(conversation__in=self.asked.places)
        if SCOPE_CODE["user"] in self.asked.open_scopes:
            place |= Q(conversation=None)
        if SCOPE_CODE["thread"] in self.asked.open_scopes:
            place |= Q(conversation__isnull=False)
        reached = rows.filter(place)
        found = reached.as_of(self.at)
        if self.asked.wanted.condition:
            values = {
                **self.asked.wanted_values,
                "changes": [change.pk for _, change in found],
                "contents": [feature.content for feature, _ in found],
            }
            text = FITS.format(condition=self.asked.wanted.condition)
            fitting = {row.id for row in prepared_sql.rows(text, values)}
            found = [pair for pair in found if pair[0].pk in fitting]
        return sorted((f for f, _ in found), key=lambda f: (f.created_at, f.pk))[-MOST:]

    def _cosines(self, features: Sequence[Feature]) -> dict[uuid.UUID, float]:
        """Without those that have no vector; empty where the query has none."""
        query = self.asked.vector
        if query is None:
            return {}
        if self.asked.trace:
            self.asked.trace.compared(self.asked.layer, "exact")
        # The vectors that search uses, of those that say the same today.
        was = {f.pk: f.content for f in features}
        values = {
            "layer": int(Layer.FEATURES), "model": self.index.embedding_model_id, "ids": list(was),
        }  # fmt: skip
        vectors = {
            row.id: row.embedding.to_numpy().astype(np.float32)
            for row in prepared_sql.rows(STILL, values)
            if row.content == was[row.id]
        }
        changed = [f for f in features if f.pk not in vectors]
        made = due_vectors.embed_or_leave(
            self.index, [entries.texts_of(f.content)[:1] for f in changed]
        )
        if made is None:
            self.asked.notes.append(WORDS_ONLY)
        vectors |= {
            f.pk: own[0]
            for f, own in zip(changed, made or [[None]] * len(changed), strict=True)
            if own[0] is not None
        }
        return {pk: float(np.dot(query, own)) for pk, own in vectors.items()}


def _numbered(features: Sequence[Feature]) -> list[tuple[int, Feature]]:
    """With numbers that no entry has; the newest has the highest, as entries have."""
    return list(zip(range(-len(features), 0), features, strict=True))

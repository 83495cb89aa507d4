"""What earlier attempts of a session have written: none of it is written again."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field

from memories.models import Fact, MemorySession
from memories.resolve import Claim, Quote

Place = tuple[str, uuid.UUID | None, int | None]
Span = tuple[uuid.UUID, int, int]


@dataclass(frozen=True, slots=True)
class Written:
    """Statements with the place that they stand on, where they have one; of a model's the spans,
    for it may tell the same in other words; and what a person had rejected before."""

    places: frozenset[Place] = frozenset()
    read: tuple[Span, ...] = ()
    rejected: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, session: MemorySession) -> "Written":
        if not session.counts.get("facts") and not session.counts.get("quarantined"):
            return cls()
        cited = ("citations__episode_id", "citations__start", "citations__end")
        facts = Fact.objects.filter(session=session).order_by("pk")
        rows = list(facts.values_list("statement", "method", "memory_id", "quarantined_at", *cited))
        return cls(
            frozenset((said, episode, start) for said, _, _, _, episode, start, _ in rows),
            tuple(
                (episode, start, end)
                for _, method, _, _, episode, start, end in rows
                if method == Fact.Method.LLM and episode is not None
            ),
            list(dict.fromkeys(said for said, _, memory, held, *_ in rows if not (memory or held))),
        )

    def new(self, claims: Sequence[Claim]) -> list[Claim]:
        """Those that are not there."""
        if not self.places:
            return list(claims)
        return [claim for claim in claims if not self._has(claim)]

    def newly_doubted(self, doubted: Sequence[tuple[Claim, str]]) -> list[tuple[Claim, str]]:
        return [
            (claim, doubt)
            for claim, doubt in doubted
            if (claim.statement, None, None) not in self.places
        ]

    def _has(self, claim: Claim) -> bool:
        first = claim.quotes[0]
        if (claim.statement, first.episode_id, first.start) in self.places:
            return True
        is_read = claim.method == Fact.Method.LLM
        return is_read and all(self._was_read(quote) for quote in claim.quotes)

    def _was_read(self, quote: Quote) -> bool:
        return any(
            quote.episode_id == episode and quote.start < end and start < quote.end
            for episode, start, end in self.read
        )

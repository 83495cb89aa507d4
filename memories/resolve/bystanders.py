"""Who says it: what somebody said of himself is not replaced by what another says of him, and what
a person said by no document."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from memories.english.statements import Reading, is_said_by
from memories.english.talk import UNKNOWN
from memories.index import statements
from memories.models import Episode
from memories.resolve.claims import Claim
from memories.resolve.decide import KnownMemory

BYSTANDER = "bystander"
# A message without an author's name is its subject's, but for the assistant's.
SPEAKERS = """
select distinct f.memory_id as id, coalesce(nullif(e.author, ''),
  case when e.kind = %(assistant)s then 'Assistant'
       else coalesce(nullif(s.name, ''), %(nobody)s) end) as speaker
from memories_fact f
join memories_citation c on c.fact_id = f.id
join memories_episode e on e.id = c.episode_id
left join workspaces_subject s on s.id = e.subject_id
where f.memory_id = any(%(ids)s::uuid[])
"""

DOCUMENT = "document"
# Of these memories those that a person's words carry, or that a person decided for.
OF_PEOPLE = """
select m.id from unnest(%(ids)s::uuid[]) m (id)
where exists (
    select 1 from memories_fact f where f.memory_id = m.id and f.withdrawn_at is null
      and not exists (select 1 from memories_citation c
                      where c.fact_id = f.id and c.revision_id is not null))
  or not exists (select 1 from memories_fact f where f.memory_id = m.id)
  or exists (select 1 from memories_supersession s
             where s.new_id = m.id and s.state = 'applied' and s.decided_by not like 'session:%%')
"""


@dataclass(frozen=True, slots=True)
class Bystanders:
    """`about`: the readings of those claims of a batch that somebody else makes about a person.
    `speakers`: by memory, whose words it was read out of."""

    about: dict[int, Reading] = field(default_factory=dict)
    speakers: dict[uuid.UUID, set[str]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, claims: Sequence[Claim], readings: Sequence[Reading], known: Iterable[KnownMemory]
    ) -> "Bystanders":
        """One statement where somebody speaks of another who is known, none else."""
        about = {
            index: reading
            for index, (claim, reading) in enumerate(zip(claims, readings, strict=True))
            if claim.speaker and reading.person and not is_said_by(reading, claim.speaker)
        }
        persons = {part for reading in about.values() for part in reading.person.split("-")}
        texts = {memory.id: memory.content.lower() for memory in known} if persons else {}
        ids = [each for each, text in texts.items() if any(part in text for part in persons)]
        speakers: dict[uuid.UUID, set[str]] = {}
        if ids:
            values = {"ids": ids, "assistant": str(Episode.Kind.ASSISTANT), "nobody": UNKNOWN}
            for row in statements.rows(SPEAKERS, values):
                speakers.setdefault(row.id, set()).add(row.speaker)
        return cls(about, speakers)

    def contradicts_own_word(self, index: int, memory_id: uuid.UUID) -> bool:
        """Whether claim number `index` is another's word about whom the memory is of, by his
        own."""
        reading = self.about.get(index)
        return reading is not None and any(
            is_said_by(reading, speaker) for speaker in self.speakers.get(memory_id, ())
        )


def of_people(claims: Sequence[Claim], known: Iterable[KnownMemory]) -> frozenset[uuid.UUID]:
    """The known memories that no claim of a document replaces; none is asked for where no document
    speaks."""
    if not any(claim.is_of_document for claim in claims):
        return frozenset()
    values = {"ids": [memory.id for memory in known]}
    return frozenset(row.id for row in statements.rows(OF_PEOPLE, values))

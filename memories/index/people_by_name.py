"""People by the names that they are called by: the caller's ids, the names that were given for
them, and those under which they speak."""

import uuid
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.db.models import Q
from django.db.models.functions import Lower

from memories.index import prepared_sql
from memories.models import WorkspaceIndex
from workspaces.models import Agent, Membership

MOST = 20  # people of one name; there is no telling more of them apart
# The only name under which people speak in a subject's episodes is that subject's.
CALLED = """
with met as (
  select s.id from workspaces_subject s
  where s.workspace_id = %(workspace)s
    and (s.external_id = any(%(ids)s::text[])
         or lower(s.name) = any(%(names)s::text[])
         or split_part(lower(s.name), ' ', 1) = any(%(names)s::text[]))
  union
  select p.subject from memories_speaker p
  where p.workspace = %(number)s and p.subject is not null and not p.assistant and p.author <> ''
  group by p.subject
  having count(*) = 1 and (lower(min(p.author)) = any(%(names)s::text[])
                           or split_part(lower(min(p.author)), ' ', 1) = any(%(names)s::text[])))
select s.id, s.external_id, s.name,
       (select min(p.author) from memories_speaker p
        where p.workspace = %(number)s and p.subject = s.id and not p.assistant and p.author <> ''
        having count(*) = 1) as author
from met join workspaces_subject s on s.id = met.id
limit %(most)s
"""
NAMES = """
select s.name, s.external_id,
       array(select p.author from memories_speaker p
             where p.workspace = %(number)s and p.subject = s.id and not p.assistant
               and p.author <> ''
             order by p.episodes desc, p.author limit 4) as authors
from workspaces_subject s
where s.workspace_id = %(workspace)s and s.external_id = %(user)s
"""

MESSAGES = """
select coalesce(sum(p.episodes), 0)::bigint as said
from workspaces_subject s join memories_speaker p on p.workspace = %(number)s and p.subject = s.id
where s.workspace_id = %(workspace)s and s.external_id = %(user)s
"""


@dataclass(frozen=True, slots=True)
class KnownPerson:
    """A subject; `author` is the one name under which they speak, "" for none or several."""

    id: uuid.UUID
    external_id: str
    name: str
    author: str

    @property
    def spoken_of_as(self) -> str:
        """The name that statements about them have, "" where they have none."""
        return self.author or self.name

    def is_called(self, name: str) -> bool:
        """Tell whether this is the whole name, not a part that others may share."""
        low = name.casefold()
        is_id = self.external_id in _ids_of(name)
        return is_id or low in (self.name.casefold(), self.author.casefold())


def people_called(index: WorkspaceIndex, names: Iterable[str]) -> list[KnownPerson]:
    """Return the people who may be meant by these names: as a whole name or a first name."""
    asked = {name.strip() for name in names if name.strip()}
    if not asked:
        return []
    low = sorted({name.casefold() for name in asked})
    values = {
        "workspace": index.workspace_id,
        "number": index.number,
        "ids": sorted({way for name in asked for way in _ids_of(name)}),
        "names": low,
        "most": MOST,
    }
    return [
        KnownPerson(row.id, row.external_id, row.name, row.author or "") for row in prepared_sql.rows(CALLED, values)
    ]


def known_names(index: WorkspaceIndex, names: Collection[str]) -> set[str]:
    """Return those of some names, in lower case, by which a person, an agent or a member is called."""
    low = {name.casefold() for name in names}
    people = people_called(index, names)
    known = {name for one in people for name in (one.external_id, one.name, one.author)}
    known |= {name.partition(" ")[0] for name in known}
    own = Agent.objects.present().filter(workspace_id=index.workspace_id)
    agents = own.annotate(low=Lower("name"), low_id=Lower("external_id")).filter(Q(low__in=low) | Q(low_id__in=low))
    members = Membership.objects.filter(workspace_id=index.workspace_id).annotate(low=Lower("name"))
    for row in (*agents.values_list("low", "low_id"), *members.filter(low__in=low).values_list("low")):
        known |= {*row}
    return low & {name.casefold() for name in known}


def _ids_of(name: str) -> Collection[str]:
    """Return the ids by which a program may call somebody of this name."""
    low = name.casefold()
    return {name, low, *(sign.join(low.split()) for sign in ("-", "_", ".", ""))}


def names_of(index: WorkspaceIndex, user_id: str) -> list[str]:
    """Return all names of a subject; none where there is no such subject."""
    values = {"workspace": index.workspace_id, "number": index.number, "user": user_id}
    rows = prepared_sql.rows(NAMES, values)
    found = [name for row in rows for name in (row.name, row.external_id, *row.authors)]
    return list(dict.fromkeys(name for name in found if name))


def messages_of(index: WorkspaceIndex, user_id: str) -> int:
    """Return how many messages are a subject's."""
    values = {"workspace": index.workspace_id, "number": index.number, "user": user_id}
    [row] = prepared_sql.rows(MESSAGES, values)
    return int(row.said)

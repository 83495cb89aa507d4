"""People whom a document names: its claims about a person meet what that person said."""

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from memories.belief.resolve.claims import Claim
from memories.index.people_by_name import KnownPerson, people_called
from memories.language.english.referents import UNKNOWN
from memories.models import WorkspaceIndex

# The words that a statement begins with, as far as they may be a name.
_word = r"[A-Z][^\W\d_]+(?:-[A-Z][^\W\d_]+)?"
_named = re.compile(rf"{_word}(?: {_word}){{0,2}}")


@dataclass(slots=True)
class PeopleNamed:
    """`claims` may be believed, each about the person it names, if any. `unclear` are statements
    whose name does not tell who is meant: they stay quotes."""

    claims: list[Claim] = field(default_factory=list)
    unclear: list[str] = field(default_factory=list)


def name_of(statement: str) -> str:
    """Return the name that a statement begins with, "" where there is none."""
    match = _named.match(statement)
    return match[0] if match else ""


def people_named(space: WorkspaceIndex, claims: Sequence[Claim], own: uuid.UUID | None) -> PeopleNamed:
    """Find whom claims name, with one query. Claims about `own`, the document's subject, stay as
    they are."""
    names = {name for claim in claims if (name := name_of(claim.statement))}
    asked = names | {name.partition(" ")[0] for name in names}
    people = people_called(space, asked)
    found = PeopleNamed()
    for claim in claims:
        name = name_of(claim.statement)
        first = name.partition(" ")[0].casefold()
        meant = [each for each in people if first and _shares(each, name, first)]
        if not meant or any(each.id == own for each in meant):
            found.claims.append(claim)
            continue
        # Surely meant: called by the whole name, and nobody else by it, nor by it as a first name.
        whole = [each for each in meant if each.is_called(name)]
        if len(whole) != 1 or (" " not in name and len(meant) > 1):
            found.unclear.append(claim.statement)
            continue
        called = whole[0].spoken_of_as or UNKNOWN
        told = called + claim.statement[len(name) :]
        found.claims.append(replace(claim, statement=told, about=whole[0].id))
    return found


def _shares(person: KnownPerson, name: str, first: str) -> bool:
    """Tell whether the name may be this person's: by the whole of it, or by its first word."""
    if person.is_called(name) or person.is_called(first):
        return True
    return first in (each.partition(" ")[0].casefold() for each in (person.name, person.author))

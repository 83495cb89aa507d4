"""Authors of a log with their counts, and the users that they are here."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from memories.errors import Invalid
from memories.transcripts import Transcript, TranscriptMessage

MOST_AUTHORS = 10_000  # of one file; the others are counted together
OTHERS = "(others)"


def same_name(name: str) -> str:
    """Return a name as it is compared."""
    return " ".join(name.casefold().split())


@dataclass(slots=True)
class Author:
    """Somebody who says something in a log, with the times of the first and last message."""

    name: str
    messages: int = 0
    first: datetime | None = None
    last: datetime | None = None

    def add(self, at: datetime | None) -> None:
        self.messages += 1
        if at is not None:
            self.first = min(self.first or at, at)
            self.last = max(self.last or at, at)

    def as_json(self) -> dict[str, Any]:
        times = {"first": self.first, "last": self.last}
        told = {key: at.isoformat() if at else None for key, at in times.items()}
        return {"name": self.name, "messages": self.messages, **told}


@dataclass(slots=True)
class Authors:
    """The named authors of a file."""

    by_name: dict[str, Author] = field(default_factory=dict)

    def add(self, transcript: Transcript) -> None:
        for message in transcript.messages:
            if message.name and message.role == "user":
                key = same_name(message.name)
                key = key if key in self.by_name or len(self.by_name) < MOST_AUTHORS else OTHERS
                shown = message.name if key != OTHERS else OTHERS
                self.by_name.setdefault(key, Author(shown)).add(message.created_at)

    def most_first(self) -> list[Author]:
        return sorted(self.by_name.values(), key=lambda author: (-author.messages, author.name))


@dataclass(frozen=True, slots=True)
class WhoIsWho:
    """The users that authors are: `me` are names of the user that the import is about, `users` are
    others by their names."""

    me: Sequence[str] = ()
    users: Mapping[str, str] = field(default_factory=dict)

    def check(self, known: Iterable[str]) -> None:
        """Raise Invalid for a name that no author has, and for one that is two users."""
        here = set(map(same_name, known))
        for name in (*self.me, *self.users):
            if same_name(name) not in here:
                raise Invalid("me" if name in self.me else "authors", f"No author is called {name!r}.")
        both = set(map(same_name, self.me)) & set(map(same_name, self.users))
        if both:
            raise Invalid("authors", f"One author is two users: {', '.join(sorted(both))}.")

    def by_user(self, messages: Sequence[TranscriptMessage], user: str) -> dict[str, list[TranscriptMessage]]:
        """Return the messages by the user whose they are. A user's own messages need no name: they are
        in the first person; whoever is no user here is told of by name."""
        me = set(map(same_name, self.me))
        users = {same_name(name): found for name, found in self.users.items()}
        sorted_out: dict[str, list[TranscriptMessage]] = {}
        for message in messages:
            key = same_name(message.name)
            own = user if key in me else users.get(key, "")
            named = replace(message, name="", metadata={**message.metadata, "author": message.name})
            sorted_out.setdefault(own or user, []).append(named if own else message)
        return sorted_out

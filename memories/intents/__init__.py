"""What people say to the memory: heard before anything is extracted, done, and taken back.

`hear` writes down the orders of a session and keeps their sentences from being read as claims;
`carry_out` finds what is meant and does it, once the session's claims are written; `undo` takes it
back. An order that is not surely meant, or not the person's to give, waits for a person.
"""

from memories.intents.carry_out import carry_out, do_anyway, leave
from memories.intents.recognise import claims_to_keep, hear, remember, waiting_of
from memories.intents.take_back import undo

__all__ = [
    "carry_out",
    "claims_to_keep",
    "do_anyway",
    "hear",
    "leave",
    "remember",
    "undo",
    "waiting_of",
]

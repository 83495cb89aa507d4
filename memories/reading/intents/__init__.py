"""Orders of people to the memory: heard before anything is extracted, carried out, and undone.

`hear` writes down the orders of a session and keeps their sentences from being read as claims;
`carry_out` finds what is meant and does it, once the session's claims are written; `undo` takes
it back. An order that is unclear, or not the speaker's to give, waits for a person to decide."""

from memories.reading.intents.carry_out import (
    carry_out,
    do_locked,
    leave_locked,
    plan_decided,
    take_back_locked,
    undo,
    waiting_intent,
    withhold_again,
)
from memories.reading.intents.order_words import (
    OrderPlan,
    give_back,
    give_back_due,
    mask_ahead,
    masks_of,
    not_withheld_of,
    take_again,
    why_of,
    withheld_of,
)
from memories.reading.intents.recognise import claims_to_keep, hear, remember, unmet_before, waiting_of

__all__ = [
    "OrderPlan",
    "carry_out",
    "claims_to_keep",
    "do_locked",
    "give_back",
    "give_back_due",
    "hear",
    "leave_locked",
    "mask_ahead",
    "masks_of",
    "not_withheld_of",
    "plan_decided",
    "remember",
    "take_again",
    "take_back_locked",
    "undo",
    "unmet_before",
    "waiting_intent",
    "waiting_of",
    "why_of",
    "withheld_of",
    "withhold_again",
]

"""Pairs that people decided, many at a time."""

from typing import Any

from django.utils import timezone

from memories.models import Touch
from tests.factories import MemoryFactory, TouchFactory
from tests.people import Person
from workspaces.models import Subject


def decided(person: Person, number: int = 40, *, subject: Subject | None = None, **about: Any) -> list[Touch]:
    """Every second message ends its belief, and the others, "for now", do not; three people said so."""
    made = []
    for at in range(number):
        is_over = at % 2 == 0
        words = "gone for good" if is_over else "gone for now"
        values = {
            "relation": "ends" if is_over else "adds",
            "probability": 1.0,
            "by": "person",
            "decided_by": f"user:{at // 2 % 3}",
            "decided_at": timezone.now(),
        }
        memory = MemoryFactory(workspace=person.workspace, subject=subject, content=f"User keeps hen {at}")
        made.append(TouchFactory(memory=memory, episode__content=f"Hen {at} is {words}", **{**values, **about}))
    return made

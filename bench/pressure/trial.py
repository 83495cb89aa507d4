"""Each pressure alone, then all together, and what a caller of another workspace feels of it."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from bench.bounds import Bound
from bench.pressure.attack import GUESS, HALF, LARGE, MIXED, SEARCH, SMALL, TEXT
from bench.pressure.victim import LIVE, READY, Felt, Victim

ALONE, TOGETHER, SLACK = 3.0, 10.0, 0.25  # times the calm p99, and seconds
LIVE_LONGEST = 1.0  # seconds
QUIET = 90.0  # seconds in which it has to be calm again after a pressure
LONGEST = 900.0  # seconds that those who press go on where nobody ends them
BEGUN = 2.0  # seconds after which a pressure counts as there
ALL = "all together"


@dataclass(frozen=True, slots=True)
class Pressure:
    """`tenant` whose key is used; `begun`: seconds from its beginning to the measuring."""

    name: str
    kind: str
    clients: int
    tenant: str
    begun: float = BEGUN
    body: dict[str, Any] = field(default_factory=dict)


FLOOD, EMBEDDER, MODEL = "flood", "remote", "model"  # tenants
PRESSURES = (
    Pressure("half", HALF, 200, FLOOD),
    Pressure("guessers", GUESS, 8, FLOOD),
    Pressure("embedder", SEARCH, 4, EMBEDDER, begun=25.0),
    Pressure("model", SMALL, 4, MODEL),
    Pressure("flood", MIXED, 30, FLOOD),
    Pressure("large", LARGE, 1, FLOOD),
    Pressure("text", TEXT, 1, FLOOD, body={"mode": "sync"}),
)


@dataclass(slots=True)
class Result:
    name: str
    calm: Felt
    felt: Felt
    pressed: dict[str, Any]
    quiet_after: float | None  # seconds; None: not within QUIET

    def as_json(self) -> dict[str, Any]:
        return {
            "calm": self.calm.as_json(),
            "felt": self.felt.as_json(),
            "pressed": self.pressed,
            "calmAgainAfter": self.quiet_after,
        }


@dataclass(frozen=True, slots=True)
class Presser:
    """The server's address; `keys` and `paths` by tenant. `revive` makes it answer again by
    force."""

    url: str
    keys: dict[str, str]
    paths: dict[str, str]
    revive: Callable[[], bool]
    messages: int  # of the large ingest
    seed: int = 1


def possible(presser: Presser, names: Sequence[str]) -> list[Pressure]:
    return [each for each in PRESSURES if each.name in names and each.tenant in presser.keys]


def results(presser: Presser, victim: Victim, pressures: Sequence[Pressure], seconds: float) -> Iterator[Result]:
    """One after the other, each between two times of calm; then all together where there are more
    than one. Ends early where the server does not answer any more."""
    groups = [(each.name, [each]) for each in pressures]
    if len(pressures) > 1:
        groups.append((ALL, list(pressures)))
    for name, group in groups:
        calm = victim.feel(max(5.0, seconds / 2))
        result = _pressed(presser, victim, (name, group), seconds, calm)
        yield result
        if result.quiet_after is None and not presser.revive():
            return


def _pressed(
    presser: Presser,
    victim: Victim,
    group: tuple[str, Sequence[Pressure]],
    seconds: float,
    calm: Felt,
) -> Result:
    name, pressures = group
    attackers = _attackers(presser, pressures)
    try:
        felt = victim.feel(seconds, before=max(each.begun for each in pressures))
    finally:
        attackers.terminate()
        try:
            out, _ = attackers.communicate(timeout=30.0)
        except subprocess.TimeoutExpired:
            attackers.kill()
            out, _ = attackers.communicate()
    pressed = json.loads(out) if out.strip().startswith("{") else {}
    return Result(name, calm, felt, pressed, _quiet(victim, calm.p(0.99)))


def _attackers(presser: Presser, pressures: Sequence[Pressure]) -> "subprocess.Popen[str]":
    address = urlsplit(presser.url)
    attacks = [
        {
            "name": each.name,
            "kind": each.kind,
            "clients": each.clients,
            "body": each.body,
            "key": presser.keys[each.tenant],
            "path": presser.paths[each.tenant],
            "messages": presser.messages,
            "seed": presser.seed,
        }
        for each in pressures
    ]
    running = subprocess.Popen(
        [sys.executable, "-m", "bench.pressure.attack"],
        cwd=settings.BASE_DIR,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert running.stdin is not None
    where = {"host": address.hostname, "port": address.port, "longest": LONGEST}
    running.stdin.write(json.dumps({**where, "attacks": attacks}))
    running.stdin.close()
    running.stdin = None  # communicate() would flush it
    return running


def _quiet(victim: Victim, calm: float) -> float | None:
    """Seconds until a second of searches is answered about as fast as before."""
    began = time.monotonic()
    while time.monotonic() - began < QUIET:
        felt = victim.feel(1.0)
        if not felt.errors and felt.p(0.5) <= calm + SLACK:
            return round(time.monotonic() - began - 1.0, 1)
    return None


def bounds(found: Sequence[Result]) -> Iterator[Bound]:
    # The middle one: a time of calm may begin before all is done that was asked for earlier.
    calm = median(result.calm.p(0.99) for result in found) if found else 0.0
    for result in found:
        times = TOGETHER if result.name == ALL else ALONE
        felt = result.felt
        note = f"p50 {felt.p(0.5):.3f} s, {len(felt.searches)} searches; calm p99 {calm:.3f} s"
        yield Bound(f"{result.name}: p99", felt.p(0.99), times * calm + SLACK, " s", note)
        statuses = felt.health_statuses[READY]
        note = f"ready at worst {felt.worst(READY):.2f} s, {dict(statuses)}"
        yield Bound(f"{result.name}: live", felt.worst(LIVE), LIVE_LONGEST, " s", note)
        pressed = result.pressed.get(result.name, result.pressed)
        note = f"statuses {dict(felt.statuses)}; pressed: {pressed}"
        yield Bound(f"{result.name}: refused or failed", felt.errors, 0, "", note)
        quiet = QUIET + 1 if result.quiet_after is None else result.quiet_after
        yield Bound(f"{result.name}: calm again after", quiet, QUIET, " s")

"""Events of what somebody did in a program, told as they would tell it, so that they are read like
talk.

An event's payload names `app`, `action`, `object` and `duration` (seconds); each may be missing,
but not all of the first three.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from memories.language.english import verbs

NAMES = ("app", "action", "object")
LONGEST = 300  # characters of one of the names
_verb_after = re.compile(r"^(?P<object>[a-z]+)[._ -](?P<verb>[a-z]+ed)$")
_minute, _hour = 60.0, 3600.0


def is_activity(payload: Mapping[str, Any]) -> bool:
    """Tell whether a payload is an activity's."""
    return any(_name(payload, name) for name in NAMES)


def faults_of(payload: Mapping[str, Any]) -> dict[str, str]:
    """Return what is wrong with an activity's fields, by field; {} if nothing is. None counts as
    missing."""
    said = {name: value for name in NAMES if (value := payload.get(name)) is not None}
    found = {name: "A string." for name, value in said.items() if not isinstance(value, str)}
    length = payload.get("duration")
    is_number = isinstance(length, int | float) and not isinstance(length, bool)
    if length is not None and not (is_number and 0 <= length < math.inf):
        found["duration"] = "A number of seconds, not below 0."
    return found


def is_written_out(content: str) -> bool:
    """Tell whether a text holds an activity's fields as JSON, which are nobody's words."""
    if not content.lstrip().startswith("{"):
        return False
    try:
        payload = json.loads(content)
    except ValueError:
        return False
    return any(name in payload for name in NAMES)


def sentence_of(payload: Mapping[str, Any]) -> str:
    """Return what was done, in the first person and the past; "" if nothing is named.

    "I edited report.docx in Word for 45 minutes." is made of {"app": "Word", "action": "edit",
    "object": "report.docx", "duration": 2700}.
    """
    app, action, thing = (_name(payload, name) for name in NAMES)
    if not (app or action or thing):
        return ""
    if not action and not thing:
        thing, app = app, ""
    verb = "used"
    if action:  # in the past: "edit", "editing", "file.saved", "OPEN_TAB"
        low = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", action).lower()
        first, *rest = re.split(r"[._\s-]+", low)
        turned = _verb_after.match(low)
        verb = " ".join([_past(first), *rest])
        verb = f"{turned['verb']} a {turned['object']} of" if turned else verb
    done = [verb, thing, f"in {app}" if app else ""]
    return " ".join(["I", *(part for part in done if part)]) + _lasting(payload) + "."


def _name(payload: Mapping[str, Any], name: str) -> str:
    value = payload.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return " ".join(str(value).split())[:LONGEST].rstrip(".")


def _past(verb: str) -> str:
    """Return `verb` (its stem, or with -ing) in the past; a past form stays as it is."""
    if verbs.is_past(verb):
        return verb
    stem = verb
    if verb.endswith("ing") and len(verb) > 5:
        stem = verb[:-3]
        if stem[-1:] == stem[-2:-1] and stem[-1] not in "ls":
            stem = stem[:-1]
        stem = next((each for each in (stem, stem + "e") if each in verbs.PAST_OF), stem)
    return verbs.past(stem)


def _lasting(payload: Mapping[str, Any]) -> str:
    length = payload.get("duration")
    if isinstance(length, bool) or not isinstance(length, int | float):
        return ""
    if not 0 < length < _hour * 24 * 366:
        return ""
    number, unit = round(length / _hour, 1), "hour"
    if length < _minute:
        number, unit = round(length) or 1, "second"
    elif length < 1.5 * _hour:
        number, unit = round(length / _minute), "minute"
    return f" for {number:g} {unit}{'' if number == 1 else 's'}"

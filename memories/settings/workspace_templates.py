"""Templates of workspaces: settings to begin with, which are then changed like any others."""

from typing import Any

TEMPLATES: dict[str, dict[str, Any]] = {
    "support": {
        "instructions": {
            "extract": "what a customer uses, in which plan and version; what went wrong and what helped; what was"
            " promised to them, and by when; how they want to be contacted",
            "ignore": "greetings and thanks, small talk",
        },
    },
    "coding-team": {
        "guard": {"audience": "team"},
        "instructions": {
            "extract": "decisions and their reasons; conventions; versions, settings and commands in use; who is in"
            " charge of what; what was tried and did not work",
            "ignore": "stack traces, small talk",
        },
    },
    "companion": {
        "guard": {"audience": "person"},
        "instructions": {
            "extract": "family, friends and pets; health; what somebody likes, fears and looks forward to; plans with"
            " their days; how they want to be spoken to",
            "ignore": "small talk",
        },
    },
    "crm": {
        "guard": {"audience": "team"},
        "instructions": {
            "extract": "people and companies with their roles; needs, budgets and deadlines; objections; what was"
            " agreed, and the next step with its day",
            "ignore": "private life, small talk",
        },
    },
}

"""Words for who did what, with the exact act of the audit log: "pinned" and not "edit"."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

INGEST = "ingest"
WRONG_REASON = "wrong"  # the reason to forget a memory that must not be learned again
# Machines do these all day. The acts of one actor on one day are shown as one line.
QUIET = (INGEST, "fold_set", "consolidate_set", "synced_connection", "create_document")

# By the act, or by the act and the kind of its row.
ACTS = {
    "accept": _("believed"),
    "accept_invitation": _("accepted an invitation"),
    "add_feature": _("noted in a profile"),
    "add_golden_questions": _("added test questions"),
    "allow_again": _("allowed again"),
    "approve": _("approved"),
    "ask": _("asked about"),
    "ask_to_learn": _("asked the judge to learn"),
    "assign": _("assigned"),
    "cancel": _("stopped"),
    "calibrate": _("measured a limit anew"),
    "change": _("changed"),
    "change_agent": _("changed an agent"),
    "bring_back_connection": _("let a source bring back what was erased"),
    "change_connection": _("changed a source"),
    "change_conversation": _("changed a conversation"),
    "change_document": _("changed a document"),
    "change_member": _("changed a role"),
    "change_policy": _("changed what waits"),
    "change_settings": _("changed settings"),
    "change_team": _("changed a team"),
    "change_webhook": _("changed a webhook"),
    "change_weights": _("changed how hits are ordered"),
    "change_workspace": _("changed settings"),
    "consolidate_set": _("tidied a profile"),
    "correct": _("asked to correct"),
    "create": _("added"),
    "create_agent": _("added an agent"),
    "create_connection": _("added a source"),
    "create_conversation": _("began a conversation"),
    "create_document": _("handed in a document"),
    "create_set": _("made a profile"),
    "create_team": _("made a team"),
    "create_webhook": _("added a webhook"),
    "create_workspace": _("made the workspace"),
    "configure_set": _("set up a profile"),
    "decide": _("decided"),
    "decline_invitation": _("declined an invitation"),
    "delete": _("removed"),
    "delete_feature": _("took out of a profile"),
    "delete_set": _("removed a profile"),
    "dismiss": _("dismissed"),
    "edit": _("changed"),
    "edit_feature": _("changed in a profile"),
    "erase": _("began to erase"),
    "erased": _("erased"),
    "expire_key": _("let a key run out"),
    "export": _("exported"),
    "fold_set": _("brought a profile up to date"),
    "forget": _("forgot"),
    "forget intent": _("asked to forget"),
    "go_back_judge": _("took back what the judge learned"),
    "hold": _("held back for a person"),
    "import_workspace": _("imported"),
    INGEST: _("read messages"),
    "invite_member": _("invited"),
    "issue_key": _("issued a key"),
    "judge_memory": _("judged"),
    "keep_both": _("kept both"),
    "learn_judge": _("taught the judge"),
    "leave": _("left as it is"),
    "lift_hold": _("lifted a legal hold"),
    "merge": _("merged"),
    "move": _("moved to another person"),
    "never": _("asked never to remember"),
    "place_hold": _("placed a legal hold"),
    "redeliver_webhook": _("sent again"),
    "redo": _("put back in force"),
    "reject": _("rejected"),
    "remember": _("asked to remember"),
    "remove_agent": _("removed an agent"),
    "remove_connection": _("removed a source"),
    "remove_golden_question": _("removed a test question"),
    "remove_member": _("removed a member"),
    "remove_webhook": _("removed a webhook"),
    "replace": _("replaced by what the judge heard"),
    "reopen": _("opened again"),
    "report_miss": _("reported as missed"),
    "reprocess_document": _("had a document read anew"),
    "restore": _("brought back"),
    "retract": _("asked to take back"),
    "retry_document": _("had a document tried again"),
    "reveal": _("looked at hidden words of"),
    "revoke_invitation": _("took back an invitation"),
    "revoke_key": _("revoked a key"),
    "rotate_webhook": _("gave a webhook a new secret"),
    "settle_miss": _("settled what was missed"),
    "separate": _("took back a merge"),
    "snooze": _("put off"),
    "split": _("split off to another person"),
    "switch_decision": _("switched a rule"),
    "switch_pattern": _("switched a rule"),
    "sync_connection": _("asked a source"),
    "synced_connection": _("took in from a source"),
    "test_connection": _("tried a source"),
    "take_over_judge": _("let a taught judge take over"),
    "take_up": _("let wait again"),
    "undo": _("took back"),
    "undo_feature": _("took back in a profile"),
    "update_feature": _("changed in a profile"),
}

# The changes of one act `edit`, in the order in which they are shown.
EDITED = {
    "content": _("reworded"),
    "pinned": _("pinned"),
    "visibility": _("shared"),
    "valid_until": _("set its end date"),
    "valid_from": _("set its date"),
    "event_date": _("set its date"),
    "forget_after": _("set when it is forgotten"),
    "category": _("changed its category"),
    "fact_type": _("changed its kind"),
    "confidence": _("changed how sure it is"),
    "entities": _("changed its names"),
    "metadata": _("changed its notes"),
}
UNPINNED, PRIVATE = _("unpinned"), _("made private")
SHARED = {"team": _("shared with the team"), "global": _("shared with everybody")}
FAILED, WRONG = _("could not read messages"), _("forgot as wrong")
OFF, ON = _("switched a rule off"), _("switched a rule on")


def act_text(action: str, kind: str = "") -> str:
    """Return the word for an act of this name: "forgot"; an act without one gets its name,
    spaced."""
    words = ACTS.get(f"{action} {kind}") or ACTS.get(action)
    return gettext(words) if words else action.replace("_", " ")


def act_words(line: Any) -> str:
    """Return in words what a line of the log says that somebody did: "pinned, made private"."""
    before, after = _fields(line.before), _fields(line.after)
    match line.action:
        case "edit" if told := [_edited(n, after) for n in EDITED if n in after]:
            return ", ".join(dict.fromkeys(told))
        case "forget" if line.reason == WRONG_REASON and line.target_kind == "memory":
            return gettext(WRONG)
        case "ingest" if after.get("state") in ("failed", "dead"):
            return gettext(FAILED)
        case "switch_pattern" | "switch_decision" if isinstance(line.after, list) and isinstance(line.before, list):
            return gettext(OFF if len(line.after) > len(line.before) else ON)
        case "change" if set(after) | set(before) == {"enabled"}:
            return gettext(ON if after["enabled"] else OFF)
    return act_text(line.action, line.target_kind)


def _edited(name: str, after: Mapping[str, Any]) -> str:
    if name == "pinned" and not after[name]:
        return gettext(UNPINNED)
    if name == "visibility":
        return gettext(SHARED.get(str(after[name]), PRIVATE))
    return gettext(EDITED[name])


def _fields(state: Any) -> Mapping[str, Any]:
    return state if isinstance(state, Mapping) else {}

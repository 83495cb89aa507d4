"""No key of an agent puts masked words back, by whichever act: people and the workspace's own
backend do."""

import ast
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings

from memories.belief import review
from memories.errors import Forbidden
from memories.index import workspace_index
from memories.models import Case, Fact, Intent, MaskedSpan, Memory
from memories.privacy import masks
from tests.api_fixtures import Answer, Caller, caller
from tests.people import Person, bound_to_agent

SECRET = "Otter!2024"
SAID = f"My bank password is {SECRET}."
SALARY, FORGET = "My salary is 91,000 a year.", "Please forget what I said about my salary."
TEAM = "We decided that the keeper is called Behemoth."
# Who puts words back: a new one has to be tried here.
CALLERS = {
    "belief/review/quarantine.py: _unmask",  # accept, case
    "belief/review/create.py: unmask_held",  # case_by_hand
    "belief/review/taken_words.py: give_back_locked",  # restore, reopen, undo of a case
    "belief/review/taken_words.py: give_back_in_steps",  # the same, after it
    "reading/intents/order_words.py: give_back",  # the worker's own, of an order whose process ended
    "reading/intents/carry_out.py: _show_locked",  # undo_an_order; left in a case that no agent's key sees
    "exchange/acts_again.py: _unmask",  # the server's own, after a restore
}
Act = Callable[[Caller], Answer]


def told(*callers: Caller) -> str:
    """All that these read."""
    lists = ("memories", "episodes", "facts", "cases", "intents", "rejections")
    found = [http.get(f"/{name}").body for http in callers for name in lists]
    found += [http.get("/memories", live="any").body for http in callers]
    return json.dumps(found)


def posting(path: str, **body: object) -> Act:
    return lambda http: http.post(path, body)


def accept(bob: Person) -> Act:
    bob.say(SAID, user_id="u1")
    return posting(f"/facts/{Fact.objects.get().pk}/accept", unmask=True)


def case(bob: Person) -> Act:
    bob.say(SAID, user_id="u1")
    fact = Fact.objects.get()
    path = f"/cases/{Case.objects.get().pk}/decide"
    return posting(path, accept=[str(fact.pk)], unmask=True)


def case_by_hand(bob: Person) -> Act:
    bob.note(SAID, user_id="u1", visibility="team")
    fact = Fact.objects.get()
    path = f"/cases/{Case.objects.get().pk}/decide"
    return posting(path, accept=[str(fact.pk)], unmask=True)


def restore(bob: Person) -> Act:
    memory = bob.note(TEAM, visibility="team")
    review.forget(bob.scope, memory.pk, "private")
    return posting(f"/memories/{memory.pk}/restore")


def undo_an_order(bob: Person) -> Act:
    for text in (SALARY, FORGET):
        bob.say(text, user_id="u1", thread_id="t1")
    return posting(f"/intents/{Intent.objects.get(state='done').pk}/undo")


@pytest.mark.parametrize("door", [accept, case, case_by_hand, restore, undo_an_order])
def test_no_agent_puts_masked_words_back(
    door: Callable[[Person], Act],
    alice: Person,
    bob: Person,
    carol: Person,
    mallory: Person,
) -> None:
    act, mate = door(bob), caller(bound_to_agent(bob.workspace, "mate"))
    agents = [caller(bob), mate, caller(carol)]
    before = set(MaskedSpan.objects.values_list("pk", flat=True))
    assert before
    assert {act(http).status for http in agents} <= {403, 404}
    assert act(agents[0]).status == 403
    assert act(caller(mallory)).status == 404
    assert set(MaskedSpan.objects.values_list("pk", flat=True)) == before
    hidden = (SECRET, "91,000", "Behemoth")
    assert not any(words in told(*agents, caller(alice)) for words in hidden)
    assert act(caller(alice)).status == 200
    assert any(words in told(caller(alice)) for words in hidden)
    assert Memory.objects.live().exists()


def test_each_who_puts_words_back_is_tried_here_and_says_who_asks() -> None:
    found = {}
    folder = Path(settings.BASE_DIR) / "memories"
    for path in folder.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text())):
            for call in ast.walk(function) if isinstance(function, ast.FunctionDef) else ():
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "masks.unmask":
                    name = f"{path.relative_to(folder)}: {function.name}"
                    found[name] = ast.unparse(call.args[0])
    assert found == dict.fromkeys(CALLERS, "scope")


def test_an_agents_scope_puts_no_word_back_however_it_comes_there(alice: Person, bob: Person) -> None:
    bob.say(SAID, user_id="u1")
    space = workspace_index.index_of(bob.workspace.pk)
    with pytest.raises(Forbidden):
        masks.unmask(bob.scope, space, MaskedSpan.objects.all())
    assert masks.unmask(bob.scope, space, MaskedSpan.objects.none()) == []
    assert SECRET not in told(caller(bob), caller(alice))


def test_an_agent_believes_and_believes_again_what_is_masked_without_its_words(alice: Person, bob: Person) -> None:
    bob.say(SAID, user_id="u1")
    accepted = caller(bob).post(f"/facts/{Fact.objects.get().pk}/accept", {})
    assert accepted.status == 200
    assert SECRET not in json.dumps(accepted.body)
    memory = bob.note(TEAM)
    review.forget(bob.scope, memory.pk, "outdated")
    assert caller(bob).post(f"/memories/{memory.pk}/restore").status == 200
    assert TEAM in bob.live()


def test_a_guess_at_masked_words_as_the_quote_of_a_fact_is_refused_right_or_wrong(alice: Person, bob: Person) -> None:
    bob.say(SAID, user_id="u1")
    path = f"/facts/{Fact.objects.get().pk}/accept"
    right, wrong = (caller(bob).post(path, {"quote": f"password is {word}"}) for word in (SECRET, "Adder!2024"))
    assert (right.status, right.fields) == (wrong.status, wrong.fields) == (400, ["quote"])
    assert right.body["detail"] == wrong.body["detail"]
    assert caller(alice).post(path, {"quote": f"password is {SECRET}"}).status == 200

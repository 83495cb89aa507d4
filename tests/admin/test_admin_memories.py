"""The pages of what is remembered, and the buttons on them."""

from datetime import UTC, date, timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from memories.models import (
    Fact,
    Memory,
    MemorySession,
    MemoryUse,
    Rejection,
    SearchUse,
    Supersession,
)
from tests.desk import list_of, member, messages_of, page_of, superuser
from tests.factories import (
    AgentFactory,
    ApiKeyFactory,
    ConversationFactory,
    EpisodeFactory,
    FactFactory,
    MembershipFactory,
    MemoryFactory,
    RejectionFactory,
    SessionFactory,
    SubjectFactory,
    SupersessionFactory,
    WorkspaceFactory,
    chain_of,
    evidence,
)
from tests.people import Person
from workspaces.models import Role, Subject, Workspace


def test_empty_list_tells_what_to_do(workspace: Workspace) -> None:
    html = member(workspace).sees(list_of(Memory))

    assert "No memories yet" in html
    assert f"curl http://testserver/api/v1/workspaces/{workspace.slug}/memories/ingest" in html


def test_search_without_a_match_offers_the_way_back(workspace: Workspace) -> None:
    MemoryFactory(workspace=workspace)

    assert "Nothing matches" in member(workspace).sees(list_of(Memory), q="zebra")


def test_list_begins_with_what_is_believed(workspace: Workspace) -> None:
    old, new = chain_of(workspace, "Lives in Lisbon", "Lives in Porto")
    alice = member(workspace)

    assert old.content not in alice.sees(list_of(Memory))
    assert new.content in alice.sees(list_of(Memory))
    assert old.content in alice.sees(list_of(Memory), state="superseded")
    assert old.content in alice.sees(list_of(Memory), state="all")


def test_each_state_has_its_filter(workspace: Workspace) -> None:
    now = timezone.now()
    MemoryFactory(workspace=workspace, content="was forgotten", forgotten_at=now)
    MemoryFactory(workspace=workspace, content="is held", held_at=now)
    MemoryFactory(workspace=workspace, content="has expired", forget_after=now - timedelta(days=1))
    alice = member(workspace)

    for state, content in (
        ("forgotten", "was forgotten"),
        ("held", "is held"),
        ("expired", "has expired"),
    ):
        html = alice.sees(list_of(Memory), state=state)
        assert content in html
        assert "1 memory" in html


def test_search_finds_live_memories_through_the_index(alice: Person) -> None:
    alice.note("Prefers green tea to coffee")
    alice.note("Plays the violin on Sundays")

    html = member(alice.workspace).sees(list_of(Memory), q="GREEN tea")

    assert "Prefers green tea" in html
    assert "violin" not in html


def test_search_takes_wildcards_literally(alice: Person) -> None:
    alice.note("Wants 100% cotton")
    alice.note("Wants 100 cats")

    html = member(alice.workspace).sees(list_of(Memory), q="100%")

    assert "cotton" in html
    assert "cats" not in html


def test_search_looks_through_dead_memories_where_they_are_asked_for(workspace: Workspace) -> None:
    chain_of(workspace, "Lives in Lisbon", "Lives in Porto")

    html = member(workspace).sees(list_of(Memory), q="lisbon", state="all")

    assert "Lives in Lisbon" in html


def test_search_by_two_letters_works(alice: Person) -> None:
    alice.note("Writes Go")

    assert "Writes Go" in member(alice.workspace).sees(list_of(Memory), q="Go")


def test_search_finds_a_memory_by_its_id(workspace: Workspace) -> None:
    memory = MemoryFactory(workspace=workspace)

    assert memory.content in member(workspace).sees(list_of(Memory), q=str(memory.pk))


def test_search_stays_in_the_workspace(alice: Person, mallory: Person) -> None:
    alice.note("Prefers green tea")

    assert "green tea" not in member(mallory.workspace).sees(list_of(Memory), q="Prefers")


def test_page_shows_the_whole_chain_with_its_differences(workspace: Workspace) -> None:
    old, _, new = chain_of(workspace, "Lives in Lisbon", "Lives in Porto", "Lives in Porto now")
    html = member(workspace).sees(page_of(old))

    assert "in 3 versions" in html
    assert "<del>Lisbon</del><ins>Porto</ins>" in html
    assert "replaced · the nearest memory" in html
    assert "similarity 0.93" in html
    assert page_of(new) in html


def test_page_shows_the_words_behind_each_version(workspace: Workspace) -> None:
    memory = MemoryFactory(workspace=workspace)
    fact = evidence(memory, "Well, I prefer tea, you know.", "I prefer tea")
    html = member(workspace).sees(page_of(memory))

    assert "“I prefer tea”" in html
    assert f"?fact={fact.pk}" in html


def test_content_is_escaped_everywhere(workspace: Workspace) -> None:
    memory = MemoryFactory(workspace=workspace, content="<script>alert(1)</script>")
    fact = evidence(memory, "Say <script>alert(1)</script> twice", "<script>alert(1)</script>")
    alice = member(workspace)
    episode = fact.citations.get().episode

    for page in (list_of(Memory), page_of(memory), page_of(fact), page_of(episode)):
        assert "<script>alert(1)" not in alice.sees(page)


def test_forgotten_as_wrong_is_rejected_for_good(workspace: Workspace) -> None:
    memory = MemoryFactory(workspace=workspace)
    answer = member(workspace).does(memory, "forget", reason="wrong")

    memory.refresh_from_db()
    assert memory.forget_reason == "wrong"
    assert "not be learned again" in messages_of(answer)
    assert Rejection.objects.get().content == memory.content


def test_reason_can_be_given_in_own_words(workspace: Workspace) -> None:
    memory = MemoryFactory(workspace=workspace)
    member(workspace).does(memory, "forget", reason="", note="said by mistake")

    memory.refresh_from_db()
    assert memory.forget_reason == "said by mistake"


def test_facts_are_narrowed_by_rule_agent_entity_and_confidence(workspace: Workspace) -> None:
    agent = AgentFactory(workspace=workspace)
    one = {"rule": "talk.boat", "agent": agent, "entities": ["Kestrel"], "confidence": 0.95}
    other = {"rule": "talk.tea", "entities": ["Osprey"], "confidence": 0.4}
    FactFactory(workspace=workspace, statement="Uma sails", **one)
    FactFactory(workspace=workspace, statement="Uma rests", **other)
    alice = member(workspace)
    for asked in (
        {"rule": "talk.boat"},
        {"agent__id__exact": str(agent.pk)},
        {"entity": "Kestrel"},
        {"confidence": "0.9"},
    ):
        page = alice.sees(list_of(Fact), **asked)
        assert ("Uma sails" in page, "Uma rests" in page) == (True, False), asked
    assert "Uma sails" not in alice.sees(list_of(Fact), confidence="low")


def test_a_rule_of_another_workspace_is_not_offered(workspace: Workspace, mallory: Person) -> None:
    FactFactory(workspace=mallory.workspace, rule="talk.elsewhere")

    assert "talk.elsewhere" not in member(workspace).sees(list_of(Fact))


def test_forgotten_memory_is_restored(workspace: Workspace) -> None:
    memory = MemoryFactory(workspace=workspace)
    edith = member(workspace, Role.EDITOR)
    edith.does(memory, "forget", reason="outdated")
    edith.does(memory, "restore")

    memory.refresh_from_db()
    assert memory.is_live


def test_correction_makes_a_new_version_by_the_person(workspace: Workspace) -> None:
    memory = MemoryFactory(workspace=workspace, content="Lives in Lisbon")
    edith = member(workspace, Role.EDITOR)
    edith.does(memory, "correct", content="Lives in Porto\r\nand in Lisbon")

    new = Memory.objects.live().get()
    assert (new.content, new.version) == ("Lives in Porto\nand in Lisbon", 2)
    assert Supersession.objects.get().decided_by == f"user:{edith.user.pk}"
    assert f"by {edith.user.username}" in edith.sees(page_of(new))


def test_old_version_cannot_be_corrected(workspace: Workspace) -> None:
    old, _ = chain_of(workspace, "Lives in Lisbon", "Lives in Porto")
    answer = member(workspace).does(old, "correct", content="Lives in Faro")

    assert "superseded" in messages_of(answer)
    assert Memory.objects.count() == 2


def test_empty_correction_is_refused(workspace: Workspace) -> None:
    memory = MemoryFactory(workspace=workspace)

    assert "required" in messages_of(member(workspace).does(memory, "correct", content=" "))
    assert Memory.objects.get().version == 1


def test_memory_is_pinned_and_unpinned(workspace: Workspace) -> None:
    memory = MemoryFactory(workspace=workspace)
    alice = member(workspace)
    alice.does(memory, "pin")
    assert Memory.objects.get().pinned

    alice.does(memory, "unpin")
    assert not Memory.objects.get().pinned


def test_unknown_button_is_refused(workspace: Workspace) -> None:
    memory = MemoryFactory(workspace=workspace)

    assert member(workspace).does(memory, "explode").status_code == 403


def test_following_a_button_as_a_link_changes_nothing(workspace: Workspace) -> None:
    memory = MemoryFactory(workspace=workspace)
    page = page_of(memory).replace("/change/", "/do/pin/")

    assert member(workspace).status(page) == 302
    assert not Memory.objects.get().pinned


def test_button_never_leads_to_another_site(workspace: Workspace) -> None:
    memory = MemoryFactory(workspace=workspace)
    for address in ("https://evil.example/", "//evil.example/admin/", "/elsewhere/"):
        answer = member(workspace).does(memory, "pin", back=address)
        assert answer.redirect_chain[-1][0] == page_of(memory)


# ---- decisions ------------------------------------------------------------------------------


def test_review_list_begins_with_what_waits(workspace: Workspace) -> None:
    pending = SupersessionFactory(workspace=workspace)
    old, _ = chain_of(workspace, "Lives in Lisbon", "Lives in Porto")
    html = member(workspace).sees(list_of(Supersession))

    assert pending.new.content in html
    assert old.content not in html


def test_decision_shows_both_sides_and_their_quotes(workspace: Workspace) -> None:
    pending = SupersessionFactory(workspace=workspace)
    evidence(pending.old, "Tea, always.")
    evidence(pending.new, "Coffee, from now on.")
    html = member(workspace).sees(page_of(pending))

    assert "“Tea, always.”" in html
    assert "“Coffee, from now on.”" in html
    assert "similarity 0.910" in html


def test_approved_decision_makes_the_new_memory_live(workspace: Workspace) -> None:
    pending = SupersessionFactory(workspace=workspace)
    member(workspace, Role.EDITOR).does(pending, "approve", content=pending.new.content)

    assert list(Memory.objects.live()) == [pending.new]


def test_approved_with_other_words_makes_a_version_more(workspace: Workspace) -> None:
    pending = SupersessionFactory(workspace=workspace)
    member(workspace).does(pending, "approve", content="Prefers neither")

    assert Memory.objects.live().get().content == "Prefers neither"


def test_rejected_decision_keeps_the_old_memory(workspace: Workspace) -> None:
    pending = SupersessionFactory(workspace=workspace)
    member(workspace).does(pending, "reject", note="a joke")

    pending.refresh_from_db()
    assert (pending.state, pending.note) == ("rejected", "a joke")
    assert list(Memory.objects.live()) == [pending.old]


def test_both_can_be_kept(workspace: Workspace) -> None:
    pending = SupersessionFactory(workspace=workspace)
    member(workspace).does(pending, "keep-both")

    assert set(Memory.objects.live()) == {pending.old, pending.new}


def test_second_curator_is_told_that_the_first_was_quicker(workspace: Workspace) -> None:
    pending = SupersessionFactory(workspace=workspace)
    member(workspace).does(pending, "approve")
    answer = member(workspace).does(pending, "reject")

    assert "Somebody decided meanwhile" in messages_of(answer)
    assert list(Memory.objects.live()) == [pending.new]


def test_replacement_is_undone_from_the_memory(workspace: Workspace) -> None:
    old, new = chain_of(workspace, "Lives in Lisbon", "Lives in Porto")
    alice = member(workspace)
    assert "Undo" in alice.sees(page_of(new))

    answer = alice.does(Supersession.objects.get(), "undo", back=page_of(old))

    assert answer.redirect_chain[-1][0] == page_of(old)
    assert list(Memory.objects.live()) == [old]


def test_many_decisions_are_taken_at_once(workspace: Workspace) -> None:
    pending = [SupersessionFactory(workspace=workspace) for _ in range(3)]
    answer = member(workspace).acts(Supersession, "reject", *pending)

    assert "3 of 3 done" in messages_of(answer)
    assert set(Memory.objects.live()) == {each.old for each in pending}


def test_decisions_of_another_workspace_are_not_taken_along(workspace: Workspace) -> None:
    foreign = SupersessionFactory()
    member(workspace).acts(Supersession, "reject", foreign, SupersessionFactory(workspace=workspace))

    foreign.refresh_from_db()
    assert foreign.state == "pending"


def test_viewer_decides_nothing_at_once(workspace: Workspace) -> None:
    pending = SupersessionFactory(workspace=workspace)
    member(workspace, Role.VIEWER).acts(Supersession, "approve", pending)

    pending.refresh_from_db()
    assert pending.state == "pending"


def test_rejected_claim_is_allowed_again(workspace: Workspace) -> None:
    rejection = RejectionFactory(workspace=workspace)
    answer = member(workspace).does(rejection, "allow")

    assert answer.redirect_chain[-1][0] == list_of(Rejection)
    assert not Rejection.objects.exists()
    line = workspace.audit_entries.get(action="allow_again")
    assert line.before["content"] == rejection.content


# ---- sessions, facts, episodes --------------------------------------------------------------


def test_dead_session_is_retried(workspace: Workspace) -> None:
    session = SessionFactory(workspace=workspace, state="dead", attempts=3, error="529 overloaded")
    edith = member(workspace, Role.EDITOR)
    assert "529 overloaded" in edith.sees(page_of(session))

    edith.does(session, "retry")

    session.refresh_from_db()
    assert (session.state, session.attempts) == ("received", 0)


def test_finished_session_has_no_retry(workspace: Workspace) -> None:
    session = SessionFactory(workspace=workspace)
    alice = member(workspace)

    assert "/do/retry/" not in alice.sees(page_of(session))
    assert "cannot be retried" in messages_of(alice.does(session, "retry"))


def test_failed_sessions_are_retried_together_and_others_left(workspace: Workspace) -> None:
    stuck = [SessionFactory(workspace=workspace, state="failed") for _ in range(2)]
    answer = member(workspace).acts(MemorySession, "retry", *stuck, SessionFactory(workspace=workspace))

    assert "2 of 3 done" in messages_of(answer)
    assert MemorySession.objects.filter(state="received").count() == 2


def test_session_without_facts_says_why(workspace: Workspace) -> None:
    session = SessionFactory(workspace=workspace, reason="skipped: greeting")

    assert "skipped: greeting" in member(workspace).sees(page_of(session))


def test_session_shows_what_became_of_it(alice: Person) -> None:
    session = alice.say("I prefer tea to coffee.", user_id="ada", thread_id="t")
    html = member(alice.workspace).sees(page_of(session))

    assert "1 fact, 1 new" in html
    assert "I prefer tea to coffee." in html


def test_episode_marks_the_words_that_facts_stand_on(workspace: Workspace) -> None:
    memory = MemoryFactory(workspace=workspace)
    fact = evidence(memory, "Well, I prefer tea, you know.", "I prefer tea")
    episode = fact.citations.get().episode
    html = member(workspace).sees(page_of(episode), fact=str(fact.pk))

    assert 'Well, <mark class="is-asked"><a href="' in html
    assert ">I prefer tea</a></mark>, you know." in html


def test_fact_shows_its_words_in_their_place(workspace: Workspace) -> None:
    fact = evidence(MemoryFactory(workspace=workspace), "Well, I prefer tea.", "I prefer tea")

    assert "Well, <mark>I prefer tea</mark>." in member(workspace).sees(page_of(fact))


def test_facts_are_filtered_by_memory(workspace: Workspace) -> None:
    fact = evidence(MemoryFactory(workspace=workspace, content="Prefers tea"), "Tea.")
    evidence(MemoryFactory(workspace=workspace, content="Prefers coffee"), "Coffee.")
    html = member(workspace).sees(list_of(Fact), memory__id__exact=str(fact.memory_id))

    assert "Prefers tea" in html
    assert "Prefers coffee" not in html


def test_conversation_is_read_in_the_order_it_was_said(workspace: Workspace) -> None:
    conversation = ConversationFactory(workspace=workspace)
    for position, said in ((1, "and then the ladder"), (0, "the gate to begin with")):
        EpisodeFactory(workspace=workspace, conversation=conversation, content=said, position=position)
    html = member(workspace).sees(page_of(conversation))

    assert html.index("the gate to begin with") < html.index("and then the ladder")


def test_nothing_remembered_is_changed_or_added_by_a_form(workspace: Workspace) -> None:
    memory = MemoryFactory(workspace=workspace, content="Prefers tea")
    alice = member(workspace)
    alice.client.post(page_of(memory), {"content": "Prefers coffee"})

    assert Memory.objects.get().content == "Prefers tea"
    assert alice.status(list_of(Memory) + "add/") == 403
    assert alice.status(page_of(memory).replace("/change/", "/delete/")) == 403


def test_page_tells_who_can_read_it(workspace: Workspace) -> None:
    writer, mate = (AgentFactory(workspace=workspace, team="north") for _ in range(2))
    other = AgentFactory(workspace=workspace)
    memory = MemoryFactory(workspace=workspace, agent=writer, visibility="team")
    names = {
        writer: "of the writer",
        mate: "of the mate",
        other: "of another",
        None: "of all",
    }
    for agent, name in names.items():
        ApiKeyFactory(workspace=workspace, agent=agent, name=name)
    ApiKeyFactory(workspace=workspace, name="revoked", revoked_at=timezone.now())
    ApiKeyFactory(workspace=workspace, name="for writing", capabilities=["write"])
    ApiKeyFactory(workspace=workspace, name="of somebody else", limited_to_subjects=True)
    shown = member(workspace).sees(page_of(memory))
    assert "the agents of its agent&#x27;s team" in shown
    for name in ("of the writer", "of the mate", "of all"):
        assert name in shown
    for name in ("of another", "revoked", "for writing", "of somebody else"):
        assert name not in shown
    assert "of the writer" not in member(workspace, Role.EDITOR).sees(page_of(memory))


@pytest.mark.django_db
def test_a_page_that_names_no_workspace_is_about_the_one_looked_at_last() -> None:
    desk = superuser()
    first, second = WorkspaceFactory(name="Alder"), WorkspaceFactory(name="Birch")
    rules, search = reverse("admin:memories_rules"), reverse("admin:memories_search")
    assert desk.client.get(rules).context["workspace"] == first
    desk.sees(page_of(MemoryFactory(workspace=second)))
    assert desk.client.get(rules).context["workspace"] == second
    assert f'value="{second.slug}" selected' in desk.sees(search)
    desk.sees(search, workspace=first.slug)
    assert desk.client.get(rules).context["workspace"] == first


def test_page_tells_who_searched_about_its_person_since_it_was_learned(
    workspace: Workspace,
) -> None:
    ada, bob = (SubjectFactory(workspace=workspace) for _ in range(2))
    memory = MemoryFactory(workspace=workspace, subject=ada)
    key = ApiKeyFactory(workspace=workspace, name="Kitchen")
    today = memory.created_at.astimezone(UTC).date()

    def searched(subject: Subject, day: date, actor: str, searches: int) -> None:
        SearchUse.objects.create(workspace=workspace, subject=subject, day=day, actor=actor, searches=searches)

    searched(ada, today, f"key:{key.pk}", 3)
    searched(ada, today - timedelta(days=2), f"key:{key.pk}", 40)
    searched(bob, today, "user:of-another", 500)
    page = page_of(memory)
    html = member(workspace, Role.EDITOR).sees(page)

    assert "key Kitchen" in html
    assert "3 searches, last on" in html
    assert "43 searches" not in html
    assert "500 searches" not in html
    assert "Asked lately" not in member(workspace, Role.VIEWER).sees(page)
    assert "3 times, last on" not in html
    use = MemoryUse(workspace=workspace, memory=memory, day=today, times=3)
    use.actor = f"key:{key.pk}"
    use.save()
    assert "3 times, last on" in member(workspace, Role.EDITOR).sees(page)
    assert "3 times" not in member(workspace, Role.VIEWER).sees(page)
    assert member(MembershipFactory().workspace).client.get(page).status_code == 404


def test_a_memory_leads_to_its_person_and_to_the_rule_that_made_it(alice: Person) -> None:
    """Of its own workspace: somebody may be a member of several."""
    alice.say("I prefer tea to coffee.", user_id="ada")
    memory = Memory.objects.get()
    assert memory.subject is not None
    rule = f"?workspace={alice.workspace.slug}&amp;q=prefers"
    html = member(alice.workspace).sees(page_of(memory))

    assert f'href="{page_of(memory.subject)}"' in html
    assert f'{reverse("admin:memories_rules")}{rule}">Stop this kind of memory</a>' in html
    viewer = member(alice.workspace, Role.VIEWER).sees(page_of(memory))
    assert "Stop this kind of memory" not in viewer


def test_who_takes_a_correction_back_stands_before_what_is_believed_again(alice: Person) -> None:
    old = alice.note("Lives in Lisbon")
    desk = member(alice.workspace)
    desk.does(old, "correct", content="Lives in Porto")
    new = Memory.objects.get(content="Lives in Porto")

    assert f'name="back" value="{page_of(old)}"' in desk.sees(page_of(new))

"""The playground: a talk on the left; on the right what was recalled and learned, with the acts
that the person may take."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from memories.admin.memory_rows import CitedSpan, MarkedText, as_typed, segments
from memories.admin.playground.talk_turn import TalkPlace, is_answering, new_turn_id, recall, said_in, take_turn
from memories.admin.search.search_page import page_of
from memories.errors import Conflict, Forbidden, Invalid
from memories.models import Citation, Episode, Fact, Memory, MemorySession, Supersession
from memories.search import Hit
from workspaces.adminbase.list_admin import AdminPage
from workspaces.adminbase.row_admin import Button, refusal_text
from workspaces.models import Capability, Workspace
from workspaces.scope import Scope

OFFERED = ("correct", "forget", "case")
LONGEST = 10_000  # characters of a message


class PlaygroundForm(forms.Form):
    """The person and workspace of the talk; only the person's own workspaces can be chosen."""

    workspace = forms.ModelChoiceField(
        Workspace.objects.none(),
        to_field_name="slug",
        empty_label=None,
        widget=UnfoldAdminSelectWidget,
    )
    user = forms.CharField(
        label=_("User id"),
        max_length=200,
        help_text=_("Whom you play: another id is another person."),
        widget=UnfoldAdminTextInputWidget,
    )

    def __init__(self, page: AdminPage, data: dict[str, Any]) -> None:
        first = page.access.usual_workspace()
        super().__init__(
            {"workspace": first.slug if first else "", "user": "visitor"}
            | {name: value for name, value in data.items() if value}
        )
        choice = self.fields["workspace"]
        assert isinstance(choice, forms.ModelChoiceField)
        choice.queryset = page.access.workspaces().order_by("name")


class TalkForm(forms.Form):
    words = forms.CharField(
        label=_("Say something"),
        max_length=LONGEST,
        widget=UnfoldAdminTextareaWidget(
            attrs={
                "rows": 3,
                "placeholder": "I moved to Lisbon in May, and I prefer tea to coffee.",
            }
        ),
    )
    turn = forms.RegexField(r"^[0-9a-f]{32}$", widget=forms.HiddenInput)


@dataclass(frozen=True, slots=True)
class ShownMessage:
    episode: Episode
    segments: list[MarkedText]
    url: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class RecalledHit:
    """A line of the prompt, with the memories based on it and their buttons; `parts` are the parts
    of its score."""

    hit: Hit
    url: str
    beliefs: list[tuple[Memory, list[Button]]]

    @property
    def parts(self) -> list[tuple[str, float]]:
        return sorted(self.hit.scores.items(), key=lambda part: -abs(part[1]))[:4]

    @property
    def quotes(self) -> list[Any]:
        return (self.hit.citations or [])[:2]


@dataclass(frozen=True, slots=True)
class LearnedFact:
    """A fact read from the message, with its quotes and what it replaced or waits for."""

    number: int
    fact: Fact
    quotes: list[str]
    decision: Supersession | None
    buttons: list[Button]


class PlaygroundPage(AdminPage):
    path, name, title = "playground/", "memories_playground", "Playground"
    template_name = "admin/memories/playground.html"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        form = PlaygroundForm(self, request.GET.dict())
        context: dict[str, Any] = {"form": form, "talk": TalkForm(initial={"turn": new_turn_id()})}
        if form.is_valid():
            workspace, place = form.cleaned_data["workspace"], TalkPlace(form.cleaned_data["user"])
            scope = self.access.scope(workspace.pk)
            may_write = self.access.may(Capability.WRITE, workspace.pk)
            if self.is_sent:
                if not may_write:
                    raise PermissionDenied
                talk = TalkForm(request.POST)
                if talk.is_valid() and (turn := self.take(scope, place, talk)):
                    asked = {"workspace": workspace.slug, "user": place.user_id, "turn": turn}
                    return redirect(f"{reverse('admin:memories_playground')}?{urlencode(asked)}")
                context["talk"] = talk
            context |= {"may_write": may_write, "answers": is_answering(scope)}
            context |= self.shown(scope, place, workspace.slug)
        return self.render_to_response(self.get_context_data(**context))

    def take(self, scope: Scope, place: TalkPlace, talk: TalkForm) -> str:
        """Take a turn and return its id; empty, with an error in the form, where that fails."""
        words, turn_id = as_typed(talk.cleaned_data["words"]), talk.cleaned_data["turn"]
        try:
            turn = take_turn(scope, place, words, turn_id)
        except (Conflict, Forbidden, Invalid) as refusal:
            talk.add_error("words", refusal_text(refusal))
            return ""
        if turn.model_error:
            messages.warning(
                self.request,
                gettext("No model answered: %(model_error)s") % {"model_error": turn.model_error},
            )
        return turn.turn_id

    def shown(self, scope: Scope, place: TalkPlace, slug: str) -> dict[str, Any]:
        """Return the talk, and all about one message of it: the one that is asked for, or the
        last."""
        rows, turn_id = said_in(scope, place), self.request.GET.get("turn", "")
        spoken = [row for row in rows if row.role == "user" and row.external_id]
        chosen = next((row for row in spoken if row.external_id == turn_id), None)
        chosen = chosen or (spoken[-1] if spoken else None)
        if chosen is None:
            return {"rows": []}
        here = {"workspace": slug, "user": place.user_id}
        learned = self.learned(scope, chosen)
        served = recall(scope, place, chosen.content, chosen.external_id or "")
        session = chosen.session
        return {
            "rows": shown_messages(rows, chosen, here),
            "chosen": chosen,
            "served": served,
            "recalled": self.recalled(served.hits, chosen, {each.fact.memory_id for each in learned}),
            "learned": learned,
            "session": session,
            "waits": session is not None and not session.is_final,
            "is_stuck": session is not None and session.state in MemorySession.STUCK,
        }

    def recalled(self, hits: list[Hit], chosen: Episode, taken: set[Any]) -> list[RecalledHit]:
        """Return each hit with the memories based on it, each memory once; those in `taken` are
        shown elsewhere."""
        episodes = [hit.row.id for hit in hits if hit.episode]
        standing = defaultdict(list)
        cited = Citation.objects.filter(episode__in=episodes, fact__memory__in=Memory.objects.live())
        for episode, memory in cited.values_list("episode", "fact__memory").order_by("pk"):
            standing[episode].append(memory)
        for hit in hits:
            if hit.memory:
                standing[hit.row.id].append(hit.row.id)
        ids = {each for several in standing.values() for each in several}
        rows = Memory.objects.select_related("workspace", "subject").in_bulk(ids)
        result = []
        for hit in hits:
            own = [each for each in dict.fromkeys(standing[hit.row.id]) if each not in taken]
            taken |= set(own)
            beliefs = [(rows[each], self.buttons(rows[each])) for each in own if each in rows]
            if hit.row.id != chosen.pk and (beliefs or not hit.memory):
                result.append(RecalledHit(hit, page_of(hit), beliefs))
        return result

    def learned(self, scope: Scope, episode: Episode) -> list[LearnedFact]:
        cited = Citation.objects.filter(episode=episode).order_by("start")
        quotes = defaultdict(list)
        for citation in cited:
            quotes[citation.fact_id].append(citation.quote)
        rows = Fact.objects.visible_to(scope).filter(pk__in=quotes)
        facts = rows.select_related("memory__workspace", "memory__subject").order_by("pk")
        decisions = {
            each.new_id: each
            for each in Supersession.objects.filter(new__in=[fact.memory_id for fact in facts])
            .select_related("old")
            .order_by("pk")
        }
        told: set[Any] = set()
        result = []
        for number, fact in enumerate(facts, 1):
            is_first = fact.memory_id not in told
            told.add(fact.memory_id)
            buttons = self.buttons(fact.memory) if fact.memory and is_first else []
            decision = decisions.get(fact.memory_id) if fact.memory_id else None
            result.append(LearnedFact(number, fact, quotes[fact.pk], decision, buttons))
        return result

    def buttons(self, memory: Memory) -> list[Button]:
        """Return those buttons of the memory's own page that the playground offers."""
        own = self.model_admin.admin_site.get_model_admin(Memory)
        return [each for each in own.buttons(self.request, memory) if each.verb.name in OFFERED]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs, back=self.request.get_full_path())


def shown_messages(rows: list[Episode], chosen: Episode, here: dict[str, str]) -> list[ShownMessage]:
    """Mark the words from which something was read; `here` is the talk, as the page's address names
    it."""
    spans = defaultdict(list)
    citations = Citation.objects.filter(episode__in=rows).select_related("fact")
    for citation in citations:
        spans[citation.episode_id].append(CitedSpan(citation.start, citation.end, citation.fact))
    page = reverse("admin:memories_playground")
    result = []
    for row in rows:
        url = f"{page}?{urlencode(here | {'turn': row.external_id or ''})}" if row.role == "user" else ""
        result.append(ShownMessage(row, segments(row.content, spans[row.pk]), url, row.pk == chosen.pk))
    return result

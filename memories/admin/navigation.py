"""Navigation: the side bar, the tabs below each of its entries, breadcrumbs, and the counts of what
waits."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from memories.admin.server.long_job_admin import jobs_of
from memories.belief.cases.inbox import RISKS, InboxFilter
from memories.belief.cases.inbox import waiting as waiting_rows
from memories.models import Case, LongJob, MemorySession
from workspaces.adminbase.access import access_of
from workspaces.adminbase.list_admin import bounded_counts, count_text
from workspaces.models import Capability

MOST_WAITING = 99
KEPT, KEPT_PLACE = "_waiting", "_place"
Words = str | Promise
EVERYWHERE = "everywhere"  # the need of pages for people who see all workspaces


@dataclass(frozen=True, slots=True)
class Waiting:
    """Counts of what needs a person, each up to 99 and one more; `inbox` is all that the inbox
    lists, `work` what runs by itself."""

    decisions: int
    stuck: int
    inbox: int
    work: int


@dataclass(frozen=True, slots=True)
class Tab:
    """A page by the name of its address; `help` is a line below its title, `needs` a capability in
    any workspace."""

    title: Words
    page: str
    help: Words = ""
    needs: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """An entry of the side bar; it leads to the first of its tabs that the person may open.

    `waits` is a field of Waiting. A section `within` another is not in the side bar: the last tab
    of the other one leads to it.
    """

    title: Words
    icon: str
    tabs: tuple[Tab, ...]
    waits: str = ""
    within: "Section | None" = None


# To add a page, add a Tab to its section: the name of its address is enough. It then appears in
# the row of tabs, in Ctrl-K and in the breadcrumbs; pages below its address (a row's own page, a
# form) belong to it, too. Its title is shown by the list and by the browser's tab. The side bar has
# at most ten entries: a new page is a tab, never an entry. A page whose address begins with no
# tab's fails tests/admin/test_navigation.py.
SETTINGS = Section(
    _("Settings"),
    "settings",
    (
        Tab(_("Workspaces"), "workspaces_workspace_changelist"),
        Tab(_("Members"), "workspaces_membership_changelist"),
        Tab(_("Invitations"), "workspaces_invitation_changelist", needs=Capability.ADMIN),
        Tab(_("Agents"), "workspaces_agent_changelist"),
        Tab(_("Connect agents"), "workspaces_connect"),
        Tab(_("API keys"), "workspaces_apikey_changelist", needs=Capability.ADMIN),
        Tab(
            _("Webhooks"),
            "memories_webhook_changelist",
            _("Addresses of other programs that are told when something changes."),
            Capability.ADMIN,
        ),
        Tab(
            _("Deliveries"),
            "memories_webhookdelivery_changelist",
            _("What webhooks were told, and what they answered."),
            Capability.ADMIN,
        ),
    ),
)
MENU = (
    Section(_("Home"), "home", (Tab(_("Home"), "index"),)),
    Section(
        _("Inbox"),
        "inbox",
        (
            Tab(_("Waiting"), "memories_inbox"),
            Tab(_("Decided"), "memories_decided"),
            Tab(
                _("Requests"),
                "memories_intent_changelist",
                _("What people asked of the memory in their own words: remember, correct, forget."),
            ),
            Tab(
                _("Cases"),
                "memories_case_changelist",
                _("All questions that a machine could not answer alone, open and closed."),
            ),
            Tab(
                _("Decisions"),
                "memories_supersession_changelist",
                _("Each time one memory took the place of another, by a person or by a rule."),
            ),
        ),
        waits="inbox",
    ),
    Section(
        _("Memories"),
        "neurology",
        (
            Tab(_("Memories"), "memories_memory_changelist"),
            Tab(
                _("Statements"),
                "memories_fact_changelist",
                _("What was read out of messages and documents, word for word."),
            ),
            Tab(
                _("Not learned again"),
                "memories_rejection_changelist",
                _("What people said is wrong. It is not learned when it is said again."),
            ),
            Tab(_("Repeats"), "memories_repeats"),
            Tab(_("Who sees what"), "memories_visibility"),
        ),
    ),
    Section(
        _("People"),
        "face",
        (
            Tab(_("People"), "workspaces_subject_changelist"),
            Tab(
                _("Profiles"),
                "memories_featureset_changelist",
                _("Short notes about a person or a team, kept up to date from what is said."),
            ),
            Tab(
                _("Profile notes"),
                "memories_feature_changelist",
                _("Each note of each profile, with the messages that it stands on."),
            ),
        ),
    ),
    Section(
        _("Documents"),
        "description",
        (
            Tab(_("Documents"), "memories_document_changelist"),
            Tab(_("Add files"), "memories_upload"),
            Tab(
                _("Spaces"),
                "memories_space_changelist",
                _("Shelves of documents: programs search one, and a key may be limited to some."),
            ),
            Tab(
                _("Sources"),
                "memories_connection_changelist",
                _("Folders, sites and drives that documents are fetched from."),
                Capability.CURATE,
            ),
        ),
    ),
    Section(
        _("Conversations"),
        "forum",
        (
            Tab(_("Conversations"), "memories_conversation_changelist"),
            Tab(_("Messages"), "memories_episode_changelist"),
            Tab(
                _("Intake"),
                "memories_memorysession_changelist",
                _("Each time something came in: what was learned from it, or why nothing was."),
            ),
            Tab(_("Try it out"), "memories_playground"),
        ),
    ),
    Section(
        _("Search"),
        "search",
        (
            Tab(_("Search"), "memories_search"),
            Tab(_("Why not found?"), "memories_why_not"),
            Tab(_("Test questions"), "memories_golden"),
        ),
    ),
    Section(
        _("Rules"),
        "checklist",
        (
            Tab(_("Rules"), "memories_rules"),
            Tab(
                _("Own patterns"),
                "memories_workspacepattern_changelist",
                _("Forms of words of this workspace, and what is learned from them."),
            ),
            Tab(
                _("Attributes"),
                "memories_workspaceslot_changelist",
                _("What somebody has only one of: a newer value takes the place of the older."),
            ),
            Tab(
                _("Change words"),
                "memories_workspacechange_changelist",
                _("Words that tell that something has changed or ended."),
            ),
            Tab(_("Policy"), "memories_policy"),
            Tab(_("Instructions"), "memories_instructions"),
            Tab(
                _("How sure the judge is"),
                "memories_judge_thresholds",
                _("From which probability on the judge acts, asks, keeps and forgets, tried on the last week."),
            ),
            Tab(
                _("Not understood"),
                "memories_miss_changelist",
                _("Texts that no rule read although they say something about somebody."),
            ),
            Tab(_("Try a text"), "memories_preview"),
            Tab(_("Judge"), "memories_judge"),
            Tab(_("What the judge learned"), "memories_learned"),
        ),
    ),
    Section(
        _("Activity"),
        "history",
        (
            Tab(
                _("Activity"),
                "workspaces_auditentry_changelist",
                _("Who did what, and why."),
                Capability.CURATE,
            ),
            Tab(
                _("Work"),
                "memories_longjob_changelist",
                _("What takes long: imports, exports, backups, new vectors, repairs, erasures."),
            ),
            Tab(_("Speed"), "memories_plots"),
            Tab(
                _("Measured runs"),
                "memories_evaluationrun_changelist",
                _("How well and how fast answers were, each time it was measured."),
                EVERYWHERE,
            ),
            Tab(_("Usage"), "memories_usage", needs=Capability.ADMIN),
            Tab(_("Costs"), "memories_costs", needs=Capability.ADMIN),
            Tab(
                _("Erasures"),
                "memories_erasure_changelist",
                _("What was erased for good, for whom, and how far each one is."),
                Capability.ADMIN,
            ),
        ),
    ),
    SETTINGS,
    Section(
        _("Server"),
        "dns",
        (
            Tab(_("Accounts"), "workspaces_user_changelist", needs=EVERYWHERE),
            Tab(_("Server keys"), "workspaces_serverkey_changelist", needs=EVERYWHERE),
            Tab(_("Removals"), "workspaces_workspaceremoval_changelist", needs=EVERYWHERE),
            Tab(_("Wrong logins"), "workspaces_loginattempt_changelist", needs=EVERYWHERE),
            Tab(_("Models"), "memories_breaker_changelist", needs=EVERYWHERE),
            Tab(_("Prices"), "memories_modelprice_changelist", needs=EVERYWHERE),
            Tab(_("Waiting tasks"), "django_q_ormq_changelist", needs=EVERYWHERE),
            Tab(
                _("Backups"),
                "memories_backups",
                _("When the whole server was backed up, and how it is done."),
                EVERYWHERE,
            ),
            Tab(_("Workers"), "memories_workerbeat_changelist", needs=EVERYWHERE),
            Tab(_("Index repairs"), "memories_indexrepair_changelist", needs=EVERYWHERE),
        ),
        within=SETTINGS,
    ),
)


@dataclass(frozen=True, slots=True)
class Place:
    """The person's place in the navigation: `links` has the address of each tab of the section."""

    section: Section
    tab: Tab
    links: dict[Tab, str]

    @property
    def link(self) -> str:
        """The address of the tab."""
        return self.links[self.tab]

    @property
    def top(self) -> tuple[Tab, str]:
        """The section's first page and its address."""
        return next(iter(self.links.items()))


def waiting(request: HttpRequest) -> Waiting:
    """Count once per request: the home page shows the numbers of the side bar."""
    known: Waiting | None = getattr(request, KEPT, None)
    if known is None:
        access = access_of(request)
        pending = Case.objects.filter(state=Case.State.OPEN)
        stuck = MemorySession.objects.filter(state__in=[MemorySession.State.FAILED, MemorySession.State.DEAD])
        failures = waiting_rows(lambda rows: access.limit(rows, "workspace"), InboxFilter(frozenset(RISKS)))
        running = jobs_of(access) & LongJob.objects.running()
        cases, sessions, work, *others = bounded_counts(
            access.limit(pending, "workspace"),
            access.limit(stuck, "workspace"),
            running,
            *failures.values(),
            most=MOST_WAITING,
        )
        known = Waiting(cases, sessions, cases + sum(others), work)
        setattr(request, KEPT, known)
    return known


def open_sections(request: HttpRequest) -> Iterator[tuple[Section, dict[Tab, str]]]:
    """Yield each section with the addresses of those of its tabs that the person may open."""
    access = access_of(request)
    for section in MENU:
        links = {
            tab: reverse(f"admin:{tab.page}")
            for tab in section.tabs
            if not tab.needs or (access.everywhere if tab.needs == EVERYWHERE else access.may_somewhere(tab.needs))
        }
        if links:
            yield section, links


def place_of(request: HttpRequest) -> Place | None:
    """Return the tab whose address is the longest beginning of the page's; None where none fits."""
    known: Place | None = getattr(request, KEPT_PLACE, None)
    if known is None:
        home = reverse("admin:index")
        places = [
            Place(section, tab, links)
            for section, links in open_sections(request)
            for tab, link in links.items()
            if request.path == link or (link != home and request.path.startswith(link))
        ]
        known = max(places, key=lambda place: len(place.link), default=None)
        setattr(request, KEPT_PLACE, known)
    return known


def context(request: HttpRequest) -> dict[str, Any]:
    """Unfold's global callback: the context of breadcrumbs and titles."""
    place = place_of(request)
    return {
        "place": place,
        "is_tab": place is not None and request.path == place.link,
        "running_work": waiting(request).work if access_of(request).is_let_in else 0,
    }


def sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    place, now = place_of(request), waiting(request)
    here = place and (place.section.within or place.section)
    items = []
    for section, links in open_sections(request):
        if section.within:
            continue
        item: dict[str, Any] = {
            "title": section.title,
            "icon": section.icon,
            "link": next(iter(links.values())),
            "active": here is section,
        }
        if count := getattr(now, section.waits) if section.waits else 0:
            item |= {"badge": count_text(count, MOST_WAITING), "badge_variant": "warning"}
        items.append(item)
    return [{"title": "", "items": items}]


def tabs(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the tabs of the page's section; a row's own page has breadcrumbs instead."""
    place = place_of(request)
    if place is None or request.path != place.link:
        return []
    row = [(tab.title, link) for tab, link in place.links.items()]
    for section, links in open_sections(request):
        if section is place.section.within:
            row.insert(0, (section.title, next(iter(links.values()))))
        if section.within is place.section:
            row.append((section.title, next(iter(links.values()))))
    if len(row) < 2:
        return []
    items = [{"title": title, "link": link, "active": request.path == link} for title, link in row]
    return [{"page": "place", "items": items}]

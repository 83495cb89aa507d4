"""The search for single-valued attributes that a statement gives to a subject: states (married,
vegan, closed, red, a nurse), tools, what is told by forms of words, preferences, and how many of a
thing somebody has."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from memories.language.english.statements.attributes import (
    OF_PEOPLE,
    OF_THINGS,
    Slot,
    SlotForm,
    condition_of,
    text_of,
    value_of,
)
from memories.language.english.statements.auxiliaries import RENAMED, Parse, is_date, is_time, key
from memories.language.english.statements.word_lists import (
    CLOCK_VERBS,
    GROUPS,
    MANY,
    PREPOSITIONS,
    PROFESSIONS,
    RIVALS,
    ROLES,
    SINGLE,
    WHEN_VERBS,
)
from memories.language.english.statements.wording import RELATIVE_DATES, Word, root

# Tools in a role: "uses Postgres", "switched from Jest to Vitest", "Node 20".

SHORT = 16  # words; a longer text tells more than one version
NUMBERED = frozenset(
    "phase step day week month chapter part task level module section room floor stage sprint "
    "ticket bug issue task unit lesson line gate platform group team grade class year q".split()
)
TOOL_VERBS = frozenset(
    map(
        root,
        "use run deploy host switch migrate move replace adopt choose pick drop dropped change "
        "keep track store manage be install go prefer settle standardize handle rely be".split(),
    )
) | {RENAMED}
OURS = frozenset(map(root, "project app application build codebase repo repository system product".split()))
ROLE_NAMES = {
    "database": "database",
    "storag": "database",
    "data": "database",
    "authentication": "authentication",
    "cach": "cache",
    "queue": "queue",
    "ci": "ci",
    "bundl": "bundler",
    "chat-team": "chat",
    "host": "hosting",
    "deploy": "hosting",
    "monitor": "monitoring",
    "browser": "browser",
    "email": "mail",
    "mail": "mail",
    "call": "calls",
    "music": "music",
    "note": "notes",
    "editor": "editor",
    "search": "search",
    "styl": "styling",
}

# The purpose of a tool, if nothing else says it.
TOOLS = {
    "database": "mysql postgres postgresql mongodb mongo sqlite mariadb oracle dynamodb cassandra "
    "cockroachdb couchdb firestore supabase",
    "authentication": "jwt clerk auth0 oauth okta cognito keycloak firebaseauth",
    "ci": "jenkins circleci travis buildkite teamcity githubactions gitlabci",
    "chat": "slack mattermost discord zulip teams",
    "editor": "vscode vim neovim emacs pycharm intellij webstorm sublime zed nvim cursor",
    "framework": "react vue angular svelte solid",
    "server-framework": "django flask fastapi rails laravel express nestjs spring",
    "hosting": "heroku aws gcp azure vercel netlify fly.io render digitalocean railway hetzner",
    "bundler": "webpack vite rollup esbuild parcel turbopack",
    "package-manager": "npm yarn pnpm bun",
    "queue": "rabbitmq kafka sqs",
    "cache": "redis memcached valkey",
    "tracker": "jira linear trello asana notion todoist",
    "browser": "chrome firefox safari edge brave",
    "version-control": "git mercurial svn",
    "vault": "lastpass bitwarden 1password keepass",
    "language": "python go golang rust java kotlin scala ruby php typescript javascript c# c++ elixir haskell swift",
    "system": "ubuntu debian fedora linux windows macos mac arch",
    "state": "redux zustand mobx recoil pinia vuex",
    "tests": "jest vitest mocha pytest unittest cypress playwright selenium",
    "orm": "prisma sequelize typeorm drizzle sqlalchemy",
    "monitoring": "datadog prometheus newrelic grafana sentry",
    "search": "elasticsearch opensearch algolia meilisearch solr",
    "styling": "tailwind bootstrap sass bulma",
    "infrastructure": "terraform pulumi cloudformation ansible",
    "container": "docker podman",
    "mail": "gmail protonmail outlook fastmail yahoo hotmail",
    "calls": "zoom webex meet skype",
    "phone-system": "android ios iphone blackberry",
    "music": "spotify deezer tidal",
    "notes": "evernote obsidian onenote",
    "assistant": "chatgpt claude gemini copilot",
}

# Everyday words too: tools only where they are written like names.
AMBIGUOUS_TOOLS = frozenset(
    "express go solid spring teams edge render arch meet tidal swift oracle cursor linear notion ruby rust bun "
    "zed safari brave bootstrap vault sass jest mocha opera windows fly slack discord azure svelte "
    "puppet drizzle react python java c prisma".split()
)


_running = TOOL_VERBS | frozenset(
    map(root, "require need support upgrade target update bump pin compile build work".split())
)


_roles_of_tools: dict[str, str] = {tool: role for role, tools in TOOLS.items() for tool in tools.split()}


FORMS = (*OF_PEOPLE, *OF_THINGS)
# "switched her bank to DNB", "got a new bank, DNB": the noun is the attribute.
NOUN_FORMS = (
    "{s} change|switch|update|move {k} to {v}",
    "{s} replace {k} with {v}",
    "{s} replace by {v} as {k}",
    "{v} replace {s} as {k}",
    "{v} become as? {k}",
    "{s} get|buy|have|choose new {k} , {v}",
    "{s} get|buy|have|choose new {k} call|name {v}",
)
# Attributes whose owner is not the subject of the form
OTHERS_NOUN_FORMS = frozenset(NOUN_FORMS[2:5])
SOCIETIES = frozenset("club group society association choir team band church gym union".split())
OLDEST = 120  # years
MONEY = frozenset("dollar euro pound percent".split())
WORKING = frozenset("work works".split())
DAIRY = frozenset(map(root, "cheese egg eggs milk dairy yogurt butter".split()))
MEAT = frozenset(map(root, "meat fish chicken beef pork steak everything".split()))
PREFER = frozenset(map(root, "prefer want like favor rather".split()))


def tool_role(word: Word) -> str:
    """Return the purpose of the tool with that name; empty for any other word."""
    if word.text in AMBIGUOUS_TOOLS and not word.is_name:
        return ""
    return _roles_of_tools.get(word.text, "")


def tools(parse: Parse) -> Iterator[Slot]:
    predicate = parse.predicate
    named = [(i, w) for i, w in enumerate(parse.words) if tool_role(w)]
    if predicate and named and predicate[0].root in TOOL_VERBS:
        yield from _tool_in_role(parse, named)
    # "Login is handled by Auth0 for the team".
    for i, tool in named if parse.is_passive else ():
        after = parse.words[i + 1 :]
        is_owned = parse.words[i - 1].text == "by" and after and after[0].text in ("for", "in")
        if is_owned and (owner := key(value_of(after))):
            yield Slot(owner, "tool", tool_role(tool), tool.root)
            break
    if len(parse.words) < SHORT and predicate and predicate[0].root in _running:
        # "runs on Node 20", "requires Python version 3.9"; not "is in Phase 2"
        for i, word in enumerate(parse.words[:-1]):
            number = parse.words[i + 1]
            if number.text == "version" and i + 2 < len(parse.words):
                number = parse.words[i + 2]
            is_versioned = tool_role(word) or word.is_name and word.text not in NUMBERED
            if is_versioned and i >= parse.verb and number.is_number and not parse.is_past:
                yield Slot(key(parse.noun_phrase), "version", word.root, number.root)


def _tool_in_role(parse: Parse, named: Sequence[tuple[int, Word]]) -> Iterator[Slot]:
    in_predicate = [(i, w) for i, w in named if i >= parse.verb]
    if not in_predicate:
        return
    i, tool = _chosen(parse.words, in_predicate)
    role = tool_role(tool)
    heads = range(i + 1, len(parse.words) - 1)
    purposes = (parse.words[j + 1 :] for j in heads if parse.words[j].text in ("for", "as"))
    purpose = key(value_of(next(purposes, ())))
    explicit = ROLE_NAMES.get(purpose, purpose)
    subject = key(parse.noun_phrase)
    after = parse.words[i + 1 : i + 2]
    if explicit or not after or after[0].is_function or after[0].is_number:
        # Where or with whom it is used: "in production", "with clients".
        is_limited = bool(after) and after[0].text in ("in", "on", "with")
        limits = value_of(parse.words[i + 1 :]) if is_limited else []
        limit = "" if any(map(tool_role, limits)) else key(limits)
        kept = f"{explicit or role} {limit}".rstrip()
        # The project's bundler is the team's.
        yield Slot(("team" if subject in OURS else subject), "tool", kept, tool.root)


def _chosen(words: Sequence[Word], named: Sequence[tuple[int, Word]]) -> tuple[int, Word]:
    """Return B, with its place, of "from A to B", "A with B", "A in favour of B"."""
    for i, word in named:
        if i and words[i - 1].text in ("with", "by", "infavorof"):
            return i, word
    for i, word in named:
        if words[i - 1].text not in ("from", "insteadof", "over"):
            return i, word
    return named[-1]


# Attributes told by forms of words, and by a noun phrase: "the budget of the kitchen is 5,000
# euros".

_clock = frozenset(map(root, CLOCK_VERBS))
_when = frozenset(map(root, WHEN_VERBS)) | {RENAMED}
single = frozenset(map(root, SINGLE))
_many = frozenset(map(root, MANY))


def noun_phrase_slots(parse: Parse) -> Iterator[Slot]:
    phrase, predicate = parse.noun_phrase, parse.predicate
    if len(predicate) < 2:
        return
    verb = predicate[0].root
    subject, head = split(phrase)
    if not head:
        return
    if verb in _clock and (hours := [w.root for w in predicate if is_time(w)]):
        yield Slot(key(phrase), verb, "time", hours[0])
    days = [w.root for w in predicate if is_date(w) and not is_time(w)]
    is_named = parse.is_definite or "'s" in {w.text for w in phrase}
    is_telling = not parse.is_past and not predicate[0].is_function
    if verb not in _when and is_named and is_telling and 0 < len(days) < 3:
        # "The play opens in May" as "the opening of the play is in May".
        yield Slot(key(phrase), verb, "day", " ".join(days))
    if verb in _when:
        if days and not set(days) <= RELATIVE_DATES:
            yield Slot(subject, head, "day", " ".join(days))
        if times := [w.root for w in predicate if is_time(w)]:
            yield Slot(subject, head, "time", " ".join(times))
    if verb not in ("be", RENAMED) or (parse.is_past and verb == "be"):
        return
    yield from _measures(parse, subject, head)


def split(phrase: Sequence[Word]) -> tuple[str, str]:
    """Return (all but the head, head): ("kitchen", "budget") for "budget for the kitchen"."""
    if len(phrase) > 2 and phrase[0].text == "team" and phrase[1].root == "'s":
        phrase = phrase[2:]
    after = [i for i, word in enumerate(phrase) if word.root == "'s"]
    segment = list(phrase[after[-1] + 1 :] if after else phrase)
    cut = next((i for i, w in enumerate(segment) if i and w.text in PREPOSITIONS), len(segment))
    heads = [word for word in segment[:cut] if not word.is_function]
    if not heads:
        return "", ""
    head = heads[-1]
    if head.root in ("date", "day", "time") and len(heads) > 1:
        phrase, head = [word for word in phrase if word is not head], heads[-2]
    return key([word for word in phrase if word is not head]), head.root


def _measures(parse: Parse, subject: str, head: str) -> Iterator[Slot]:
    said = value_of(parse.predicate[1:])
    if not said or is_date(said[0]):
        return
    value = " ".join(word.root for word in said)
    tools = [word for word in said if tool_role(word)]
    if tools and any(word.text in ("'s", "of", "for") for word in parse.noun_phrase):
        yield Slot(owner(parse) or subject, "tool", tool_role(tools[0]), tools[0].root)
    if said[0].is_number and len(said) < 4:
        condition = key(condition_of(parse.predicate[1:]))
        yield Slot(subject, head, f"number {condition}".rstrip(), value)
    elif head in single and subject:
        yield Slot(subject, head, "", value)
    elif (
        (head not in _many or "best" in subject)
        and (subject or parse.is_definite)
        and any(word.is_name or word.text[:1].isdigit() for word in said)
        or parse.predicate[0].root == RENAMED
        and len(parse.noun_phrase) > 1
    ):
        yield Slot(subject, head, "is", value)


def owner(parse: Parse) -> str:
    phrase = parse.noun_phrase
    cut = next((i for i, word in enumerate(phrase) if word.root == "'s"), 0)
    return key(phrase[:cut])


_common = frozenset({"be", "'s", "have", "in", "of", "to", "at"})


def compile_form(form: str) -> tuple[frozenset[str], re.Pattern[str]]:
    """Return (words of which one must be there, pattern over `Parse.form`)."""
    triggers: frozenset[str] = frozenset()
    pattern = "^"
    for part in form.split():
        if part in ("{s}", "{v}", "{k}") and form.endswith(part):
            pattern += rf"(?P<{part[1]}>(?:[^ ]+ )+)"
        elif part in ("{s}", "{v}", "{k}"):
            pattern += rf"(?P<{part[1]}>(?:[^ ]+ ){{1,{3 if part == '{k}' else 8}}}?)"
        elif part == "{x}":
            pattern += r"(?:[^ ]+ ){0,3}?"
        else:
            words = [root(word) for word in part.rstrip("?").split("|")]
            pattern += f"(?:{'|'.join(re.escape(word) for word in words)}) "
            if part == "'s":
                pattern += "(?:new |current )?"
            if part.endswith("?"):
                last = f"(?:{'|'.join(re.escape(word) for word in words)}) "
                pattern = f"{pattern.removesuffix(last)}(?:{last})?"
            elif not triggers or triggers <= _common:
                triggers = frozenset(words)
    return triggers, re.compile(pattern)


def forms(parse: Parse) -> Iterator[Slot]:
    yield from _noun_forms(parse)
    form = parse.form
    by_trigger, rows = _by_trigger(), _compiled
    told = {place for word in parse.words for place in by_trigger.get(word.root, ())}
    for row, regex in (rows[place] for place in sorted(told)):
        if parse.is_past and not row.is_change:
            continue
        match = regex.search(form)
        if match:
            yield from _matched(parse, row, match)


def _noun_forms(parse: Parse) -> Iterator[Slot]:
    said = {word.root for word in parse.predicate}
    for form, triggers, regex in _compiled_noun_forms:
        if triggers.isdisjoint(said):
            continue
        if match := regex.search(parse.form):
            subject, head = split(_words_at(parse, match, "k"))
            value = value_of(_words_at(parse, match, "v"))
            owner = "" if form in OTHERS_NOUN_FORMS else key(_words_at(parse, match, "s"))
            if head in single and value and (subject or owner):
                parts = {*subject.split("-"), *owner.split("-")} - {""}
                yield Slot("-".join(sorted(parts)), head, "", text_of(value))


_compiled_noun_forms: tuple[tuple[str, frozenset[str], re.Pattern[str]], ...] = tuple(
    (form, *compile_form(form)) for form in NOUN_FORMS
)


def _matched(parse: Parse, row: SlotForm, match: re.Match[str]) -> Iterator[Slot]:
    groups = {name: _words_at(parse, match, name) for name in match.re.groupindex}
    value = value_of(groups["v"])
    if match.end("s") == len(match.string) and not row.of_known:
        groups["s"] = value_of(groups["s"])
    said = groups.get("k", [])
    if not value or not _fits(row, value, groups["v"]):
        return
    if row.of_known and groups["s"][0].root not in parse.known:
        return
    if row.slot == "role" and not any(word.text in ROLES for word in said):
        return
    is_joined = row.is_joined or row.slot == "name" and bool(said)
    subjects = [key([*groups["s"], *said])] if is_joined else _each_of(groups["s"])
    # A price holds for adults, or in winter: another one is no change.
    said = [] if is_joined else said or (condition_of(groups["v"]) if row.slot == "price" else [])
    text = " ".join(word.root for word in value)
    text = text[:-2] if row.values == "nth" else text
    for subject in subjects:
        yield Slot(subject, row.slot, key(said), text)


def _each_of(phrase: Sequence[Word]) -> list[str]:
    """ "Ann and Bo moved to Oslo" is said of each."""
    cuts = [i for i, word in enumerate(phrase) if word.text == "and"]
    if len(cuts) != 1:
        return [key(phrase)] if key(phrase) else []
    return [name for name in (key(phrase[: cuts[0]]), key(phrase[cuts[0] + 1 :])) if name]


def _words_at(parse: Parse, match: re.Match[str], name: str) -> list[Word]:
    start = match.string.count(" ", 0, match.start(name))
    return parse.words[start : start + match[name].count(" ")]


def _fits(row: SlotForm, value: Sequence[Word], told: Sequence[Word]) -> bool:
    match row.values:
        case "" | "no work":
            is_own = "'s" not in {w.text for w in told} and value[0].text not in WORKING
            return not is_date(value[0]) and (not row.values or is_own)
        case "#":
            return value[0].is_number
        case "nth":
            return value[0].root[:1].isdigit() and value[0].root[-2:] in ("st", "nd", "rd", "th")
        case "no #":
            return not any(word.is_number or is_date(word) for word in value)
        case "$":
            return value[0].is_number and any(w.root in MONEY for w in value)
        case "#1":
            return len(told) == 1 and value[0].root.isdigit() and int(value[0].root) <= OLDEST
        case "@":
            return any(map(is_date, value))
        case "*":
            return not is_date(value[0]) and any(w.is_name or tool_role(w) for w in value)
        case "**":
            return all(w.is_name for w in value) and value[-1].text not in SOCIETIES
    return any(word.root in _roots_of(row.values) for word in value)


@cache
def _roots_of(text: str) -> frozenset[str]:
    return frozenset(map(root, text.split()))


_compiled: tuple[tuple[SlotForm, re.Pattern[str]], ...] = tuple(
    (row, compile_form(form)[1]) for row in FORMS for form in row.forms
)


@cache
def _by_trigger() -> dict[str, list[int]]:
    """Return the places in `_compiled` by a word that must be there."""
    found: dict[str, list[int]] = {}
    for place, form in enumerate(form for row in FORMS for form in row.forms):
        for trigger in compile_form(form)[0]:
            found.setdefault(trigger, []).append(place)
    return found


def slots_of(parse: Parse) -> tuple[Slot, ...]:
    """Return every single-valued attribute that is told as true now; none for plans, denials or
    what is past."""
    if "past" in parse.change or parse.is_plan:
        wishes = () if parse.denials else tuple(preferences(parse))
        return wishes
    if parse.denials:
        return ()
    found = [*states(parse), *tools(parse), *preferences(parse)]
    if not parse.flips:
        found += forms(parse)
    if not parse.is_past or RENAMED in (w.root for w in parse.predicate[:1]) or parse.is_passive:
        found += noun_phrase_slots(parse)
        found += counts(parse)
    return tuple(dict.fromkeys(slot for slot in found if slot.value))


_couple = frozenset(map(root, "be get have become remain".split()))
_become = frozenset(map(root, "be become turn go follow stay remain eat get start begin".split()))
_color_verbs = frozenset(map(root, "be turn".split()))


def states(parse: Parse) -> Iterator[Slot]:
    near = parse.predicate[:5]
    for name in ("relationship", "diet", "status", "color"):
        values = GROUPS[name]
        for position, word in enumerate(near):
            value = values.get(word.text)
            if value and _is_said(parse, name, position):
                yield from _each(parse, name, value)
                break
    yield from _by_verb(parse)


def _is_said(parse: Parse, name: str, position: int) -> bool:
    first = parse.predicate[0]
    if parse.denials:
        return False
    match name:
        case "relationship":
            return (position == 0 or first.root in _couple) and all(word.root != "'s" for word in parse.noun_phrase)
        case "status":
            # "is open", "was closed", "is now live"; not "opens the door", "is open to".
            after = [word.text for word in parse.predicate[position : position + 2]]
            if after == ["open", "to"] or (len(after) > 1 and after[0] in ("on", "off")):
                return False
            if position == 0:
                return first.text in parse.passives or first.text.endswith("ing")
            is_next = position == 1 or position == 2 and parse.predicate[1].text in ("in", "for")
            return is_next and first.root in ("be", "become", root("get"), root("go"))
        case "color":
            return position <= 2 and (first.root in _color_verbs or parse.is_passive)
    return position == 0 or first.root in _become


def _each(parse: Parse, name: str, value: str) -> Iterator[Slot]:
    """ "Ann and Bo got married" is said of each."""
    phrase = parse.noun_phrase
    cuts = [i for i, word in enumerate(phrase) if word.text == "and"]
    if name == "relationship" and len(cuts) == 1:
        yield Slot(key(phrase[: cuts[0]]), name, "", value)
        yield Slot(key(phrase[cuts[0] + 1 :]), name, "", value)
    else:
        yield Slot(key(phrase), name, "", value)


def _by_verb(parse: Parse) -> Iterator[Slot]:
    roots = [word.root for word in parse.predicate]
    subject = key(parse.noun_phrase)
    if parse.denials or not roots:
        return
    if root("eat") in roots[:3] and DAIRY & set(roots) and parse.change:
        yield Slot(subject, "diet", "", "vegetarian")
    if root("eat") in roots[:2] and MEAT & set(roots) and (parse.change or "everyth" in roots):
        yield Slot(subject, "diet", "", "omnivore")
    if roots[0] not in ("be", root("become")) or len(roots) < 2 or parse.is_past:
        return
    said = value_of(parse.predicate[1:])
    if said and len(said) < 4 and said[-1].text in PROFESSIONS:
        yield Slot(key(parse.noun_phrase), "job", "", " ".join(word.root for word in said))
        employer = [i for i, w in enumerate(parse.predicate) if w.text in ("at", "for")]
        if employer and (at := value_of(parse.predicate[employer[0] :])) and not is_date(at[0]):
            yield Slot(key(parse.noun_phrase), "employer", "", " ".join(word.root for word in at))


@cache
def _rivals() -> dict[str, tuple[str, frozenset[str]]]:
    found: dict[str, tuple[str, frozenset[str]]] = {}
    for group in RIVALS:
        members = frozenset(map(root, group.split()))
        found |= {member: (group.split()[0], members) for member in members}
    return found


def preferences(parse: Parse) -> Iterator[Slot]:
    predicate = parse.predicate
    if not predicate or predicate[0].root not in PREFER:
        return
    subject = key(parse.noun_phrase)
    rest = predicate[1:]
    over = next((i for i, w in enumerate(rest) if w.text in ("over", "to", "than")), 0)
    if over and root("prefer") == predicate[0].root or over and rest[over].text == "over":
        chosen, other = key(rest[:over]), key(value_of(rest[over + 1 :]))
        if chosen and other:
            yield Slot(subject, "preferred", "|".join(sorted((chosen, other))), chosen)
            return
    if predicate[0].root == root("like") and "now" not in parse.change:
        return
    said = [word for word in rest if not word.is_function]
    for word in said:
        if word.root in _rivals():
            name, members = _rivals()[word.root]
            about = "-".join(sorted(w.root for w in said if w.root not in members))
            yield Slot(subject, "preferred", f"{name}:{about}", word.root)
            return


_owning = frozenset(map(root, "have own keep employ".split()))


def counts(parse: Parse) -> Iterator[Slot]:
    """ "has three cats"."""
    predicate = parse.predicate
    if len(predicate) > 2 and predicate[0].root in _owning and predicate[1].is_number:
        thing = predicate[2].root
        yield Slot(key(parse.noun_phrase), "count", thing, predicate[1].root)

"""Tools in a role: "uses Postgres", "switched from Jest to Vitest", "Node 20"."""

from collections.abc import Iterator, Sequence

from memories.english.statements.attribute_forms import Slot, value_of
from memories.english.statements.auxiliaries import RENAMED, Parse, key
from memories.english.statements.wording import Word, root

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
OURS = frozenset(
    map(root, "project app application build codebase repo repository system product".split())
)
ROLE_NAMES = {
    "database": "database", "storag": "database", "data": "database", "authentication": "authentication",
    "cach": "cache", "queue": "queue", "ci": "ci", "bundl": "bundler", "chat-team": "chat",
    "host": "hosting", "deploy": "hosting", "monitor": "monitoring", "browser": "browser",
    "email": "mail", "mail": "mail", "call": "calls", "music": "music", "note": "notes",
    "editor": "editor", "search": "search", "styl": "styling",
}  # fmt: skip

# What a tool is for, where nothing else tells.
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
    "language": "python go golang rust java kotlin scala ruby php typescript javascript c# c++ "
    "elixir haskell swift",
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


_roles_of_tools: dict[str, str] = {
    tool: role for role, tools in TOOLS.items() for tool in tools.split()
}


def tool_role(word: Word) -> str:
    """What the tool of that name is for; empty for any other word."""
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
    """Of "from A to B", "A with B", "A in favour of B": B."""
    for i, word in named:
        if i and words[i - 1].text in ("with", "by", "infavorof"):
            return i, word
    for i, word in named:
        if words[i - 1].text not in ("from", "insteadof", "over"):
            return i, word
    return named[-1]

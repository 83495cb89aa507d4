"""Words that deny one another, and words of which only one can hold. Data only."""

# A word that says "not" about another. "hates olives" and "does not like olives" deny alike.
NEGATIVES = {
    "hate": "love", "dislike": "love", "detest": "love", "loathe": "love", "despise": "love",
    "unable": "can", "unemployed": "employ", "jobless": "employ", "unpaid": "paid",
    "inactive": "active", "disabled": "enabled", "closed": "open", "resolved": "open",
    "offline": "online", "unhappy": "happy", "unmarried": "married", "incomplete": "complete",
    "lack": "have", "lacks": "have", "lacking": "have", "forbid": "allow", "forbidden": "allow",
    "forbids": "allow", "ban": "allow", "banned": "allow", "disallow": "allow", "bad": "good",
    "poor": "good", "failing": "passing", "fail": "passes", "fails": "passes", "failed": "passes",
    "broken": "working", "unavailable": "available", "impossible": "possible",
    "unsafe": "safe", "insecure": "secure", "optional": "required", "unnecessary": "required",
    "distrust": "trust", "disagree": "agree", "disagrees": "agree", "ill": "healthy",
    "sick": "healthy", "absent": "here", "unsure": "sure", "uncertain": "sure",
    "unfinished": "complete", "unfamiliar": "familiar", "uninterested": "interested",
    "private": "public", "inaccessible": "accessible", "out-of-stock": "available",
    "invisible": "visible", "unlocked": "locked", "unsubscribed": "subscribed",
    "unread": "read", "unverified": "verified", "unsupported": "supported",
}  # fmt: skip

# Two statements that differ in such a word speak of two things, never of one.
ORDER = frozenset(
    """
    first second third fourth fifth sixth seventh eighth ninth tenth last previous next former
    1st 2nd 3rd 4th 5th 6th 7th 8th 9th 10th before after outbound return inbound left right
    morning afternoon evening night noon upper lower ground front rear north south east west
    northern southern eastern western early late spring summer autumn fall winter minimum maximum
    min max p50 p90 p95 p99 staging production dev internal external incoming outgoing import
    export upload download input output frontend backend boy girl boys girls men women male female
    junior senior older younger elder big small indoor outdoor private personal public
    weekday weekend breakfast lunch dinner client server read write open close opens closes start
    end buy sell bought sold lend borrow lent borrowed win lose won lost
    teach learn arrive depart minute hour day week month year mum dad mother father son daughter
    brother sister husband wife uncle aunt nephew niece grandmother grandfather responsibilities
    skills online offline inside outside above below without top bottom
    """.split()
)

# Values of which a subject has one: the group's name, and its members by value.
GROUPS: dict[str, dict[str, str]] = {
    "relationship": {
        "single": "single", "divorced": "divorced", "divorce": "divorced", "widowed": "widowed",
        "separated": "separated", "unmarried": "single", "married": "married", "marry": "married",
        "wed": "married", "wife": "married", "husband": "married", "engaged": "engaged",
        "fiancee": "engaged", "fiance": "engaged", "dating": "dating", "boyfriend": "dating",
        "girlfriend": "dating", "relationship": "dating",
    },
    "diet": {
        "vegetarian": "vegetarian", "vegan": "vegan", "pescatarian": "pescatarian",
        "omnivore": "omnivore", "carnivore": "omnivore", "keto": "keto", "paleo": "paleo",
    },
    "status": {
        "open": "open", "closed": "closed", "ongoing": "ongoing", "complete": "finished",
        "completed": "finished", "finished": "finished", "done": "finished", "paused": "paused",
        "blocked": "blocked", "cancelled": "cancelled", "canceled": "cancelled",
        "merged": "finished", "resolved": "closed", "fixed": "fixed", "broken": "broken",
        "failing": "failing", "red": "failing", "green": "passing", "passing": "passing",
        "online": "online", "offline": "offline", "active": "active", "inactive": "inactive",
        "expired": "expired", "pending": "pending", "approved": "approved",
        "rejected": "rejected", "shipped": "shipped", "delivered": "delivered",
        "draft": "draft", "published": "published", "released": "released", "live": "released",
        "enabled": "on", "disabled": "off", "on": "on", "off": "off", "unpaid": "unpaid",
        "paid": "paid", "unresolved": "open", "stalled": "paused", "started": "ongoing",
        "planned": "planned", "deprecated": "deprecated", "archived": "archived",
        "delayed": "delayed", "beta": "beta", "alpha": "alpha", "preview": "preview", "repaired": "fixed",
        "sold": "sold", "available": "available", "unavailable": "unavailable",
    },
    "color": {
        word: word
        for word in "red blue green yellow black white brown blond blonde grey gray pink purple "
        "orange teal silver gold beige turquoise navy auburn".split()
    },
}  # fmt: skip

# What can be preferred only one way: members of one group exclude one another.
RIVALS = (
    "dark light", "tabs spaces", "window aisle", "short brief concise terse detailed thorough "
    "verbose lengthy long", "remote office onsite hybrid", "tea coffee", "vim neovim emacs vscode",
    "metric imperial", "formal informal casual", "morning evening", "text call calls texting",
    "email phone", "cash card", "android ios", "mac windows linux", "celsius fahrenheit",
    "sync async asynchronous synchronous", "rebase merge squash", "single double",
    "english german french spanish italian portuguese dutch japanese chinese", "paper digital",
    "train plane", "hotel hostel airbnb", "smoking nonsmoking", "ebooks paperbacks",
    "functional object-oriented", "monorepo polyrepo", "rest graphql grpc",
)  # fmt: skip

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
    "system": "ubuntu debian fedora windows macos arch",
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
    "phone-system": "android ios",
    "music": "spotify deezer tidal",
    "notes": "evernote obsidian onenote",
    "assistant": "chatgpt claude gemini copilot",
}

# What is said of them is not said of the person whose they are.
KIN = frozenset(
    "mother father mum mom dad parent parents sister brother sibling siblings wife husband spouse "
    "partner boyfriend girlfriend fiance son daughter child children kid baby twin cousin uncle aunt "
    "nephew niece grandmother grandfather grandma grandpa grandson granddaughter friend neighbor "
    "neighbour colleague coworker boss manager roommate flatmate teacher coach doctor landlord dog "
    "cat pet horse rabbit bird parrot hamster client customer ex stepson stepdaughter mother-in-law "
    "family team company".split()
)

# Everyday words too: tools only where they are written like names.
AMBIGUOUS_TOOLS = frozenset(
    "express go solid spring teams edge render arch meet tidal swift oracle cursor linear notion ruby rust bun "
    "zed safari brave bootstrap vault sass jest mocha opera windows fly slack discord azure svelte "
    "puppet drizzle react python java c prisma".split()
)

PROFESSIONS = frozenset(
    """
    accountant actor architect assistant attorney baker barber barista bartender biologist builder
    butcher carpenter cashier chef chemist cleaner clerk coach consultant cook counselor dentist
    designer developer director doctor driver economist editor electrician engineer farmer
    firefighter florist gardener hairdresser analyst intern janitor journalist judge lawyer
    lecturer librarian manager mechanic midwife miner nanny nurse officer optician paramedic
    pharmacist physicist physiotherapist pilot plumber policeman professor programmer psychologist
    receptionist researcher salesman scientist secretary soldier student surgeon tailor teacher
    technician tester therapist translator trucker tutor veterinarian vet waiter waitress welder
    freelancer contractor ceo cto cfo founder principal banker plumber instructor administrator
    specialist coordinator supervisor apprentice trainee postdoc scholar
    """.split()
)

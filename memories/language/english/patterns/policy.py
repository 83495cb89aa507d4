"""Patterns for what a team always does, never does, or asks of everybody's work, and for requests
in code reviews."""

from memories.language.english.patterns.pattern import Pattern

# what teams make rules about; "we always go camping" is no policy
_work = (
    r"(?:use|run|write|deploy|test|review|document|merge|commit|push|release|ship|log|store"
    r"|validate|check|format|lint|name|version|tag|branch|rebase|squash|squash-merge|require|pin"
    r"|encrypt|back up|backup|monitor|alert|cache|mock|type|handle|return|raise|wrap|add|include"
    r"|avoid|prefer|import|export|follow|close|approve|assign|estimate|migrate|rotate|escalate"
    r"|notify|enforce|ensure|hash|sanitize|sanitise|escape|disable|enable|expose|refactor|benchmark|hardcode|hard-code|skip|allow)"
)
_technical = r"(?:use|run|deploy|test|document|merge|commit|push|release|lint|version|rebase|squash|pin|encrypt|mock|hash|sanitize|sanitise|escape|hardcode|hard-code|refactor|validate|log)"
_craft = (
    r"(?:code|tests?|commits?|branch(?:es)?|main|master|pull requests?|prs?|reviews?|deploy\w*|releases?|builds?|ci|api|apis|endpoints?"
    r"|database|migrations?|secrets?|passwords?|tokens?|keys?|logs?|logging|functions?|class(?:es)?|components?|types?|errors?|exceptions?"
    r"|variables?|config\w*|dependenc\w+|documentation|docs|docstrings?|comments?|tickets?|staging|production|prod|null|input|queries|query|sql|strings?|schema|timestamps?|columns?|tables?|ids?|requests?|responses?|payloads?|services?|apps?|modules?|packages?|librar(?:y|ies)|licen[cs]es?|repos?|repositor(?:y|ies)|images?|containers?|clients?)"
)
_CHECKS = (
    "check",
    "checks",
    "validation",
    "guard",
    "guards",
    "handling",
    "test",
    "tests",
    "hint",
    "hints",
    "annotation",
    "annotations",
)
_CHECK = (
    r"(?:null|nil|none|bounds?|range|length|type|error|exception|input|permission|auth|empty|undefined|overflow|timeout|unit|regression)"
    rf"(?:[ -](?!(?:{'|'.join(_CHECKS)})\b)\w+)? (?:{'|'.join(_CHECKS)})"
)
_the_team = r"^(?:(?:the|our|this) )?(?:(?:whole|entire) )?(?:team|squad)"
# A team with a name of its own, among those that make things; a sports or hospital team is not.
_named_team = (
    r"^(?P<team>(?:the|our) (?!(?:other|opposing|away|home|winning|losing|best|first|second|whole|entire|new|old|school|national)\b)"
    r"(?:[a-z][\w-]* )?(?:platform|backend|back-end|frontend|front-end|data|ops|devops|sre|infra|infrastructure|security|mobile|web|ios|android|qa|test|engineering|dev"
    r"|development|design|product|research|ml|ai|analytics|billing|payments?|search|growth|core|api|cloud|network|database|release|build|tooling|integrations?"
    r"|support|on-?call|architecture|marketing|sales|finance|hr|people|legal|content|docs|documentation|operations|localization|accessibility|checkout|identity"
    r"|auth|observability|reliability|hardware|firmware|embedded|game|editorial|service|delivery|it) (?:team|squad|guild|chapter|department))"
)
_team_verb = (
    r"(?:(?:now|also|currently|always|only|still|mostly|has|have|had|just|recently|finally|already) )*(?:decided|agreed|settled on|chosen|chose|picked|adopted|standardi[sz]ed on|migrated|moved|switched"
    r"|dropped|deprecated|introduced|owns?|maintains?|uses?|runs|is (?:responsible|in charge|on call|moving|migrating|switching|dropping|adopting|replacing|rewriting|upgrading|using|not allowed|building)"
    r"|deploys?|ships?|releases?|prefers?|requires?|rotates?|reviews?|handles?|works (?:in|with|from)|meets|holds|writes|tracks|keeps|follows|tests?|signs off|approves|measures|manages|operates|hosts|supports"
    r"|will|won't|must|may not|does not|doesn't|can only|needs two)"
)
_not_own = r"(?!.{0,200}\b(?:I|me|my|mine|you|your)\b)"
PATTERNS = (
    Pattern(
        name="team-policy-is",
        category="policy",
        regex=rf"{_the_team}(?:'s)? (?:policy|rule|convention|standard|practice|guideline|agreement)(?: is|:)(?: to| that)? (?P<rule>.{{3,200}})",
        statement="Team policy: {rule}",
        confidence=0.9,
        is_team=True,
        needs=("team",),
        examples=(
            (
                "Team convention: branches are named after their ticket",
                "Team policy: branches are named after their ticket",
            ),
            ("Team rule: squash before a merge", "Team policy: squash before a merge"),
        ),
        counter_examples=("Team spirit is high", "The team rule book is lost"),
    ),
    Pattern(
        name="team-does",
        category="policy",
        regex=rf"{_the_team} (?P<rule>(?:now |also |currently |always |only |still |mostly )*(?:prefers|requires|demands|rotates|meets|holds|forbids|bans|follows|writes|keeps|ships|releases|deploys|reviews|tests|tracks|documents|estimates|merges|logs"
        r"|works (?:in|with|from|by)|pairs on|measures|versions|signs off|hands over|may not|must|is (?:not )?allowed to|is required to|is supposed to) (?!(?:it|him|her|them|me|you)\b)(?:(?!\w+ing\b)|(?<=prefers )).{3,200})",
        statement="Team {rule}",
        confidence=0.85,
        is_team=True,
        needs=("team",),
        examples=(
            ("The team prefers small commits over long branches", "Team prefers small commits over long branches"),
            ("Team works in three-week cycles", "Team works in three-week cycles"),
            ("Our team keeps its runbooks in the wiki", "Team keeps its runbooks in the wiki"),
        ),
        counter_examples=("The team lost the final", "Team lunch is on Friday", "The team keeps going"),
    ),
    Pattern(
        name="named-team",
        category="policy",
        regex=rf"{_named_team} {_not_own}(?P<rule>{_team_verb}\b.{{2,200}})",
        confidence=0.85,
        is_team=True,
        needs=("team", "squad", "guild", "chapter", "department"),
        examples=(
            ("The data team has settled on dbt for its models", "The data team has settled on dbt for its models"),
            ("The payments squad owns the refund job", "The payments squad owns the refund job"),
            ("The platform team owns the build", "The platform team owns the build"),
        ),
        counter_examples=(
            "The football team has settled on a coach",
            "The support team owns my ticket",
            "The design team is nice",
        ),
    ),
    Pattern(
        name="team-always",
        category="policy",
        regex=rf"\bwe (?:all )?(?P<rule>(?:always|never|only) {_work}\b.{{2,200}})",
        statement="Team policy: {rule}",
        confidence=0.85,
        is_team=True,
        needs=("always", "never", "only"),
        examples=(
            ("We always use Prettier for formatting", "Team policy: always use Prettier for formatting"),
            ("We never deploy on Fridays.", "Team policy: never deploy on Fridays"),
        ),
        counter_examples=("We always go camping in July", "I always use a pen"),
    ),
    Pattern(
        name="should-add-check",
        category="policy",
        regex=r"\b(?:should|must|needs? to|please|have to) (?P<verb>add|include) (?:an? |the |some |more |another )?(?P<what>[\w-]+(?: [\w-]+){0,2}? (?:check|validation|test|guard|handling)s?)\b",
        statement="Should {verb} {what}",
        confidence=0.8,
        is_team=True,
        needs=("add", "include"),
        examples=(
            ("This function should add null check before reading the name", "Should add null check"),
            ("You should add a null check here", "Should add null check"),
            ("This endpoint should include input validation", "Should include input validation"),
        ),
        counter_examples=("I should check the oven",),
    ),
    Pattern(
        name="missing-check",
        category="policy",
        regex=rf"\b(?:missing|lacks?|lacking|needs?|forgot|forgotten|without|there(?:'s| is)? no|has no|have no|^no|where(?:'s| is)"
        r"|(?:can|could|should|shouldn't|would|will|can't|why not|why don't) (?:you |we |this |there |it |that |[\w.()]{1,40} )?(?:please |also |maybe )?(?:add|have|include|be|need|get)|how about|worth adding)"
        rf" (?:an? |the |some |any |another )?(?P<what>{_CHECK})\b(?! (?:is|was|are|were) (?:needed|required|necessary)| (?:needed|required|necessary))",
        statement="Should add {what}",
        confidence=0.9,
        is_team=True,
        needs=_CHECKS,
        of_questions=True,
        examples=(
            ("nit: missing null check on line 40", "Should add null check"),
            ("Can you add a null check here?", "Should add null check"),
            ("Shouldn't this have a null check?", "Should add null check"),
            ("parse_user() lacks input validation", "Should add input validation"),
        ),
        counter_examples=("No null check needed", "What is a null check?", "I forgot my keys"),
    ),
    Pattern(
        name="team-should",
        category="policy",
        regex=rf"\b(?:we|everyone|everybody|the team|our team|all developers|developers|engineers|contributors) (?P<rule>(?:should|must|have to|need to|shall|are required to|are expected to)(?: not|n't)?(?: always| never| only)? {_work}\b.{{2,200}})",
        statement="Team policy: {rule}",
        confidence=0.8,
        is_team=True,
        needs=("we", "everyone", "everybody", "team", "developers", "engineers", "contributors"),
        examples=(
            (
                "We should use feature flags for risky changes",
                "Team policy: should use feature flags for risky changes",
            ),
            (
                "Everyone must review at least one pull request a day",
                "Team policy: must review at least one pull request a day",
            ),
        ),
        counter_examples=("We should go out some time",),
    ),
    Pattern(
        name="we-do-not",
        category="policy",
        regex=rf"^we (?P<rule>(?:don't|do not|can't|must not|mustn't|may not|are not allowed to|aren't allowed to|are not supposed to|aren't supposed to|are only allowed to|are required to|are forbidden to|are not permitted to) (?:ever )?(?:(?:deploy|commit|merge|push|release|hardcode|hard-code|rebase)\b|{_work} (?=.{{0,80}}\b{_craft}\b)).{{2,200}})",
        statement="Team policy: {rule}",
        confidence=0.8,
        is_team=True,
        examples=(
            (
                "We aren't allowed to merge before the review is done",
                "Team policy: aren't allowed to merge before the review is done",
            ),
            ("We don't commit secrets to the repository", "Team policy: don't commit secrets to the repository"),
            (
                "We can't deploy on Fridays because of support hours",
                "Team policy: can't deploy on Fridays because of support hours",
            ),
        ),
        counter_examples=("We don't use umbrellas", "We can't come", "We are not allowed to smoke at home"),
    ),
    Pattern(
        name="craft-must",
        category="policy",
        regex=rf"^(?:all|every|each|any|no|new|public) (?:[\w-]+ ){{0,3}}?{_craft} (?:[\w-]+ ){{0,3}}?(?:must|should|has to|have to|needs? to|shall|may not|can't|are|is|gets?|goes)\b.{{3,200}}",
        confidence=0.8,
        is_team=True,
        examples=(("All endpoints must be versioned", "All endpoints must be versioned"),),
        counter_examples=("All guests must leave",),
    ),
    Pattern(
        name="use-rather",
        category="policy",
        regex=r"^(?:please |always |and )*(?P<rule>(?:use|prefer|write|keep|put|run|name|format|avoid|stick to|follow|wrap|indent|document|log|return|import) (?!(?:it|this|that|me|your|the word)\b).{2,120}? (?:instead of|rather than|in (?:all|every|this (?:repo|repository|project|codebase|module|package)|(?:the|our) (?:repo|repository|codebase|docs|api|tests?))|for (?:all|every|any|new)|everywhere|by default)\b.{0,120})",
        statement="Team policy: {rule}",
        confidence=0.85,
        is_team=True,
        examples=(
            (
                "Please use tabs instead of spaces in this project.",
                "Team policy: use tabs instead of spaces in this project",
            ),
            ("Use ISO dates in all tables", "Team policy: use ISO dates in all tables"),
        ),
        counter_examples=("Use it instead of butter", "Write a poem about the sea"),
    ),
    Pattern(
        name="do-not-touch",
        category="policy",
        regex=r"^(?:please )?(?P<rule>(?:don't|do not) (?:touch|edit|change|modify|delete|remove|rename|restart|bump|upgrade|downgrade|disable|merge|deploy|commit|push|rebase|refactor|reformat|hardcode|mock) (?!(?:it|this|that|your mind|me|the subject|a thing)\b).{2,200})",
        statement="Team policy: {rule}",
        confidence=0.8,
        is_team=True,
        examples=(
            (
                "Don't restart the billing worker during the day",
                "Team policy: don't restart the billing worker during the day",
            ),
        ),
        counter_examples=("Don't touch it", "Don't worry about the worker"),
    ),
    Pattern(
        name="always-imperative",
        category="policy",
        regex=rf"^(?!.*\b(?:when|whenever|if|every time|each time|what|after|before) I\b)(?:please )?(?P<rule>(?:always|never|don't ever|do not ever|make sure to|be sure to) (?:{_technical}\b|{_work} (?=.{{0,80}}\b{_craft}\b)).{{2,200}})",
        statement="Team policy: {rule}",
        confidence=0.75,
        is_team=True,
        examples=(
            ("Always pin dependencies in the lock file", "Team policy: always pin dependencies in the lock file"),
        ),
        counter_examples=("Never mind that", "Always happy to help", "Never skip the harbour market"),
    ),
    Pattern(
        name="must-stay",
        category="policy",
        regex=r"^(?:the|this|that) (?:[\w-]+ ){0,4}?[\w.`'-]+ (?:must|may) (?:not |never |always |only )*(?:stay|remain|be|run|contain|exceed|leave|change|use|support|return|accept|respond|pass|expire|log|require)\b.{3,160}",
        confidence=0.8,
        is_team=True,
        needs=("must", "may"),
        examples=(
            (
                "The beta flag must stay off until the audit is done",
                "The beta flag must stay off until the audit is done",
            ),
            ("The gateway must use TLS 1.3", "The gateway must use TLS 1.3"),
        ),
        counter_examples=("The show must go on", "The day may come"),
    ),
    Pattern(
        name="our-policy",
        category="policy",
        regex=r"\bour (?:team )?(?:policy|convention|standard|rule|practice|guideline|coding style|style guide|process|workflow|definition of done) (?:is|says|requires|for|demands|forbids)\b.{3,200}",
        confidence=0.85,
        is_team=True,
        needs=("our",),
        examples=(("Our convention is snake case for columns", "The team's convention is snake case for columns"),),
        counter_examples=("Policies are dull",),
    ),
    Pattern(
        name="not-allowed",
        category="policy",
        regex=r"^(?P<what>[\w'. -]{3,80} (?:is|are) (?:not allowed|forbidden|prohibited|mandatory|required|not permitted|banned|off limits)\b.{0,160})",
        statement="Team policy: {what}",
        confidence=0.75,
        is_team=True,
        examples=(
            ("Direct pushes to main are not allowed", "Team policy: direct pushes to main are not allowed"),
            ("HTTP 2.0 is required for the gateway", "Team policy: HTTP 2.0 is required for the gateway"),
        ),
        counter_examples=("It is a dull day",),
    ),
)


# What reviews of code ask for in whatever words: a check of what may be null.
#
# Reviewers point ("nit: missing null check"), ask ("could this be None here?") and warn ("this
# crashes when token is null"). All of it says the same, and so does its statement: what many
# reviews demand can then be counted.

# "None" is a word of English too, and "none of them" is no value.
_NULL = (
    r"['\"]?\b(?:(?-i:None(?:Type)?)|null(?:ish|ptr)?|nil|undefined)\b['\"]?"
    r"(?! (?:hypothesis|of|by|and void|object pattern|values? in)\b)"
)
_CHECKED = (
    r"(?:(?:non-?)?(?:null|nil|none|undefined)(?:ness)?[ -]?(?:or[ -]\w+[ -])?"
    r"(?:checks?|checked|guards?|guarded|handling|safety|validation|assertions?|case))\b"
)
_BECOMES = r"(?:be|is|are|was|were|been|become|becomes|return|returns|returned|get|gets|come back|comes back|end up|ends up|turn out|still be)"
_EVER = r"(?:(?:ever|never|always|still|possibly|sometimes|potentially|also|already|as|a|guaranteed|known|to|be|not|non)[ -])*"
_TESTS = r"(?:check(?:s|ed|ing)?|guard(?:s|ed|ing)?|handl(?:e|es|ed|ing)|test(?:s|ed|ing)?|protect(?:s|ed|ing)?|verify|verified|cope|deal|account|prepared?|safe)"
# People who learn a language ask about it, and the author of a change says what is done.
_LEARNS = (
    r"^(?!.*\b(?:explain\w*|means?|meant|difference|how (?:do|does|can|would|to)|why (?!is there no|there is no|not)|what (?:is|are) (?:an? |the )?['\"]?n\w+|tutorial|homework"
    r"|(?:can|could|would|will) you (?:please )?(?!(?:also |please )*(?:add|check|guard|handle|test|verify|make|get|have)\b)|should I)\b)"
)
_IS_DONE = (
    r"^(?!(?:I|we) (?!(?:think|believe|guess|should|must|need|have to|would|un(?:checked|guarded|handled))\b)|(?:not|never) |thanks|.*\b(?:added|removed|done|fixed|already|no longer|nobody|not needed|unnecessary"
    r"|needless|redundant|(?:isn't|aren't|not|no .{0,30}) (?:needed|required|necessary)|on purpose|by design)\b)"
)
_NEEDS = (
    "null",
    "none",
    "nil",
    "undefined",
    "nullable",
    "nullptr",
    "nullish",
    "nullcheck",
    "nonetype",
    "npe",
    "nullpointer",
    "nullpointerexception",
)
SHOULD_CHECK = "Should add null check"

CODE_REVIEWS = (
    Pattern(
        name="asks-about-null",
        category="policy",
        regex=(
            rf"{_LEARNS}(?:.{{0,200}}?\b)??(?:"
            rf"(?:can|could|might|may|will|would|won't|can't|couldn't|wouldn't|is|isn't|are|aren't|does|doesn't|do|don't|should|shouldn't|any chance|in case|did you (?:think|consider)) .{{1,60}}? (?:{_BECOMES} )?{_EVER}{_NULL}"
            r"|(?:is|isn't|are|aren't|was) [\w.()'\[\]]{1,40} nullable\b"
            rf"|what (?:if|happens|about|when|would happen)\b.{{0,90}}? {_NULL}"
            rf"|(?:^|\band |\bbut )if .{{1,40}} {_BECOMES} {_EVER}{_NULL}"
            rf"|(?:{_TESTS}|behaves?|works?|does|do|reacts?) .{{0,50}}? ?{_NULL}"
            r"|(?:would|could|will|can|won't|might) .{1,40} (?:npe|null ?pointer\w*)"
            rf"|sure .{{1,40}} (?:is|are|can) {_EVER}{_NULL}"
            rf"|^(?:.{{0,20}}: )?(?:no |an? |the )?{_CHECKED}"
            r").{0,80}\?"
        ),
        statement=SHOULD_CHECK,
        confidence=0.85,
        is_team=True,
        needs=_NEEDS,
        of_questions=True,
        examples=(
            ("Could this be None here?", SHOULD_CHECK),
            ("What happens when the order is null?", SHOULD_CHECK),
            ("Is the cursor guaranteed to be non-null?", SHOULD_CHECK),
        ),
        counter_examples=(
            "Could this be better?",
            "What does None mean in Python?",
            "How do I check for null in SQL?",
            "Did none of them come?",
        ),
    ),
    Pattern(
        name="warns-of-null",
        category="policy",
        regex=(
            rf"{_IS_DONE}(?:.{{0,200}}?\b)??(?:"
            rf"(?:missing|lacks?|lacking|forgot(?:ten)?|needs?|without|wants?|add|(?:don't|do not|didn't|can't) see|consider|there(?:'s| is)? no|has no|have|use|no) (?:(?:an?|the|some|any|another|to|explicit|proper) )*{_CHECKED}"
            rf"|{_CHECKED}(?: (?:is|are))? (?:missing|absent|please|needed here|would help)"
            rf"|make sure .{{1,60}} (?:isn't|is not|is never|aren't|are not|never|not) {_EVER}{_NULL}"
            rf"|(?:assumes|assuming|relies on|hopes) .{{1,60}} (?:is|are) (?:never|not|always) {_EVER}{_NULL}"
            r"|^(?:npe|null ?pointer\w*) (?:waiting|here|on line|if|when)\b"
            r"|(?:potential|possible|risk of(?: an?)?|unhandled|may (?:raise|throw) an?|will (?:raise|throw) an?) (?:npe|null ?pointer\w*|null[ -](?:deref\w*|reference|pointer|access|crash\w*))"
            rf"|(?:unchecked|unguarded|unhandled) {_NULL}"
            rf"|(?:crash\w*|blows? up|breaks?|throws?|fails?|explodes?|raises?|errors? out|dies) .{{0,40}}?\b(?:if|when|whenever|once|on|for|with) .{{0,40}}?{_NULL}"
            rf"|(?:please |you (?:have to|should|must|forgot to|need to) |consider |nit: |(?:let's|lets) |(?:need|needs|should|must|missing|forgot|no|not|better) (?:to |be |an? |the )*){_TESTS} .{{0,40}}?{_NULL}"
            rf"|(?:can|could|may|might|will sometimes) {_BECOMES} {_EVER}{_NULL}(?=(?:.{{0,60}}\b(?:here|there|check\w*|handle\w*|guard\w*|please|before|then|on line|in the .{{1,30}} case|cold|empty|fails)\b)|$)"
            rf"|^(?:check|guard|handle|protect) (?:.{{0,40}} )?(?:for|against|the|if|whether|that)? ?.{{0,20}}{_NULL}"
            rf"|^(?:[^:]{{2,40}}: )?{_CHECKED}"
            rf"|add an? check (?:that|whether|if) .{{1,60}}{_NULL}"
            rf"|^(?:can|could|might|does|what if) .{{1,60}} {_BECOMES} {_EVER}{_NULL}"
            r")"
        ),
        statement=SHOULD_CHECK,
        confidence=0.85,
        is_team=True,
        needs=_NEEDS,
        examples=(
            ("L88: null check missing", SHOULD_CHECK),
            ("You forgot to check for null", SHOULD_CHECK),
            ("This will crash if the profile is None", SHOULD_CHECK),
        ),
        counter_examples=(
            "I added the null check",
            "No null check needed",
            "The null hypothesis was rejected",
            "None of this matters",
        ),
    ),
)

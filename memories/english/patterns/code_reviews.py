"""What reviews of code ask for in whatever words: a check of what may be null.

Reviewers point ("nit: missing null check"), ask ("could this be None here?") and warn ("this crashes
when token is null"). All of it says the same, and so does its statement: what many reviews demand
can then be counted.
"""

from memories.english.patterns.pattern import Pattern

# "None" is a word of English too, and "none of them" is no value.
_NULL = (
    r"['\"]?\b(?:(?-i:None(?:Type)?)|null(?:ish|ptr)?|nil|undefined)\b['\"]?"
    r"(?! (?:hypothesis|of|by|and void|object pattern|values? in)\b)"
)
_CHECK = (
    r"(?:(?:non-?)?(?:null|nil|none|undefined)(?:ness)?[ -]?(?:or[ -]\w+[ -])?"
    r"(?:checks?|checked|guards?|guarded|handling|safety|validation|assertions?|case))\b"
)
_BECOMES = r"(?:be|is|are|was|were|been|become|becomes|return|returns|returned|get|gets|come back|comes back|end up|ends up|turn out|still be)"
_EVER = r"(?:(?:ever|never|always|still|possibly|sometimes|potentially|also|already|as|a|guaranteed|known|to|be|not|non)[ -])*"
_TESTS = r"(?:check(?:s|ed|ing)?|guard(?:s|ed|ing)?|handl(?:e|es|ed|ing)|test(?:s|ed|ing)?|protect(?:s|ed|ing)?|verify|verified|cope|deal|account|prepared?|safe)"
# Who wants to learn a language asks about it, and the author of a change tells what is done.
_LEARNS = (
    r"^(?!.*\b(?:explain\w*|means?|meant|difference|how (?:do|does|can|would|to)|why (?!is there no|there is no|not)|what (?:is|are) (?:an? |the )?['\"]?n\w+|tutorial|homework"
    r"|(?:can|could|would|will) you (?:please )?(?!(?:also |please )*(?:add|check|guard|handle|test|verify|make|get|have)\b)|should I)\b)"
)
_IS_DONE = (
    r"^(?!(?:I|we) (?!(?:think|believe|guess|should|must|need|have to|would|un(?:checked|guarded|handled))\b)|(?:not|never) |thanks|.*\b(?:added|removed|done|fixed|already|no longer|nobody|not needed|unnecessary"
    r"|needless|redundant|(?:isn't|aren't|not|no .{0,30}) (?:needed|required|necessary)|on purpose|by design)\b)"
)
_NEEDS = (
    "null", "none", "nil", "undefined", "nullable", "nullptr", "nullish", "nullcheck", "nonetype", "npe", "nullpointer",
    "nullpointerexception",
)  # fmt: skip
SHOULD_CHECK = "Should add null check"

PATTERNS = (
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
            rf"|^(?:.{{0,20}}: )?(?:no |an? |the )?{_CHECK}"
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
            rf"(?:missing|lacks?|lacking|forgot(?:ten)?|needs?|without|wants?|add|(?:don't|do not|didn't|can't) see|consider|there(?:'s| is)? no|has no|have|use|no) (?:(?:an?|the|some|any|another|to|explicit|proper) )*{_CHECK}"
            rf"|{_CHECK}(?: (?:is|are))? (?:missing|absent|please|needed here|would help)"
            rf"|make sure .{{1,60}} (?:isn't|is not|is never|aren't|are not|never|not) {_EVER}{_NULL}"
            rf"|(?:assumes|assuming|relies on|hopes) .{{1,60}} (?:is|are) (?:never|not|always) {_EVER}{_NULL}"
            r"|^(?:npe|null ?pointer\w*) (?:waiting|here|on line|if|when)\b"
            r"|(?:potential|possible|risk of(?: an?)?|unhandled|may (?:raise|throw) an?|will (?:raise|throw) an?) (?:npe|null ?pointer\w*|null[ -](?:deref\w*|reference|pointer|access|crash\w*))"
            rf"|(?:unchecked|unguarded|unhandled) {_NULL}"
            rf"|(?:crash\w*|blows? up|breaks?|throws?|fails?|explodes?|raises?|errors? out|dies) .{{0,40}}?\b(?:if|when|whenever|once|on|for|with) .{{0,40}}?{_NULL}"
            rf"|(?:please |you (?:have to|should|must|forgot to|need to) |consider |nit: |(?:let's|lets) |(?:need|needs|should|must|missing|forgot|no|not|better) (?:to |be |an? |the )*){_TESTS} .{{0,40}}?{_NULL}"
            rf"|(?:can|could|may|might|will sometimes) {_BECOMES} {_EVER}{_NULL}(?=(?:.{{0,60}}\b(?:here|there|check\w*|handle\w*|guard\w*|please|before|then|on line|in the .{{1,30}} case|cold|empty|fails)\b)|$)"
            rf"|^(?:check|guard|handle|protect) (?:.{{0,40}} )?(?:for|against|the|if|whether|that)? ?.{{0,20}}{_NULL}"
            rf"|^(?:[^:]{{2,40}}: )?{_CHECK}"
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

"""Words with which a statement may be put though nobody said them. Data only."""

from memories.english.statements.word_lists import ADVERBS, ARTICLES, FUNCTION, MODAL
from memories.english.statements.wording import root

# The user and the voice of the one who writes down; what they tell is in the other words.
_FREE = (
    FUNCTION
    | ARTICLES
    | ADVERBS
    | MODAL
    | frozenset(
        """
        user speaker assistant person people someone somebody something thing one man woman
        say mention state report describe explain note express prefer want would plan
        intend decide agree choose consider think believe feel become remain include involve keep
        make take get go do be have give play hold use call name wear say tell located takes
        place time kind type used lot year old age yearsold named never ever originally past former previously
        another other more less own team company project number amount total some few several
        everyone everybody anyone anybody their ours my our your me us we i you myself own
        """.split()
    )
)
FREE = _FREE | {root(word) for word in _FREE}
# What is said with one of the words on the right may be put with the one on the left.
IMPLIED: dict[str, frozenset[str]] = {
    root(left): frozenset(right.split())
    for left, right in {
        "live": "move home settle base rent stay from",
        "work": "job hire career role at start as",
        "start": "now new",
        "own": "have get bought my our belong mine",
        "travel": "go going trip fly off visit drive",
        "visit": "go trip been travel",
        "attend": "go",
        "love": "favorite fan great into best good want",
        "hate": "not",
        "dislike": "not hate",
        "eat": "gluten meat pork vegetarian vegan not",
        "drink": "coffee tea wine beer",
        "learn": "degree major",
        "responsible": "own",
        "owner": "own",
        "stop": "quit gave",
        "permit": "no not",
        "need": "must",
        "require": "must",
        "alter": "push slip",
        "move": "push slip postpone",
        "child": "twin baby grow growing",
        "commute": "work job",
        "old": "elder",
        "husband": "marry wife",
        "spouse": "husband wife",
        "meeting": "meet",
        "retain": "retention",
        "replace": "drop insteadof infavorof",
        "instead": "infavorof drop",
        "city": "town",
    }.items()
}
NEGATIVE = frozenset(
    """
    not no never nobody none nothing neither nor without nolonger hardly cannot nowhere nope
    nicht kein keine keinen keinem keiner nie niemals nichts ne pas jamais non mai niente nunca jamás
    jamas nada não nao не нет никогда nie geen niet
    """.split()
)
NEGATIVE_SIGNS = "不没沒無无未ない"
# Verbs that say that something is not, or no more
ENDING = frozenset(
    """
    stop stopped stops quit quits hate hates hated dislike dislikes refuse refuses refused
    avoid avoids avoided cancel cancelled canceled lack lacks unable reject
    rejected forbid forbidden prohibited prohibit
    """.split()
)

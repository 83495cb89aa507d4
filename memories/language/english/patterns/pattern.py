"""The class of patterns, the class of their findings, and pieces that several categories share.

Patterns see clauses as `read_clause` leaves them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memories.language.english.calendar import MONTH, SEASON, WEEKDAY_STEMS
from memories.language.english.numbers import words_from
from memories.language.english.verbs import ADVERB

FACT_TYPES = {
    "preference": "preference",
    "identity": "profile",
    "relationship": "profile",
    "possession": "profile",
    "plan": "event",
    "temporal": "event",
    "policy": "fact",
    "technology": "fact",
    "decision": "fact",
    "instruction": "system",
    "other": "fact",
}
TEAM_CATEGORIES = frozenset({"policy", "technology", "decision"})


@dataclass(frozen=True, slots=True)
class Found:
    """One claim found in a text; `text[start:end]` is the sentence or clause that says it.

    `is_answer`: it says so only together with the question that was asked before. `parts` are
    where the words stand that a workspace's own pattern tells. `unworthy`: why it is not worth
    keeping, a key of `english.worth_keeping.REASONS`.
    """

    statement: str
    category: str
    fact_type: str
    confidence: float
    rule: str
    entities: tuple[str, ...]
    event_date: datetime | None
    start: int
    end: int
    is_answer: bool = False
    parts: tuple[tuple[int, int], ...] = ()
    unworthy: str = ""


@dataclass(frozen=True)
class Pattern:
    """A named form of words that makes a claim.

    `regex` is searched in one clause, without its opening interjections. `statement` is a
    template over the named groups and `{speaker}`; empty: the clause itself, in the third person.
    `entities` names groups whose text is an entity. `is_team` makes "we" the team. `is_plain`: a clause
    that does not speak of its speaker is the claim as it stands, not "Alex says". `needs` are
    words, in small letters, of which a clause must have one to be tried at all. `of_questions`: it
    fits a question as well: "Can you add a null check?" `examples` are
    (text, statement) pairs said by Alex, `counter_examples` texts that it must not match.
    """

    name: str
    category: str
    regex: str
    examples: Sequence[tuple[str, str]]
    counter_examples: Sequence[str]
    confidence: float = 0.8
    statement: str = ""
    entities: Sequence[str] = ()
    is_team: bool = False
    is_plain: bool = False
    needs: Sequence[str] = ()
    of_questions: bool = False

    @property
    def fact_type(self) -> str:
        return FACT_TYPES[self.category]

    @property
    def visibility(self) -> str:
        """The default visibility of its findings, if the caller gives none."""
        return "team" if self.category in TEAM_CATEGORIES else "private"


NAME = (
    r"(?!(?:This|That|These|Those|There|Here|Then|What|Who|Why|How|When|Where|Which|It|He|She|They|We|You|Your|My|Our|His|Her"
    r"|Their|Its|The|One|Some|Any|All|Both|Every\w*|(?:Any|Some|No)(?:thing|body|one|where|how|times?)?|Not|Just|Also|And|But|So|If|As|At|In|On|For|From|Now"
    r"|Today|Tomorrow|Yesterday|Please|Thanks|Thank|Great|Good|Nice|Cool|Sure|Yes|Yeah|Maybe|Still|Even|Most|Many|Much|More|Such"
    r"|Life|Love|Work|People|Things?|Time|Nature|Music|Art|Family|Friends|Kids|Dogs?|Cats?|\w+(?:ly|day|ing))\b)(?-i:[A-Z])[\w-]+"
)
_MINE = r"my \w+(?: (?-i:[A-Z])[\w-]+)?"
SUBJECT = rf"^(?:I|we|{_MINE} and I|me and {_MINE}|my family and I|{NAME} and I|me and {NAME}) "
S = rf"{SUBJECT}{ADVERB}"
AM = rf"(?:am|are|was|were|have been|'re) {ADVERB}"
SOME = r"(?:an?|the|my|our|some|this|these|two|three|four|five|six|seven|eight|nine|ten|\d+|several|many|few|lots of|a lot of|another|new|both|no)"
NOT = r"(?:(?:don't|do not|doesn't|didn't|did not|can't|couldn't|never|won't|wouldn't|haven't) )?"
KIN = (
    r"(?:sisters?|brothers?|siblings?|mom|mum|mama|mother|dad|father|parents?|wife|husband|partner|spouse"
    r"|fianc[eé]e?|girlfriend|boyfriend|sons?|daughters?|kids?|child(?:ren)?|baby|grand\w+|uncles?|aunts?"
    r"|auntie|cousins?|nephews?|nieces?|family|in-laws|ex(?:-\w+)?|twins?)"
)
PEOPLE = (
    r"(?:friends?|best friends?|buddy|buddies|mate|roommates?|flatmates?|boss|manager|coworkers?|co-workers?|colleagues?"
    r"|teammates?|teacher|professor|coach|mentor|therapist|doctor|dentist|lawyer|neighbou?rs?|landlord"
    r"|students?|clients?|customers?|team|employees?|crew|band|church|community|supervisor|assistant)"
)
PETS = (
    r"(?:dogs?|cats?|pets?|pupp(?:y|ies)|pups?|kittens?|kitty|rabbits?|hamsters?|parrots?|horses?|fish|turtles?|birds?|guinea pigs?"
    r"|snakes?|lizards?|chickens?|hens?|ducks?|goats?|ferrets?|tortoises?|geckos?|pony|ponies|bunny|bunnies"
    r"|(?:greyhound|labrador|poodle|beagle|terrier|collie|retriever|german shepherd|husky|dachshund|bulldog|corgi|spaniel"
    r"|chihuahua|pug|tabby|budgie|canary|cockatiel)s?)"
)
THING = (
    r"(?:car|bike|bicycle|motorbike|motorcycle|truck|van|boat|house|home|apartment|flat|condo|garden|room|desk|studio"
    r"|store|shop|business|company|startup|phone|laptop|computer|pc|tablet|camera|guitar|piano|violin|drums"
    r"|watch|glasses|collection|library|kitchen|garage|yard|office|website|blog|channel|podcast|server|printer|console|account)"
)

# a day, an hour or a season, with the small words before it
WHEN = (
    r"(?:(?:on|by|at|in|for|until|till|to|before|after|from|this|next|last|the|early|mid|late|end of|beginning of|start of"
    r"|about|around|now|probably|again) )*"
    rf"(?:(?:{WEEKDAY_STEMS})days?|"
    rf"{MONTH}(?: \d{{1,2}}(?:st|nd|rd|th)?)?|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {MONTH}|\d{{1,2}}(?:st|nd|rd|th)|\d{{4}}-\d\d-\d\d"
    rf"|(?:19|20)\d\d|today|tonight|tomorrow|yesterday|noon|midnight|week|weekend|month|year|quarter|{SEASON}"
    rf"|Q[1-4]|\d{{1,2}}(?::\d\d)? ?(?:am|pm|h|o'clock)|\d{{1,2}}:\d\d|(?:an?|{words_from(1, 6)}|\d+)"
    r" (?:minute|hour|day|week|month|year)s?)(?!\w)"
)
MONEY = (
    r"(?:(?:[$€£¥]|(?:usd|eur|gbp|chf) ?)\d[\d,.]*[km]?|\d[\d,.]*[km]? ?(?:million |billion |thousand )?(?:[$€£¥]|(?:euros?|dollars?|pounds?|bucks|yen|francs?|usd"
    r"|eur|gbp|chf|cents?|pence|rupees|crowns)\b))"
)

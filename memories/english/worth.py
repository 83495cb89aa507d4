"""Whether what a pattern finds in a clause is worth keeping, and if not, why not.

The rules are those of `memories.evaluation.worth_stories`. A clause comes here in the first person;
what it does not name cannot be resolved any more. Patterns that fit almost anything must say more
than narrow ones, and to a machine most wishes and plans are about the piece of work at hand.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memories.english import read_clause
from memories.english.patterns.pattern import KIN, PEOPLE, PETS, THING, WHEN
from memories.english.referents import open_referent
from memories.english.verbs import PAST

REASONS = {
    "referent": "it points at what stands elsewhere",
    "unfinished": "no finished clause",
    "addressed": "it is about whom it is said to",
    "task": "about the piece of work at hand",
    "moment": "a mood, a wish or a plan of the moment",
    "remark": "an opinion or a truism, not a fact about anybody",
    "others": "words of others",
    "vague": "it names nothing that could be known",
}

# They fit almost anything: "X says ..." and whatever tells of the speaker somewhere.
LOOSE = frozenset(
    """
    statement our-world of-mine joined-past it-is advises doing-is does-me-good with-people first-person
    must-stay
    """.split()
)
WISHES = frozenset(
    """
    wants needs will going-to considering thinks goal plans looking-forward is-doing dated-plan
    wants-from-assistant my-work
    """.split()
)
FEELINGS = frozenset("feels values".split())
# Of a message that leaves nothing else one may be kept for these reasons all the same.
WEAK = frozenset("moment remark vague".split())
OUTWEIGHED = frozenset("moment remark vague task".split())  # by a change that is told
IDLE = frozenset("it-is advises statement our-world".split())
LEAST = 3
EVENTS = frozenset("got dated passive started-using people kin".split())
# What it says is clear enough not to be kept as a text either.
UNDERSTOOD = frozenset("referent addressed task moment remark".split())
TEAM_RULES = frozenset("team-should team-decided-that team-system".split())
OF_WORK = frozenset(
    "missing-check should-add-check review-demand".split()
)  # said of code in reviews
STANDING = frozenset(("instruction", "policy"))

_quotes = re.compile(r"[\"“”]")
_garbled = re.compile(r"[\t|{}]|->|=>|::|\(\)|</|\\n|_{3,}|={2,}|\*{2,}")
_no_end = re.compile(
    r"\b(?:the|a|an|my|our|your|their|his|and|or|but|because|if|than|is|are|was|were|am|very|more|so|while|although|been|be)$",
    re.IGNORECASE,
)
_opening = re.compile(
    r"^(?:when|while|after|before|since|although|though|because|as|once|if|last|this|next|yesterday|today|on|in|at|for|with|during"
    r"|over|every|until)\b[^,]{2,120}, (?P<rest>.+)$",
    re.IGNORECASE,
)
_aside = re.compile(
    r"^(?:my|our) [\w'-]+(?: [\w'-]+)?, (?:my|our|the|his|her|their) [^,]+$", re.IGNORECASE
)
_participle = re.compile(
    r"I (?:\w+ly )?(?:excited|tired|relaxed|interested|bored|worried|acknowledged|noted|agreed|confirmed|inspired|thrilled|confused|surprised"
    r"|annoyed|stressed|exhausted|impressed|amazed|delighted|frustrated|overwhelmed|disappointed|pleased|attached|updated|deleted|shared"
    r"|expected|needed|required|limited|scheduled|designed|aimed|located|certified|built|made|written|given|done|held|sent|thought|meant"
    r"|focused|dedicated|committed|determined|motivated)\b(?! (?:my|our|me|us|a|an|the|him|her|them|two|three|four|\d)\b)"
    r"|I \w+(?:ed|en|ilt|ade|eld) by\b",
    re.IGNORECASE,
)
_you = re.compile(r"\b(?:you|your|yours|yourself|u|ur)\b", re.IGNORECASE)
_you_does = re.compile(
    r"\byou (?!(?:are|were|have|do|don't|and|or|in|on|at|to|for|with|about|last|too|a|the|when|because|since|by|as|from|this|again|there|here|some|my|one)\b)[a-z]"
    r"|\b(?:when|if|what|whatever|how|as|make sure|hope|know|think|bet|like|that|because|so|and|see|glad|guess|believe) you\b",
    re.IGNORECASE,
)
_feeling = re.compile(
    r"^(?:I|we) (?:[\w']+ ){0,4}?(?:excited|happy|glad|sad|tired|thrilled|proud|grateful|thankful|lucky|blessed|upset|nervous|anxious|inspired"
    r"|exhausted|overwhelmed|stoked|pumped|motivated|stuck|frustrated|confused|worried|concerned|hopeful|relieved|ready|curious|amazed|sorry"
    r"|surprised|stressed|drained|feel|feeling|felt|feels|sure|confident|honored|honoured|hyped|jealous|sick of|tired of|afraid|scared|bored"
    r"|keen|eager|determined|conflicted|good|fine|okay|ok|great|better|bad|down|interested)\b",
    re.IGNORECASE,
)
# of those who are spoken of
_mood = re.compile(
    r"\b(?:is|are|was|were|been|felt|feels?|got) (?:so |really |very |all |just |totally |super |a bit |pretty )*(?:excited|happy|glad|sad|tired|thrilled|proud|grateful|thankful|lucky|blessed|upset|nervous|anxious"
    r"|inspired|exhausted|overwhelmed|stoked|pumped|frustrated|confused|relieved|amazed|surprised|hyped|scared|freaked|shocked|amazing|awesome|incredible|wonderful|fantastic|great fun|so cute|cute|choked up)\b"
    r"|\b(?:we|I|they|[Ee]veryone|everybody|people) should\b",
    re.IGNORECASE,
)
_cheer = re.compile(
    r"\b(?:keep (?:going|on|at it|pushing|it up|trying|believing|working|writing|moving|learning|growing|fighting|doing)|never give up|give up|won't (?:quit|stop|give)"
    r"|believe in (?:myself|ourselves|yourself)|life is|reminds? (?:me|us)|reminded (?:me|us)|blast|roller ?coaster|journey|joy|dreams? come true|right attitude|means? (?:so much|a lot|the world)"
    r"|can't imagine|nothing beats|worth it|good vibes|feel alive|makes? (?:me|us) (?:feel|so|happy|smile|think)|made (?:me|us) (?:feel|so|happy|smile|think|realize|appreciate)"
    r"|taught (?:me|us)|teaches (?:me|us)|inspires? (?:me|us)|lots of fun|such fun|so much fun|great time|good time|amazing (?:time|experience|feeling)|hard work|best of luck|paid off|pays? off"
    r"|(?:my|our|their) rock\b|like family|great addition|cheer(?:s|ed)? (?:me|us) on|tough times?|rough (?:time|patch|day|week)|at one with|stay on track|so supportive|supportive of"
    r"|(?:starting|beginning) to (?:realize|realise|feel|see)|am loving|since (?:we|I|the) last|since the last|there for (?:me|us)|haven't (?:talked|chatted|caught up|seen each other|spoken)|did(?:n't| not) talk|bring positive|make (?:things|it) better|same (?:magic|page|values)|positive (?:impact|change|difference)|make a (?:positive |big |real )?difference|have(?: got)? my back|in my corner|in this together|through thick and thin|push(?:ing)? (?:myself|ourselves|through|forward|on))\b",
    re.IGNORECASE,
)
# the talk with an assistant, and the work that is asked of it
_of_task = re.compile(
    r"\b(?:make sure|making sure|understand|figure out|verify|clarify|calculate|to know|to see|to find|to ask|to hear|to look at|see (?:if|how|what|the)|know (?:if|how|what|which)|can you"
    r"|could you|please|let me|let's|step[- ]by[- ]step|response|your (?:answer|help|list|plan|suggestions?|advice|feedback)|answers?|options?|prompt|summary|breakdown|outline|guidance|clear(?:ly)?|examples?"
    r"|feedback|the (?:following|next|above|right|same) (?:steps?|questions?|tasks?|codes?|points?|items?|sections?|chapters?|parts?|options?|approach|way|code|list|card)|sort out|waste"
    r"|right now|immediately|asap|properly|correctly|correct|exactly|precisely|talk(?:ing)? about|discuss(?:ed)?|rewrite|paragraph|upload|re-upload|paste|copy|ready (?:to|for)|working as expected"
    r"|practical|actionable|concrete|instructions?|stuck|having trouble|getting (?:an?|the|this|some) (?:\w+ )?(?:errors?|warnings?|issues?)|struggling to|wondering|trying to (?:count|do|think|find|recall|remember|solve))\b",
    re.IGNORECASE,
)
_lasting = re.compile(
    rf"\b(?:my|our) (?:[\w'-]+ ){{0,2}}?(?:{KIN}|{PEOPLE}|{PETS}|{THING}|job|work|career|salary|rent|mortgage|exam|thesis|dissertation|degree|wedding|surgery|birthday"
    r"|health|diet|back|knee|allerg\w+|diabetes|medication|name|hometown|school|university|hobby|hobbies|budget|income|savings|deadline|interview)\b"
    r"|\b(?:move|moving|moved|marry|married|learn|learning|become|buy|bought|retire|quit|study|studying|travel|travelling|visit|visiting|run|train|training|adopt|adopted|born|graduated?"
    r"|apply|applying|applied|start(?:ed|ing)? (?:a|an|my|at|as|working|teaching)|lose weight|save up|allergic|vegan|vegetarian|diagnosed|pregnant|engaged|divorced|promoted|hired|accepted)\b",
    re.IGNORECASE,
)
_when = re.compile(rf"\b{WHEN}", re.IGNORECASE)
_number = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|hundred|thousand|half|twice|once a)\b",
    re.IGNORECASE,
)
# a piece of work and no rule for all that come
_once = re.compile(
    r"^I (?:want|need|would like|'d like) you to (?!(?:always|never|stop|not|keep)\b)\w+ (?:me )?(?:the|this|that|these|my|an?|it|out)\b",
    re.IGNORECASE,
)
_at_once = re.compile(
    r"\b(?:right now|now[,.]? sharp|now$|immediately|and (?:just |then )?\*?(?:show|list|push|give|display|deliver|provide|fix|send|tell)\*?\b"
    r"|you(?:'ve| have)? (?:already|just)|you are \*?starting|(?:provide|give|show|send|repeat|do|redo|change|touch) (?:it|them|this|that|these|those)$|hold off|the (?:plan|outline|route|link|list|draft|table|summary|data) now)\b",
    re.IGNORECASE,
)
_title = re.compile(r"[\"“][^\"”]{2,60}[\"”]|'[A-Z][^']{2,60}'")
_moment = re.compile(
    r"\b(?:in (?:a|an|\d+|ten|five|two|few|couple) ?(?:of )?(?:few |couple of )?(?:seconds?|minutes?|secs?|mins?|moments?|bit|sec|hour)|for now|be right back|brb|be back|right away|later today|real quick|quickly|one (?:last|more) time|this very moment)\b",
    re.IGNORECASE,
)
_need = re.compile(
    r"^(?:I|we) (?:really |just |also |still |badly |definitely )?(?:need|could use|want|would like|crave|would love|'d love) (?:(?:a|an|some|more|my|another) )?(?:\w+ )?(?:coffee|tea|drink|nap|break|rest|sleep|hug|snack|minute|moment"
    r"|vacation|holiday|shower|walk|beer|wine|change|help|time|advice|tips?|suggestions?|ideas?|recommendations?)\b",
    re.IGNORECASE,
)
_judgement = re.compile(
    r"\b(?:is|are|was|were|sounds?|looks?|seems?|feels?|makes?) (?:[\w']+ ){0,3}?(?:important|great|good|amazing|awesome|incredible|inspiring|beautiful|lovely|nice|cool|fun|hard|tough|easy|difficult|key|crucial|essential"
    r"|perfect|wonderful|fantastic|sense|solid|ideal|helpful|useful|fulfilling|rewarding|special|priceless|powerful|exciting|interesting|impressive|stunning|gorgeous|consistent|acceptable|appealing|impossible|crazy|wild|intense|exhausting|frustrating"
    r"|what (?:I|we) (?:need|want|was|were|needed|wanted)|exactly|precisely|game[- ]changer|too much|a lot|all about|about finding|pretty|so )\b",
    re.IGNORECASE,
)
_housekeeping = re.compile(
    r"\b(?:should (?:not |only |never |still )?(?:be (?:treated|used|read|restated|taken|mistaken|considered|given)|rely|prefer|stay)|do(?:es)? not (?:change|supersede|create|mean|by itself)|none of (?:those|these|them)|authoritative|recall|retrieval|memory (?:agent|hygiene|stream)"
    r"|background (?:note|noise|unless)|noise|chatter|housekeeping|placeholder|unless (?:a|the) (?:later|newer|note|content)|later answers?|future answers?|summaries should|viewers?)\b",
    re.IGNORECASE,
)
_helps = re.compile(
    r"(?!(?:it|that|this|they|these|those|he|she|which|what|who|there|here|seeing|knowing|hearing|imagining|having|you|your|i|we|maybe)\b)(?:(?:my|our|the) )?[A-Za-z][\w'-]{2,}(?: [\w'&-]+){0,4}?"
    r" (?:really |always |often |also |can |just )*(?:helps?|calms?|relaxes|relax|soothes|triggers?|bothers) (?:me|us)\b",
    re.IGNORECASE,
)
_hobby = re.compile(
    r"\b(?:my|our) (?:\w+ ){0,2}?(?:hobb(?:y|ies)|passions?|jobs?|sports?|fave\w*|favou?rites?|thing|routine|specialt\w+|goals?|dream)\b",
    re.IGNORECASE,
)
_vague_end = re.compile(
    r"\b(?:have|has|had|having|got|get|did|done|made|found|see|want|need|handle|achieved?|do) (?:[\w']+ ){0,3}?(?:plans?|things?|stuff|ideas?|options?|something|anything|everything|lots?|fun|blast|time|issues?|experience|moments?|memories|ways?|points?|it all|better|good)$",
    re.IGNORECASE,
)
_supposition = re.compile(r"\b(?:might|maybe|perhaps|could|would|should|may)\b", re.IGNORECASE)
_textbook = re.compile(
    r"^(?:to \w+[^,]*, )?(?:we|I) (?:should |need to |have to |must |can )?(?:use combinations|calculate|check if|verify|find the|determine|convert|solve|ensure|refactor|write things|avoid assuming|use the (?:formula|law|conservation|equation|fact)|use json)\b"
    r"|\b[a-z] ?= ?[\w(]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Telling:
    """A clause that a pattern fits: `words` in the first person, `rule` and `category` of the pattern.

    `is_restored`: its "I" was put there by us. `to_machine`: it is said to an assistant, or by nobody
    known. `is_named`: "you" is somebody whose name is known. `is_beside`: it is not what its message is
    about, and has to say more. `is_alone`: it is all that its message says. `is_unknown`: nobody knows the name of who says it.
    """

    words: str = ""
    rule: str = ""
    category: str = ""
    confidence: float = 0.0
    is_restored: bool = False
    is_answer: bool = False
    is_item: bool = False
    to_machine: bool = False
    is_named: bool = False
    is_beside: bool = False
    is_alone: bool = False
    is_unknown: bool = False


def doubt(telling: Telling) -> str:
    """Why a clause is not worth keeping, a key of REASONS; empty where it is."""
    if telling.rule in OF_WORK:
        return ""
    if _is_unfinished(telling):
        return "unfinished"
    if telling.category in STANDING and telling.rule not in TEAM_RULES and not telling.is_named:
        # How somebody wants to be answered is said of "this" and to "you".
        is_once = telling.rule == "wants-from-assistant" and _once.search(telling.words)
        return "task" if is_once or _at_once.search(telling.words) else ""
    if not telling.is_answer and open_referent(telling.words):
        return "referent"
    if _you.search(telling.words) and (not telling.is_named or _you_does.search(telling.words)):
        return "addressed"
    if telling.is_beside and strength(telling.words) < BESIDE:
        return "vague"
    return _of_no_use(telling)


def _is_unfinished(telling: Telling) -> bool:
    words = telling.words
    opening = _opening.match(words)
    rest = opening["rest"] if opening else words
    if len(rest.split()) < 3 and (
        opening or not read_clause.is_courtesy(words) and telling.confidence < 0.8
    ):
        return True
    if len(_quotes.findall(words)) % 2 or _garbled.search(words) or _no_end.search(words):
        return True
    if telling.is_restored and ":" in words:
        return True
    if telling.is_restored and (_participle.match(words) or len(words.split()) < 4):
        return True
    return bool(_aside.match(words))


def _of_no_use(telling: Telling) -> str:
    words, rule = telling.words, telling.rule
    if _moment.search(words) or _need.match(words):
        return "moment"
    if rule in TEAM_RULES:
        return "task" if telling.to_machine and _textbook.search(words) else ""
    if _housekeeping.search(words):
        return "remark"
    if rule in LOOSE:
        return _loose(telling, strength(words))
    if _vague_end.search(words):
        return "vague"
    if rule == "matters":
        return "" if len(read_clause.telling(words)) >= 2 else "vague"
    return _of_little_use(telling, strength(words))


def _of_little_use(telling: Telling, amount: int) -> str:
    """As `_of_no_use`, of what a narrow pattern fits, by how much it says."""
    words, rule, is_dated = telling.words, telling.rule, bool(_when.search(telling.words))
    if rule in FEELINGS or (
        _feeling.match(words) and telling.category not in ("relationship", "possession")
    ):
        least = 7 if telling.to_machine else 5
        return "" if amount >= least and not _cheer.search(words) else "moment"
    if _cheer.search(words) or _mood.search(words):
        return "remark"
    if rule == "thinks" and (amount < 5 or _judgement.search(words)):
        return "remark"
    # Who somebody is or what he has is no work at hand, whatever words he says it with.
    is_plain = telling.confidence >= 0.85 and rule not in WISHES | EVENTS
    is_of_task = telling.to_machine and not is_plain and _of_task.search(words)
    if is_of_task and not (_lasting.search(words) and amount >= 4):
        return "task"
    if rule in WISHES:
        return _wish(telling, amount, is_dated)
    if telling.to_machine and rule in ("my-something", "my-thing") and amount < 4:
        return "vague"
    if telling.confidence >= 0.85 and rule not in EVENTS:
        return ""
    least = 1 if telling.is_alone else 4 if telling.to_machine else 2
    return "" if amount >= least or (is_dated and amount >= 2) else "vague"


_joint = re.compile(
    r",? (?:and|but|so|which|because|since|as|while|though|although|where)\b|[,;] |\s[-–—]+ |[-–—] "
)
_shown = re.compile(
    r"\b(?P<verb>made|found|bought|got|drew|read|watched|wrote|adopted|built|baked|cooked|painted|reading|watching|playing|writing|making|joined|started|finished|ordered|tried|visited|met)"
    r" (?P<word>this|these) (?!(?:and|of|one|ones|in|on|at|for|with|to|from|by|after|when|last|because|so|but|or|is|was|too|again|yesterday|today|week\w*|month\w*|year|morning|evening|afternoon"
    r"|summer|winter|spring|fall|autumn|pics?|photos?|pictures?)\b)(?=(?P<following>[a-z]))",
    re.IGNORECASE,
)
BESIDE = 4  # the least strength of what is said beside the news of a message
MOST_PARTS = 6  # of a clause that are tried for themselves


_trailing = re.compile(
    r"(?<! went)(?<! go)(?<! been)(?<! get)(?<! got)(?<! live)(?<! lived) (?:there|here|too|as well|again|though)$",
    re.IGNORECASE,
)


def shortened(words: str) -> Iterator[str]:
    """Ways to put a clause that leave out what cannot be kept, the longest first: with an article for
    a thing that was shown, without what was joined to it, or that alone."""
    shown = _shown.sub(_with_article, words)
    if shown != words:
        yield shown
    if _trailing.search(shown):
        yield _trailing.sub("", shown)
    joints = list(_joint.finditer(shown))[-MOST_PARTS:]
    for joint in reversed(joints):
        if joint[0].strip() == "and" and not _own_clause.match(shown, joint.end()):
            continue  # "a safe and loving home" is one thing
        if len(shown[: joint.start()].split()) >= 4:
            yield shown[: joint.start()].rstrip(" ,;-")
    for joint in joints:
        rest = shown[joint.end() :].lstrip(" ,;")
        if _own.match(rest) and len(rest.split()) >= 4:
            yield rest


_own_clause = re.compile(
    rf"\s*(?:I|we|he|she|it|they|you|my|our|his|her|their|the|an?|this|that|then|also|just|so|really|is|are"
    rf"|was|were|have|has|had|will|can|am|{PAST})\b",
    re.IGNORECASE,
)
_own = re.compile(r"(?:then )?(?:I|we|my|our)\b", re.IGNORECASE)


def _with_article(match: re.Match[str]) -> str:
    article = "some" if match["word"].lower() == "these" else "a"
    if article == "a" and match["following"].lower() in "aeiou":
        article = "an"
    return f"{match['verb']} {article} "


def strength(words: str) -> int:
    """How much of a clause could be known of somebody: its telling words count one, names, numbers
    and what lasts two more."""
    named = read_clause.names(words)
    return (
        min(4, len(read_clause.telling(words)))
        + 2 * min(2, len(named))
        + 2 * bool(_number.search(words) or _title.search(words))
        + 2 * bool(_lasting.search(words))
    )


def _wish(telling: Telling, amount: int, is_dated: bool) -> str:
    words = telling.words
    if telling.to_machine:
        if telling.rule in ("will", "needs"):
            return "" if amount >= 6 or (amount >= 5 and is_dated) else "task"
        return "" if amount >= 4 or (amount >= 3 and is_dated) else "task"
    if _supposition.search(words) and amount < 5:
        return "moment"
    least = 3 if telling.rule in ("will", "going-to", "needs") else 2
    return "" if amount >= least else "moment"


def _loose(telling: Telling, amount: int) -> str:
    words, rule = telling.words, telling.rule
    if rule == "does-me-good":
        return "" if _helps.match(words) and not telling.to_machine else "remark"
    if rule in ("it-is", "advises"):
        return "remark"
    if telling.is_unknown and rule in ("statement", "our-world"):
        return "others"  # nobody says it of himself, and nobody knows who says it
    if rule == "doing-is":
        return "" if _hobby.search(words) and not _judgement.search(words) else "remark"
    if _cheer.search(words) or _judgement.search(words) or _feeling.match(words):
        return "remark"
    if telling.to_machine and _of_task.search(words):
        return "task"
    has_detail = bool(_number.search(words) or read_clause.names(words) or _lasting.search(words))
    return "" if amount >= 5 and has_detail else "vague"

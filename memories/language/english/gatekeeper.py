"""The decision which messages are worth reading: talk without content is skipped, with a reason.

A skipped message is still kept as an episode; only nothing is learned from it. In doubt a message
is read.
"""

import re
from collections import Counter
from dataclasses import dataclass

from memories.language.english import clauses, frames, pasted_text, person, read_clause, short_answers
from memories.language.english.clauses import Clause
from memories.language.english.patterns import library


@dataclass(frozen=True, slots=True)
class Verdict:
    """A decision whether to `skip` a message; `reason` is for people, `label` is for counting."""

    skip: bool
    reason: str = ""
    label: str = ""


REASONS = {
    "empty": "nothing is said",
    "served": "only what this server had served itself",
    "dump": "output of a program, not talk",
    "boilerplate": "signatures, legal notices and other lines below a text",
    "quoted": "only words of somebody else",
    "fiction": "not said in earnest: fiction, play, a joke or a sample",
    "short": "too few words to say anything",
    "courtesy": "greetings, thanks and other courtesies",
    "assent": "only agreement or refusal",
    "question": "only questions",
    "request": "only asks for a piece of work",
    "praise": "only talk about what the other one said",
    "kept": "messages of a kind that is kept and not read",
}
SHORT, LONGEST = 100, 1500  # characters; whoever says more than this says something
PRAISE_WEIGHT, QUESTION_WEIGHT = 3, 12  # telling words from which praise or a question is content
BRIEF = 10  # words; longer praise is passed over only when it tells nothing at all
CHATTER = ("courtesy", "short", "assent", "praise")
MOST = 1  # telling words in all of courtesy and praise that may be passed over

_courtesy = re.compile(
    r"(?:hey|hi|hello|yo|good (?:morning|evening|afternoon|night)|bye|goodbye|see (?:you|ya)|take care"
    r"|talk (?:to you )?(?:soon|later)|ttyl|cya|later|have a (?:good|great|nice|lovely)|thanks?|thank you|thx|ty"
    r"|no (?:problem|worries|prob)|np|you're welcome|you are welcome|my pleasure|anytime|welcome|cheers"
    r"|congrat\w*|good luck|best of luck|let me know|looking forward to hearing|stay (?:safe|strong|tuned)|enjoy"
    r"|nice to meet|pleased to meet|happy to help|glad to help|keep (?:it|me) (?:up|posted)|sorry to hear"
    r"|(?:I am )?(?:so |very |really |terribly )?sorry|my apologies|great to (?:hear|see)|good to (?:hear|see)|long time no see|hope you)\b",
    re.IGNORECASE,
)
_assent = re.compile(
    r"(?:ok(?:ay)?|k|sure|yes|yeah|yep|yup|no|nope|nah|cool|nice|great|awesome|perfect|right|exactly"
    r"|agreed|got it|sounds (?:good|great|fun|amazing|awesome|like|perfect)|ha(?:ha)+\w*|lol|wow|true|done|will do|go ahead"
    r"|continue|go on|next|proceed|please do|fine|understood|makes sense|absolutely|definitely|totally|of course"
    r"|more|again|same|confirmed|correct|stop|wait|hmm+)\b",
    re.IGNORECASE,
)
_praise = re.compile(
    r"(?:that is|that was|that must|that sounds|that looks|this is|it is|it sounds|it looks|sounds|looks|what an?|how"
    r"|such an?|so|you|your|way to|glad|proud|happy for|love (?:that|how|your|it)"
    r"|I am (?:so |really |very |super )?(?:glad|happy|proud|sorry|here for|excited for|sure you)"
    r"|I (?:really )?(?:love|like|admire|appreciate) (?:your|how|that|it|you)|I (?:bet|hope|know) you|I can (?:see|tell|imagine)"
    r"|can't wait to (?:see|hear)|wow|amazing|awesome|great|nice|cool|beautiful|gorgeous|incredible)\b",
    re.IGNORECASE,
)
_request = re.compile(
    r"(?:(?:can|could|would|will) you |please |now |then |and |ok |next |also )*(?:write|give|create|generate|make|list|suggest|describe"
    r"|discuss|explain|analy[sz]e|compare|contrast|translate|summari[sz]e|rewrite|rephrase|provide|show|tell|help|draft|compose|design"
    r"|outline|elaborate|expand|break ?down|define|calculate|compute|solve|convert|continue|complete|finish|fix|improve|edit|shorten"
    r"|examples? of|what|how|which|why|who|where|when|is|are|does|do|act as|answer the|find|recommend|identify|name|imagine|extract)\b",
    re.IGNORECASE,
)
_program_line = re.compile(
    r"\s*(?:[\[{<}\]]|\d{4}-\d\d-\d\d[T ]\d\d:\d\d|at [\w.$<>]+\(|File \"|Traceback|\w+(?:Error|Exception):|\$ |>>> "
    r"|(?:DEBUG|INFO|WARN(?:ING)?|ERROR|TRACE|FATAL)\b|[-+@]{2,3} |\|.*\||[A-Za-z0-9+/=]{60,}$|\"[\w-]+\": |diff --git |total \d+$"
    r"|[-dl][rwxst-]{9}[ .@+]|(?:npm|yarn|pip|error|warning)(?:\[\w+\])?: |(?:added|removed|changed|audited) \d+ packages)"
)
# one line of these is a program's, whatever the others are
_program_only = re.compile(
    r"\s*(?:\w*(?:Error|Exception): \S.*|\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S* +\[?(?:DEBUG|INFO|WARN|ERROR|TRACE|FATAL).*|\$ [a-z].*|diff --git .*|total \d+"
    r"|[-dl][rwxst-]{9}[ .@+].*|\{\s*\".*\}|\[\s*[\[{\"\d].*[\]}\"\d]\s*\]|<(?P<tag>[a-z][\w-]*)\b[^<>]*>.*</(?P=tag)>|https?://\S+"
    r"|(?-i:SELECT .+ FROM|INSERT INTO|UPDATE \w+ SET|DELETE FROM|CREATE TABLE|ALTER TABLE|DROP TABLE) .+)\s*",
    re.IGNORECASE,
)
_notice = re.compile(
    r"(?:accept (?:all|only necessary|our|the) cookies|(?:this (?:site|website|page)|we) uses? cookies\b.*|you have (?:successfully |been )*(?:unsubscribed|subscribed|logged (?:in|out)|signed (?:in|out))"
    r"|(?:your )?(?:changes|settings|preferences) (?:have been|were|are) saved|skip to (?:main )?content|(?:sign|log) in to continue"
    r"|click here to [\w ]+|loading|all rights reserved|page not found|404.*)[.!… ]*",
    re.IGNORECASE,
)
# What an assistant says to anybody: every piece of its message between commas and full stops.
_of_service = re.compile(
    r"(?:(?:hello|hi|hey|welcome)\b.{0,30}|(?:I am|I'm) (?:doing |very )?(?:great|fine|good|well|sorry)\b.{0,30}|and you"
    r"|(?:how|what) (?:else )?(?:can|may|could) I (?:help|assist|do for)\b.{0,60}|(?:is there )?anything else\b.{0,60}"
    r"|(?:but )?I (?:can't|cannot|am unable to|am not able to) (?:help|assist|do)\b.{0,60}|I (?:see|understand)(?: completely)?"
    r"|(?:that is |that's |how )?(?:wonderful|excellent|great|perfect|lovely|nice|fantastic|amazing|good to (?:know|hear))"
    r"|understood|noted|got it|sounds (?:good|great)|of course|certainly|sure|okay|ok|all right|alright|no problem|my pleasure"
    r"|(?:thanks?|thank you)\b.{0,40}|I(?:'ll| will) (?:keep|remember|note) (?:that|this|it)\b.{0,30}|let me know\b.{0,60}"
    r"|(?:you're|you are) welcome|(?:I am |I'm )?(?:happy|glad|here) to help)",
    re.IGNORECASE,
)
_piece_end = re.compile(r"[.!?,;:…]+")
_for_ever = re.compile(r"\b(?:always|never|from now on|every time|in future)\b", re.IGNORECASE)
_heard = Verdict(False)


def verdict(text: str, role: str, kind: str, question: str = "") -> Verdict:
    """Decide whether `text`, said in `role` as an event of `kind`, can hold a claim; `question` is
    what somebody else asked just before."""
    said = frames.SERVED.sub("", text).strip()
    if not said:
        return _skip("served" if text.strip() else "empty")
    if _is_dump(said):
        return _skip("dump")
    if _notice.fullmatch(said) or (role == "assistant" and _is_service(said)):
        return _skip("boilerplate")
    if len(said) > LONGEST or (question and short_answers.says(question, said)):
        return _heard
    labels, telling = Counter[str](), 0
    for clause in clauses.of_text(said):
        words = read_clause.plain(clause.text)
        weight = read_clause.weight(words, "")
        label = _label(clause, words, weight)
        if label == "content":
            return _heard
        labels[label] += 1
        telling += weight if label in CHATTER else 0
    if not labels:  # nobody says anything in it
        is_blank = not pasted_text.spoken(said).strip()
        whose = {"boilerplate": pasted_text.footers, "fiction": pasted_text.not_in_earnest}
        if is_blank and (label := next((label for label, places in whose.items() if any(places(said))), "")):
            return _skip(label)
        if len(said) < SHORT and "```" not in said:
            return _skip("quoted" if is_blank else "courtesy")  # nothing but interjections
    is_long = len(said.split()) > BRIEF and labels["praise"] > 0
    is_heard = not labels or telling > MOST or (is_long and telling)
    return _heard if is_heard else _skip(labels.most_common(1)[0][0])


def _is_service(text: str) -> bool:
    pieces = _piece_end.split(text[:LONGEST].replace("’", "'"))
    return all(_of_service.fullmatch(each.strip()) for each in pieces if each.strip())


def _skip(label: str) -> Verdict:
    return Verdict(True, REASONS[label], label)


def _is_dump(text: str) -> bool:
    """Tell whether most lines are a program's: JSON, a log, a stack trace, a table, a diff."""
    lines = [line for line in text.splitlines() if line.strip()][:200]
    hits = sum(bool(_program_line.match(line)) for line in lines)
    is_begun = bool(_program_only.fullmatch(lines[0])) and hits >= len(lines) - 1
    return is_begun or (hits >= 3 and hits > 0.6 * len(lines))


def _label(clause: Clause, words: str, telling: int) -> str:
    if clause.is_question:
        is_idle = telling < QUESTION_WEIGHT and not library.first_of_question(words)
        return "question" if is_idle else "content"
    if _courtesy.match(words) and telling <= 2:
        return "courtesy"
    if len(words.split()) <= 5 and _assent.match(words) and telling <= 1:
        return "assent"
    if read_clause.is_courtesy(words) and telling <= 1:
        return "short" if read_clause.is_short(words) else "courtesy"
    if _request.match(words) and not person.mentions_speaker(words):
        is_lasting = _for_ever.search(words) or library.first(words, is_request=True)
        if not is_lasting:
            return "request"
    # The speaker may come in after the opening: "That is the dog I adopted".
    openings = 1 if words.startswith(("I ", "we ", "We ")) else 0
    if _praise.match(words) and telling < PRAISE_WEIGHT and person.mentions(words) <= openings:
        return "praise"
    return "content"

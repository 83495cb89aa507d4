"""Patterns for what happened, what is going on, and since when."""

from memories.language.english.calendar import SEASON, WEEKDAY_STEMS
from memories.language.english.numbers import words_from
from memories.language.english.patterns.pattern import AM, NAME, WHEN, Pattern, S
from memories.language.english.verbs import ADVERB, PAST

_when = (
    rf"(?:last (?:\w+day|night|week|weekend|month|year|{SEASON}|christmas|time)|yesterday|today"
    rf"|this (?:past|morning|afternoon|evening|week|weekend|month|year|{SEASON}|time)|the other"
    rf"|(?:an?|{words_from(1, 6)}|a few|a couple(?: of)?|several|many|\d+) (?:day|week|weekend|month|year)s?(?: ago| back|,)"
    rf"|on (?:{WEEKDAY_STEMS})|over the (?:last|past|weekend|summer|winter|holidays|years|week)|earlier"
    r"|in (?:jan|feb|mar|apr|may|june|july|aug|sep|oct|nov|dec|19|20|college|high school|school)|recently|back (?:in|when)"
    r"|when I was|when we were|ever since|since|lately|these days|nowadays|for (?:a while|years|months|the (?:last|past))"
    r"|after|before|during|growing up|as a (?:kid|child|teen)|years ago)"
)
# what has a date of its own: an event, a contract, a piece of work
_thing = rf"(?:the|my|our|his|her|their|its|this|that|today's|tomorrow's|next week's|{NAME}'s)(?: (?!(?:is|are|was|were|will|has)\b)[\w'/&+-]+){{0,8}}?"
_once = r"(?: (?:already|now|just|officially|still|finally|also|only|all|probably))*"
PATTERNS = (
    Pattern(
        name="deadline",
        category="temporal",
        regex=rf"^(?:.{{0,80}} )?(?:deadline|due date|cut-?off(?: date)?|closing date|expiry date|renewal date|release date|launch date|start date|end date|kick-?off|go-live)(?: (?:for|of|to|on) .{{2,60}}?)?(?: (?:is|was|will be|has been|got|moved|slipped|stays?|remains?))+{_once}(?: (?:moved|extended|set|pushed|postponed|brought forward|changed|back|out))*{_once} {WHEN}.{{0,100}}",
        confidence=0.9,
        is_plain=True,
        needs=(
            "deadline",
            "due",
            "cut",
            "cutoff",
            "closing",
            "expiry",
            "renewal",
            "release",
            "launch",
            "start",
            "end",
            "kick",
            "kickoff",
            "live",
        ),
        examples=(
            ("The deadline for the visa form is 12 April", "The deadline for the visa form is 12 April"),
            ("Deadline is noon tomorrow", "Deadline is noon tomorrow"),
            ("The thesis deadline was extended to October", "The thesis deadline was extended to October"),
        ),
        counter_examples=("The deadline is tight", "Deadlines are stressful"),
    ),
    Pattern(
        name="due",
        category="temporal",
        regex=rf"^{_thing} (?:is|are|was|were|will be|falls?){_once} due {WHEN}.{{0,100}}",
        confidence=0.9,
        is_plain=True,
        needs=("due",),
        examples=(
            ("The tax return is due on Monday", "The tax return is due on Monday"),
            ("Our rent is due on the 1st", "Alex's rent is due on the 1st"),
        ),
        counter_examples=("The delay is due to rain", "The report is overdue"),
    ),
    Pattern(
        name="scheduled",
        category="temporal",
        regex=rf"^{_thing} (?:is|are|was|were|will be|has been|have been|got|gets){_once} (?:scheduled|planned|set|slated|booked|fixed|expected|moved|postponed|pushed(?: back)?|rescheduled|delayed|brought forward|shifted|extended|confirmed|announced|released|launched|opened|closed|shut down)(?: .{{1,40}}?)?,? {WHEN}.{{0,80}}",
        confidence=0.9,
        is_plain=True,
        examples=(
            ("The audit is scheduled for 3 May", "The audit is scheduled for 3 May"),
            ("My surgery was postponed to Friday", "Alex's surgery was postponed to Friday"),
            ("The choir rehearsal has been moved to 19:30", "The choir rehearsal has been moved to 19:30"),
        ),
        counter_examples=("The table is set for dinner", "The play was moved by joy"),
    ),
    Pattern(
        name="moves-to",
        category="temporal",
        regex=rf"^{_thing} (?:has |have |will |got |just )*(?:move[ds]?|slip(?:s|ped)?|shift(?:s|ed)?|change[ds]?|goes|went) (?:from .{{2,30}} )?(?:to|until|by) {WHEN}.{{0,80}}",
        confidence=0.9,
        is_plain=True,
        needs=(
            "move",
            "moved",
            "moves",
            "slip",
            "slips",
            "slipped",
            "shift",
            "shifts",
            "shifted",
            "change",
            "changes",
            "changed",
            "goes",
            "went",
        ),
        examples=(
            ("The retro moved to Wednesday", "The retro moved to Wednesday"),
            ("Our yoga class shifts to 7 pm", "Alex's yoga class shifts to 7 pm"),
        ),
        counter_examples=("The crowd moved to the left", "We moved to Oslo"),
    ),
    Pattern(
        name="cancelled",
        category="temporal",
        regex=rf"^{_thing} (?:is|are|was|were|has been|have been|got|gets|will be){_once} (?:cancell?ed|called off|suspended|discontinued|postponed|delayed|sold out|closed down)\b.{{0,100}}",
        confidence=0.85,
        is_plain=True,
        needs=(
            "cancelled",
            "canceled",
            "called",
            "suspended",
            "discontinued",
            "postponed",
            "delayed",
            "sold",
            "closed",
        ),
        examples=(("The ferry to Elba was cancelled", "The ferry to Elba was cancelled"),),
        counter_examples=("The noise cancelled out", "It was called Elba"),
    ),
    Pattern(
        name="begins-ends",
        category="temporal",
        regex=rf"^{_thing} (?:will |only |does not |doesn't |now |usually |officially |always )*(?:ends?|ended|expires?|expired|starts?|started|begins?|began|opens?|opened|closes?|closed|renews?|lapses?|leaves|departs?|arrives?|lands?|launch(?:es|ed)?|ships?|shipped|goes live|go live|went live|takes? place|took place|kicks? off|resumes?|finish(?:es|ed)?|runs? (?:out|until|till|from)|runs?|happens?|falls?|is (?:over|valid|open|closed|on|at))(?: (?!(?:so|too|very|well|like|with|up)\b)[\w'-]+){{0,4}}? {WHEN}.{{0,80}}",
        confidence=0.85,
        is_plain=True,
        examples=(
            ("The lease runs out in August", "The lease runs out in August"),
            ("My probation ends on 30 June", "Alex's probation ends on 30 June"),
            ("The ferry departs at 6:15", "The ferry departs at 6:15"),
        ),
        counter_examples=("The story ends well", "The end came soon"),
    ),
    Pattern(
        name="is-when",
        category="temporal",
        regex=rf"^{_thing} (?:is|are|was|were|will be){_once} {WHEN}(?!(?:'s| old| years?| long| away| late| ago))(?:[, ].{{0,80}})?$",
        confidence=0.85,
        is_plain=True,
        examples=(
            ("Nora's recital is tomorrow", "Nora's recital is tomorrow"),
            ("The harvest fair is in October this time", "The harvest fair is in October this time"),
        ),
        counter_examples=("The soup is cold today", "The boat is 3 years old"),
    ),
    Pattern(
        name="started-using",
        category="temporal",
        regex=rf"{S}(?:have )?{ADVERB}(?:started|began|stopped|quit|gave up|finished|resumed|took up|picked up|got into|got back into|switched to) (?!(?:it|that|this)$)\w",
        confidence=0.85,
        examples=(
            ("I started using Zustand last May", "Alex started using Zustand last May"),
            ("Started using Vim 3 weeks ago", "Alex started using Vim 3 weeks ago"),
            ("I stopped smoking in 2019", "Alex stopped smoking in 2019"),
        ),
        counter_examples=("The engine started", "I started it"),
    ),
    Pattern(
        name="dated",
        category="temporal",
        regex=rf"^{_when}\b.{{0,100}}\b(?:I|we|my|our|me)\b",
        confidence=0.85,
        examples=(
            ("Last week I fell off my bike", "Last week Alex fell off their bike"),
            ("When I was ten, I won a chess cup", "When Alex was ten, they won a chess cup"),
        ),
        counter_examples=("Last week was cold",),
    ),
    Pattern(
        name="used-to",
        category="temporal",
        regex=rf"{S}(?:used to|no longer|don't .{{2,60}} (?:any ?more|any longer)|stopped|quit)\b",
        confidence=0.85,
        examples=(
            ("I used to play rugby", "Alex used to play rugby"),
            ("I no longer paint icons", "Alex no longer paints icons"),
        ),
        counter_examples=("I am used to it",),
    ),
    Pattern(
        name="passive",
        category="temporal",
        regex=rf"{S}(?:was|were|got|have been|had been|am being) {ADVERB}(?:hired|fired|laid off|promoted|accepted|rejected|invited|offered|chosen|selected|awarded|nominated|elected|asked|told|given|injured|robbed|hit|stuck|forced|able|involved|inspired|raised|trained|admitted|transferred|lucky)\b",
        confidence=0.85,
        examples=(
            ("I got promoted in March", "Alex got promoted in March"),
            ("I was offered a place at Leeds", "Alex was offered a place at Leeds"),
        ),
        counter_examples=("He got promoted",),
    ),
    Pattern(
        name="was-where",
        category="temporal",
        regex=rf"{S}(?:was|were|am|are) {ADVERB}(?:in|at|on|with|near|back|off|out|away|up|down|there|home|part of|by) (?!(?:it|awe|the same|agreement|love|a (?:good|great)|your|luck)\b)\w",
        confidence=0.75,
        examples=(
            ("I was in Prague for the winter", "Alex was in Prague for the winter"),
            ("We are on holiday in Crete", "Alex and others are on holiday in Crete"),
        ),
        counter_examples=("I am in awe", "He is in Prague"),
    ),
    Pattern(
        name="did",
        category="temporal",
        regex=rf"{S}(?:and )?{ADVERB}(?!(?:knew|meant|thought|felt|said|guessed|saw that|agreed|heard you|understood|noticed|wondered|hoped|loved|learned|learnt|realized|realised|discovered|figured)\b){PAST}\b",
        confidence=0.8,
        examples=(
            ("I went to a concert yesterday", "Alex went to a concert yesterday"),
            ("Just got back from Rome", "Alex just got back from Rome"),
            ("My wife and I painted the kitchen", "Alex and their wife painted the kitchen"),
        ),
        counter_examples=("He went to a concert", "I thought it was fine"),
    ),
    Pattern(
        name="did-not",
        category="temporal",
        regex=rf"{S}(?:did not|didn't|couldn't|could not|wasn't able to|haven't|have not|have never|never) {ADVERB}(?!(?:know|mean|think|expect|realize|realise|want|like|say|believe|see (?:that|it))\b)\w{{2,}}",
        confidence=0.75,
        examples=(
            ("I didn't pass the driving test", "Alex didn't pass the driving test"),
            ("I've never been to Asia", "Alex has never been to Asia"),
        ),
        counter_examples=("I didn't know that",),
    ),
    Pattern(
        name="has-done",
        category="temporal",
        regex=rf"{S}(?:have|'ve) {ADVERB}(?!(?:a|an|to|no|the|my|some|heard|got|had (?:a )?(?:good|great))\b)(?:been|had|done|gone|made|seen|taken|given|written|known|become|met|won|lost|found|built|put|read|run|begun|come|grown|kept|led|left|set|spent|taught|told|thought|\w+ed)\b",
        confidence=0.8,
        examples=(
            ("I've visited Japan three times", "Alex has visited Japan three times"),
            ("Been learning Finnish for two years", "Alex has been learning Finnish for two years"),
        ),
        counter_examples=("I have to go", "I have a dog"),
    ),
    Pattern(
        name="is-doing",
        category="temporal",
        regex=rf"{S}{AM}(?:not )?(?!(?:going|being|feeling|saying|hoping you|wishing you|sending|kidding|guessing|rooting|loving (?:it|this|that)|wondering|thinking)\b)\w{{2,}}ing\b(?! you\b)",
        confidence=0.8,
        examples=(
            ("I'm learning to sail", "Alex is learning to sail"),
            ("Loving the new job", "Alex is loving the new job"),
            ("We're renovating the kitchen", "Alex and others are renovating the kitchen"),
        ),
        counter_examples=("I am kidding", "Running is fun"),
    ),
    Pattern(
        name="joined-past",
        category="temporal",
        regex=rf"\b(?:I|we) {ADVERB}(?!(?:knew|meant|thought|felt|said|guessed|had|was|were|did|got)\b){PAST} (?!(?:it|that|this|you)\b)\w",
        confidence=0.65,
        needs=("i", "we"),
        examples=(
            ("The bread that I baked on Sunday turned out well", "The bread that Alex baked on Sunday turned out well"),
        ),
        counter_examples=("The bread was good",),
    ),
)

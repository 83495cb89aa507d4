"""Data: labels that say who speaks the words behind them, as bridges of chats, transcripts and people write them."""

import re

SIGN = re.compile(r"[:>\])\n]")  # every label has one
_name = r"[^\W\d_][\w.'’-]{0,30}(?: [^\W\d_][\w.'’-]{0,30}){0,2}"
_person = rf"(?:{_name}|(?:speaker|person|participant|user|voice|guest|customer|agent)[ _-]?(?:\d{{1,3}}|[A-Z])|@[\w.-]{{2,40}})"
_capital = r"(?-i:[^\W\d_a-zß-öø-ÿ])[\w.'’-]{0,30}"
_date = r"(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2} [a-z]{3,9}\.?(?: \d{4})?|(?:today|yesterday|mon|tue|wed|thu|fri|sat|sun)[a-z]*)"
_clock = r"\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?:[.,]\d{1,6})?(?:\s?[ap]\.?m\.?)?(?:z|[+-]\d\d:?\d\d)?"
_time = rf"[\[(]?(?:{_date}[,t]?(?: at)? ?)?{_clock}[\])]?"
_room = r"[#@]?[\w-]{1,40}"
_start = r"^[ \t>*•–-]{0,40}"
# Exact forms, of which one is enough
EXACT = re.compile(
    rf"{_start}(?:"
    rf"(?:user|human|member|author|sender|speaker|person|from|message from|msg from|sent by|said by|name)[ \t]*[\[(<{{]+[ \t]*@?(?P<a>{_person})[ \t]*[\])>}}]+[ \t]*:"
    rf"|@(?P<b>[\w.-]{{2,40}}) (?:said|wrote|posted|says|writes|replied|asked|answered|via|in)(?: (?:in|on|at|to) {_room})?[ \t]*:"
    rf"|\[?{_room}\]? ?[|>] ?@?(?P<c>{_person})[ \t]*:"
    rf"|{_time}[ \t]*(?:[-–—|][ \t]*)?[\[(<*]{{0,2}}@?(?P<d>{_person})[\])>*]{{0,2}}[ \t]*(?::|(?<=>))\**"
    rf"|(?P<e>{_capital}(?: {_capital}){{0,2}})[ \t]+(?:[-–—|·•][ \t]*)?(?:{_time}|(?:today|yesterday) at {_clock})[ \t]*:?[ \t]*(?=\n)"
    rf"|(?P<f>{_person})[ \t]*[\[(]?{_time}[\])]?[ \t]*:"
    rf"|(?P<g>{_person}) (?:said|wrote|posted|replied|asked|answered) (?:in|on) #[\w-]{{1,40}}[ \t]*:"
    r")[ \t]*",
    re.MULTILINE | re.IGNORECASE,
)
# Forms of which two must stand, or the name of somebody who is known
MARKED = re.compile(
    rf"{_start}(?:[\[(<{{]@?(?P<a>{_person})[\])>}}][ \t]*(?:[:–-]|(?=[ \t]))"
    rf"|(?:\*{{1,3}}|_{{1,2}}|`)@?(?P<b>{_person})(?:[ \t]*:(?:\*{{1,3}}|_{{1,2}}|`)|(?:\*{{1,3}}|_{{1,2}}|`)[ \t]*:)"
    rf"|@(?P<c>[\w.-]{{2,40}})[ \t]*:"
    rf"|(?:from|message from|msg from) @?(?P<d>{_capital}(?: {_capital}){{0,2}})[ \t]*:"
    rf"|(?P<e>{_capital}(?: {_capital}){{0,2}}) [(\[](?:(?:s?he|they|xe)(?:/\w+){{1,2}}|\w[\w .-]{{0,24}})[)\]][ \t]*:"
    rf"|#{{1,6}} (?P<f>{_capital}(?: {_capital}){{0,2}})[ \t]*:?[ \t]*(?=\n)"
    r")[ \t]*",
    re.MULTILINE | re.IGNORECASE,
)
# "Anna: ..." at the beginning of a line or behind a full stop
BARE = re.compile(
    rf"(?:{_start}|(?<=[.!?…] )|(?<=[.!?][\"”’] ))(?P<a>{_capital}(?: (?:(?:de|da|van|von|der|den|di|la|le|al|el|bin|ben) )*{_capital}){{0,2}}"
    r"|(?i:speaker|person|participant|voice|guest|caller|user|interviewer|student|player|agent|customer)[ _-]?(?:\d{1,3}|[A-Z])|[QA])[ \t]*:(?!//)[ \t]*(?=\S)",
    re.MULTILINE,
)
# "Here's my situation: I work at ...": words that an introduction of one's own is made of, and those it has not
INTRODUCTION = re.compile(r"[ \t*_#>\[(-]*(?P<words>[^.!?\n:]{1,40}?)[\])*_]*:[*_\])]*\s+")
_little = "my me our us here here's here’s is are this these a an some bit few two three little more just and as of on in to with hi hey hello dear myself i'm some"
OF_OTHERS = frozenset(
    """
    message messages mail email letter quote review reviews comment comments sample test tests data example examples song songs plot game games movie movies
    film films dream dreams post blog article copy output input log logs reply response statement text query document file album podcast answer
    answers prompt scenario plot story's book body error errors author channel
    """.split()
)
FIRST_PERSON = re.compile(
    r"\b(?:I|I['’](?:m|ve|d|ll)|my|me|mine|we|we['’](?:re|ve|d|ll)|our|us)\b(?!\.\w)", re.IGNORECASE
)
OWN = frozenset("me i myself user human you moi ich yo io eu ik".split())
MACHINES = frozenset(
    "assistant ai bot chatbot chatgpt gpt gpt-4 claude gemini copilot llm model system developer tool function siri alexa cortana bard grok llama mistral deepseek".split()
)
# Parts of a talk that have no name
ROLES = frozenset(
    """
    q a question answer interviewer interviewee candidate customer agent patient doctor nurse teacher student host guest caller client
    therapist counsellor counselor narrator moderator journalist reporter judge witness lawyer seller buyer tenant landlord boss manager
    mum mom mama mother dad papa father wife husband brother sister son daughter granny grandma grandpa aunt uncle girl boy man woman
    support operator officer driver waiter waitress recruiter applicant employee employer professor tutor coach pupil child kid
    speaker person participant voice player stranger friend neighbour neighbor colleague flatmate roommate partner chorus everyone all
    """.split()
)
# What heads a line and is no name: whoever writes a list, a form or a note about themselves begins so.
NO_NAMES = frozenset(
    """
    about account achievement achievements act action actions activities activity actually addition additional address addresses advice
    afternoon age agenda aim aims album alert allergies allergy alternative also am amount analysis animals answers anyway app apps april
    area argument arrival article ask asks assumption assumptions attention audience august author autumn availability background backup
    bedroom bedtime before beginner behavior behaviour benefits beverages bio biography birthday birthdate blocker blockers blog body book
    books bonus born breakfast brief budget bug bugs build business but buy calendar call calls car career cars cases cast category caution
    cause challenge challenges change changes channel chapter check checklist childhood children chores christmas city clarification class
    classes clothes code colour colours color colors comment comments commute company complaint concern concerns conclusion condition
    conditions confession constraints contact content context contract cooking copy correction cost costs country course courses cover cuisine
    currency current daily data date dates day days deadline deadlines december decision decisions default definition deliverable demo
    dependencies description desires desktop dessert destination details device devices diagnosis diary diet difference dinner disclaimer
    disclosure discovery diseases dislike dislikes district do docs document done dont dosage draft dream dreams dress drink drinks drugs due
    duration duties edit editor education effort email employment end ending english environment equipment error errors evening event events
    evidence example examples exception exercise exercises expected expenses experience experiences explanation extra eyes fact facts family
    favorite favorites favourite favourites fear fears feature features february feedback feelings field figure file files film films final
    finally finance finances finding findings first fitness fix flat flight flights focus food foods footnote for format framework france
    frequency friday friends from frustration fun furniture future fyi game games garden gender general german genre german gift gifts goal
    goals good grade grades greeting greetings groceries group groups grammar guess guide gym habit habits hair hardware health heading headline
    height hello help her hi hint his history hobbies hobby holiday holidays home homework hope hotel hour hours house household how however
    idea ideas identity illness implementation important improvement in income info information ingredients injuries input insight
    inspiration instruction instructions instrument instruments insurance intent intention interest interests interview intro introduction
    investment issue issues it item items january job jobs journal july june keyboard kids kitchen language languages last later learned
    learning lesson lessons level license life like likes limit limitation limitations link links list location log logs looking love lunch
    mail main major march marital married math maths may meal meals meaning meat meds medical medication medications medicine meeting meetings
    member members memo memory memories message messages method methods middle minor mission mobile model moment monday money mood morning
    motivation motto movie movies music must my name names nationality need needs neighbourhood network news next nickname nickname night no
    notabene note notes notice notification november now number objective objectives observation occupation october off office ok okay on one
    opening opinion opinions option options order orders origin other others outcome output overall overview own parents part parties past
    payment people personal personality perspective pet pets phone photo photos place places plan plans platform plot plus podcast policy
    position possessions post preference preferences preparation present price prices priorities priority private pro problem problems product
    profession profile progress project projects pronouns proof properties property proposal pros ps purpose qualification qualifications
    quality quantity queries query quick quote rationale read reading reality really reason reasons recap recipe recommendation recommendations
    record reference references reflection region relationship relationships release religion reminder reminders rent reply report request
    requirement requirements research residence resolution resources response restrictions result results retirement review reviews risk risks
    role room rooms routine rule rules salary sample saturday savings scenario schedule school schooling science score season second secret
    section see september series service setting settings setup sex shift shoes shopping short side sidenote sign since situation size skill
    skills sleep snack snacks so soft software solution something song songs source sources specialty speciality spelling spoiler sport sports
    spring stack stage standup start state statement statistics status step steps still stock story strategy street strength strengths stress
    studies study style subject suggestion suggestions summary summer sunday supplies surgery survey symptom symptoms system task tasks tea
    team tech technology test tests text thanks that the theme then theory there thing things third this thought thoughts thursday time timeline
    times tip title tl;dr tldr to today todo todos tomorrow tonight tool tools topic topics total town trade training transport travel travels
    treatment trigger trip trips truth tuesday tv twist two type types typo unfortunately unit units until update updates upshot urgent usage use
    username uses vacation vacations value values vegetables vehicle verdict version video view views vision vitamins volunteering wants warning
    weakness weaknesses weather website wednesday week weekday weekdays weekend weekends weeks weight what when where which who why winter wish
    wishes with women work working workout workouts world worry worries writing year years yes yesterday yet zip
    """.split()
)
OF_ONESELF = NO_NAMES.union(MACHINES, _little.split()) - OF_OTHERS

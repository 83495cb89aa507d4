"""Rules for whether a pattern's finding in a clause is worth keeping, and if not, why not; and the
forms of words that they look for.

The rules are those of `memories.evaluation.worth_stories`. A clause comes here in the first person;
what it does not name can no longer be resolved. Patterns that fit almost anything must say more
than narrow ones, and to a machine most wishes and plans are about the piece of work at hand.
"""

import re
from dataclasses import dataclass

from memories.language.english import read_clause
from memories.language.english.numbers import words_from
from memories.language.english.patterns.pattern import KIN, PEOPLE, PETS, THING, WHEN
from memories.language.english.referents import open_referent
from memories.language.english.shorten_clause import OWN
from memories.language.english.verbs import PAST

# Forms of words by which `worth` tells what is worth keeping: of a piece of work at hand, of a
# mood, of the moment, of talk about the talk, without a finished clause, and what lasts.

QUOTES = re.compile(r"[\"“”]")

GARBLED = re.compile(r"[\t|{}]|->|=>|::|\(\)|</|\\n|_{3,}|={2,}|\*{2,}|\d ?= ?\d")

NO_END = re.compile(
    r"\b(?:the|a|an|my|our|your|their|his|and|or|but|because|if|than|is|are|was|were|am|very|(?<!any )more|so|while|although|been|be|even|especially|particularly|when|whenever|unless|because \w+ly)$",
    re.IGNORECASE,
)

# "A gift from my aunt", "For love and to teach my kids": no verb that tells something
FRAGMENT = re.compile(r"^(?:an?|for|to|with|just|not|such|because of|thanks to) (?=\w)", re.IGNORECASE)

FINITE = re.compile(
    rf"\b(?:am|is|are|was|were|be|has|have|had|do|does|did|don't|can|can't|could|will|won't|would|should|must|may|might|{PAST}|\w{{3,}}ed|\w{{2,}}(?<!s)s (?:me|us|my|our|the|an?|to|in|on|at|that|how|over)|go|goes|means?|helps?|[A-Za-z]+n't)\b",
    re.IGNORECASE,
)

OPENING = re.compile(
    r"^(?:when|while|after|before|since|although|though|because|as|once|if|last|this|next|yesterday|today|on|in|at|for|with|during"
    r"|over|every|until)\b[^,]{2,120}, (?P<rest>.+)$",
    re.IGNORECASE,
)

PARTICIPLE = re.compile(
    r"I (?:\w+ly )?(?:excited|tired|relaxed|interested|bored|worried|acknowledged|noted|agreed|confirmed|inspired|thrilled|confused|surprised"
    r"|annoyed|stressed|exhausted|impressed|amazed|delighted|frustrated|overwhelmed|disappointed|pleased|attached|updated|deleted|shared"
    r"|expected|needed|required|limited|scheduled|designed|aimed|located|certified|built|made|written|given|done|held|sent|thought|meant"
    r"|focused|dedicated|committed|determined|motivated)\b(?! (?:my|our|me|us|a|an|the|him|her|them|two|three|four|\d)\b)"
    r"|I \w+(?:ed|en|ilt|ade|eld) by\b",
    re.IGNORECASE,
)

YOU = re.compile(r"\b(?:you|your|yours|yourself|u|ur)\b", re.IGNORECASE)

YOU_DOES = re.compile(
    r"\byou (?!(?:are|were|have|do|don't|and|or|in|on|at|to|for|with|about|last|too|a|the|when|because|since|by|as|from|this|again|there|here|some|my|one)\b)[a-z]"
    r"|\b(?:when|if|what|whatever|how|as|make sure|hope|know|think|bet|like|that|because|so|and|see|glad|guess|believe) you\b",
    re.IGNORECASE,
)

HELPS_ANYBODY = re.compile(
    r"^(?!(?:I|we|my|our|he|she|they|it|the|his|her|this|that)\b)[^,]*?\b(?:can|could|helps?|gives?|brings?|reminds?|takes?|teach(?:es)?|forces?|shifts?|lets?|inspires?|pushes)\b(?: [\w']+){0,5}? us\b(?!.*\b(?:I|me|my)\b)",
    re.IGNORECASE,
)

# What is said to say something
SAYING = re.compile(
    r"\b(?:will (?:never|always) (?:forget|remember|cherish|love)|upbeat|self-belief|into the unknown|hop(?:e|ing) for the best|(?:small|little) things in life|cross(?:ed|ing) (?:my|our) fingers|fingers crossed"
    r"|dig(?:ging)? deep|am off to (?:go|have|bake|do|get|make|bed|work|sleep|hustle|link|see)|(?:the )?hang of (?:it|things|this)|silver linings?|(?:hit|hits|hitting) the ground running|(?:true|best) self\b|different paths|nice touch|100% (?:behind|with)|plugging away|business to run|let['’]s\b|for example)\b",
    re.IGNORECASE,
)

FEELING = re.compile(
    r"^(?:I|we) (?:[\w']+ ){0,4}?(?:excited|happy|glad|sad|tired|thrilled|proud|grateful|thankful|lucky|blessed|upset|nervous|anxious|inspired"
    r"|exhausted|overwhelmed|stoked|pumped|motivated|stuck|frustrated|confused|worried|concerned|hopeful|relieved|ready|curious|amazed|sorry"
    r"|surprised|stressed|drained|feel|feeling|felt|feels|sure|confident|honored|honoured|hyped|jealous|sick of|tired of|afraid|scared|bored"
    r"|keen|eager|determined|conflicted|good|fine|okay|ok|great|better|bad|down|interested)\b",
    re.IGNORECASE,
)

CHEER = re.compile(
    r"\b(?:keep (?:going|on|at it|pushing|it up|trying|believing|working|writing|moving|learning|growing|fighting|doing)|never give up|give up|won't (?:quit|stop|give)"
    r"|believe in (?:myself|ourselves|yourself)|life is|reminds? (?:me|us)|reminded (?:me|us)|blast|roller ?coaster|journey|joy|dreams? come true|right attitude|means? (?:so much|a lot|the world)"
    r"|can't imagine|nothing beats|worth it|good vibes|feel alive|makes? (?:me|us) (?:feel|so|happy|smile|think)|made (?:me|us) (?:feel|so|happy|smile|think|realize|appreciate)"
    r"|taught (?:me|us)|teaches (?:me|us)|inspires? (?:me|us)|lots of fun|such fun|so much fun|great time|good time|amazing (?:time|experience|feeling)|hard work|best of luck|paid off|pays? off"
    r"|(?:my|our|their) rock\b|like family|great addition|cheer(?:s|ed)? (?:me|us) on|tough times?|rough (?:time|patch|day|week)|at one with|stay on track|so supportive|supportive of"
    r"|(?:starting|beginning) to (?:realize|realise|feel|see)|am loving|since (?:we|I|the) last|since the last|there for (?:me|us)|haven't (?:talked|chatted|caught up|seen each other|spoken)|did(?:n't| not) talk|bring positive|make (?:things|it) better|same (?:magic|page|values)|positive (?:impact|change|difference)|make a (?:positive |big |real )?difference|have(?: got)? my back|in my corner|in this together|through thick and thin|push(?:ing)? (?:myself|ourselves|through|forward|on))\b",
    re.IGNORECASE,
)

# the talk with an assistant, and the work that is asked of it
OF_TASK = re.compile(
    r"\b(?:make sure|making sure|understand|figure out|verify|clarify|calculate|to know|to see|to find|to ask|to hear|to look at|see (?:if|how|what|the)|know (?:if|how|what|which)|can you"
    r"|could you|please|let me|let's|step[- ]by[- ]step|response|your (?:answer|help|list|plan|suggestions?|advice|feedback)|answers?|options?|prompt|summary|breakdown|outline|guidance|clear(?:ly)?|examples?"
    r"|feedback|the (?:following|next|above|right|same) (?:steps?|questions?|tasks?|codes?|points?|items?|sections?|chapters?|parts?|options?|approach|way|code|list|card)|sort out|waste"
    r"|right now|immediately|asap|properly|correctly|correct|exactly|precisely|talk(?:ing)? about|discuss(?:ed)?|rewrite|paragraph|upload|re-upload|paste|copy|ready (?:to|for)|working as expected"
    r"|practical|actionable|concrete|instructions?|stuck|having trouble|getting (?:an?|the|this|some) (?:\w+ )?(?:errors?|warnings?|issues?)|struggling to|wondering|trying to (?:count|do|think|find|recall|remember|solve))\b",
    re.IGNORECASE,
)

TRYING = re.compile(r"^(?:I|we) (?:am|are) (?:\w+ly |just |now |still |currently |also )*trying to\b", re.IGNORECASE)

# "I do - Bruno, my parrot": an answer
BARE = re.compile(
    r"^(?:I|we|(?:my|our) (?:[\w'-]+ ){0,2}?[\w'-]+) (?:each |all |both |really |still |also )?(?:do|does|did|am|have|has|will|would|can|could)(?:n't)?\s?(?:[-–—]|$)",
    re.IGNORECASE,
)

# A thing that is handed over in the talk: "I wanted to share this clip with you"
HANDED = re.compile(
    r"\b(?:share|sharing|show|showing|send|sending) (?:(?:this|these|an?|some|my|the|one)\b[^,]{0,80}? with you\b|you (?:this|these|an?|some|my|the|one)\b)",
    re.IGNORECASE,
)

# "We" that is people as such: "we all have our own ways", "books can help us rest"
WE_ALL = re.compile(
    r"^we all (?:each )?(?:have|find|need|want|deserve|face|share|go|get|make|know|feel|learn|grow)\b", re.IGNORECASE
)

# a piece of work and no rule for all that come
ONCE = re.compile(
    r"^I (?:want|need|would like|'d like) you to (?!(?:always|never|stop|not|keep)\b)\w+ (?:me )?(?:the|this|that|these|my|an?|it|out)\b",
    re.IGNORECASE,
)

# How somebody is to be answered, and not which piece of work is to be done
MANNER = re.compile(
    r"\b(?:always|never|every|each|from now on|whenever|when(?:ever)? I|in (?:the )?future|not|don't|stop|avoid|only|be (?!able|part|my)|sound|stay|call me|address|use|answer\w*|repl(?:y|ies|ying)"
    r"|respond\w*|responses?|speak|talk|write in|keep (?:it|your|the|every)|format|explain things|tone|style|brief|concise|language|in (?-i:[A-Z])[a-z]+$|remember|treat me|push me|challenge me|remind me)\b",
    re.IGNORECASE,
)

NEED = re.compile(
    r"^(?:I|we) (?:really |just |also |still |badly |definitely )?(?:need|could use|want|would like|crave|would love|'d love) (?:(?:a|an|some|more|my|another) )?(?:\w+ )?(?:coffee|tea|drink|nap|break|rest|sleep|hug|snack|minute|moment"
    r"|vacation|holiday|shower|walk|beer|wine|change|help|time|advice|tips?|suggestions?|ideas?|recommendations?)\b",
    re.IGNORECASE,
)

# A question behind what is told
ASKED_BEHIND = re.compile(
    r"\band (?:what|how|which|why|where) (?:[\w'-]+ ){0,3}?(?:can|could|should|do|does|did|would|will) (?:I|we)\b",
    re.IGNORECASE,
)

# "I won't quit, no matter what" tells of no end.
DEFIANT = re.compile(r"\b(?:won't|will not|will never|never going to|refuse to|not going to) \w+", re.IGNORECASE)

LASTING = re.compile(
    rf"\b(?:my|our) (?:[\w'-]+ ){{0,2}}?(?:{KIN}|{PEOPLE}|{PETS}|{THING}|job|work|career|salary|rent|mortgage|exam|thesis|dissertation|degree|wedding|surgery|birthday"
    r"|health|diet|back|knee|allerg\w+|diabetes|medication|name|hometown|school|university|hobby|hobbies|budget|income|savings|deadline|interview)\b"
    r"|\b(?:(?:move|moving|moved)(?! (?:on|forward|ahead|from (?!(?-i:[A-Z]))|straight|past|beyond|away|fast\w*|with|more)\b)|marry|married|(?:learn|learning)(?! from\b)|become|buy|bought|retire|quit|study|studying|travel|travelling|visit|visiting|run(?! (?:the(?! (?-i:[A-Z][a-z])\w+ (?!script|test|command|app|code|query|server|job|model))|this|that|these|it|some|my|out|into|through|on)\b)|train|training|adopt|adopted|born|graduated?"
    r"|(?:apply|applying|applied) (?:for|to (?:be|become|an?|(?-i:[A-Z])\w*))|start(?:ed|ing)? (?:a|an|my|at|as|working|teaching)|lose weight|save up|(?:can['’]t|cannot|can not|(?:do|does|could)(?:n['’]t| not)) (?:eat|drink)|never (?:eat|drink)s?|allergic|vegan|vegetarian|diagnosed|pregnant|engaged|divorced|promoted|hired|accepted|(?:trip|holiday|vacation|honeymoon|flight) (?:to|in) |(?:go|fly|travel) to (?-i:[A-Z])\w+|(?:looking|searching|hunting|saving)(?: up)? for (?:a|an|another|my|our) (?:\w+ ){0,2}?(?:job|flat|house|apartment|room|position|deposit|wedding|car|roommate|flatmate|childminder|nanny|school))\b",
    re.IGNORECASE,
)

NAMED_TIME = re.compile(rf"\b{WHEN}", re.IGNORECASE)

NUMBER = re.compile(rf"\d|\b(?:{words_from(1, 12)}|twenty|thirty|hundred|thousand|half|twice|once a)\b", re.IGNORECASE)

FIGURE = re.compile(r"\d(?![\d.,]*\s?%)")

TITLE = re.compile(r"[\"“][^\"”]{2,60}[\"”]|'[A-Z][^']{2,60}'")

MOMENT = re.compile(
    r"\b(?:^(?:I|we) (?:am |are |keep |still )*(?:getting|get|seeing|see|hitting|hit) (?:an?|the|this) (?:\w+ )?(?:error|exception|warning|stack ?trace)\b|^I (?:have |am )?just (?:had|ate|eaten|finished|having|made|got) (?:my |a |some |our )?(?:late |early |quick )?(?:lunch|dinner|breakfast|brunch|supper|coffee|tea|snack|nap|shower)$|in (?:a|an|\d+|ten|five|two|few|couple) ?(?:of )?(?:few |couple of )?(?:seconds?|minutes?|secs?|mins?|moments?|bit|sec|hour)|for now|be right back|brb|be back|right away|later today|by (?:EOD|(?:the )?end of (?:the )?day)|stay(?:ing|ed)? (?:positive|strong|calm|focused|motivated|hopeful|optimistic|on track|tuned|busy|the course)|real quick|quickly|one (?:last|more) time|this very moment)\b",
    re.IGNORECASE,
)

JUDGEMENT = re.compile(
    r"\b(?:is|are|was|were|sounds?|looks?|seems?|feels?|makes?) (?:[\w']+ ){0,3}?(?:important|great|good|amazing|awesome|incredible|inspiring|beautiful|lovely|nice|cool|fun|hard|tough|easy|difficult|key|crucial|essential"
    r"|perfect|wonderful|fantastic|sense|solid|ideal|helpful|useful|fulfilling|rewarding|special|priceless|powerful|exciting|interesting|impressive|stunning|gorgeous|consistent|acceptable|appealing|impossible|crazy|wild|intense|exhausting|frustrating"
    r"|what (?:I|we) (?:need|want|was|were|needed|wanted)|exactly|precisely|game[- ]changer|too much|a lot|all about|about finding|pretty|so )\b",
    re.IGNORECASE,
)

HOUSEKEEPING = re.compile(
    r"\b(?:should (?:not |only |never |still )?(?:be (?:treated|used|read|restated|taken|mistaken|considered|given)|rely|prefer|stay)|do(?:es)? not (?:change|supersede|create|mean|by itself)|none of (?:those|these|them)|authoritative|nothing (?:in|about) (?:[\w'-]+ ){1,5}?(?:changes?|should|overrides?|alters?|replaces?)|(?:do|does|did|should|must) not (?:replace|authori[sz]e|affect|override|reveal|alter|permit|grant|appear|come back|bleed)"
    r"|not (?:a basis|evidence|grounds|permission) for|should not be (?:confused|mixed|inferred|reused|revived)|recall|retrieval|memory (?:agent|hygiene|stream)"
    r"|background (?:note|noise|unless)|noise|chatter|housekeeping|placeholder|unless (?:a|the) (?:later|newer|note|content)|later answers?|future answers?|summaries should|viewers?)\b",
    re.IGNORECASE,
)

HELPS = re.compile(
    r"(?!(?:it|that|this|they|these|those|he|she|which|what|who|there|here|seeing|knowing|hearing|imagining|having|you|your|i|we|maybe)\b)(?:(?:my|our|the) )?[A-Za-z][\w'-]{2,}(?: [\w'&-]+){0,4}?"
    r" (?:really |always |often |also |can |just )*(?:helps?|calms?|relaxes|relax|soothes|triggers?|bothers) (?:me|us)\b",
    re.IGNORECASE,
)

HOBBY = re.compile(
    r"\b(?:my|our) (?:\w+ ){0,2}?(?:hobb(?:y|ies)|passions?|jobs?|sports?|fave\w*|favou?rites?|thing|routine|specialt\w+|goals?|dream)\b",
    re.IGNORECASE,
)

# "Rent: I paid 300", "In my last job, we built bridges"
OWN_BEHIND = re.compile(r"[,:] (?:(?:then|so|now|and) )?(?:I|we|my|our)\b")

# "Organising a choir for my old school was hard": it was done
OWN_DEED = re.compile(
    r"^(?P<deed>(?:starting|losing|moving|leaving|buying|selling|adopting|running|raising|studying|searching|quitting|finding|joining|opening|planning|teaching|writing|building|organi[sz]ing|renovating|volunteering|hosting|setting up)\b(?=[^,]*\b(?:my|our|I)\b|[^,]* (?:has|have) been\b)[^,]*?) (?:was|were|has been|have been|is both)\b",
    re.IGNORECASE,
)

SUPPOSITION = re.compile(r"\b(?:might|maybe|perhaps|could|would|should|may)\b", re.IGNORECASE)


PASSING = re.compile(
    r"\b(?:feel(?:s|ing)?|felt|can't wait|excited|glad|happy|sad|tired|sorry|thankful|grateful|proud|sure|right now|for now|later today|a blast|so much fun|keen|stay(?:s|ing)|living my|positive|comfort|vibes|tinkering|busy|stuff|just|trying|nervous|intense|seeing|things?)\b",
    re.IGNORECASE,
)

# "We raised a ton", "we responded to a situation": of what, nobody says
_unnamed = (
    r"(?:thing|stuff|option|place|spot|project|event|someone|person|people|stor(?:y|ies)|experience|opportunit(?:y|ies)|situation|hurdle|challenge|obstacle|setback|step"
    r"|idea|way|plan|change|moment|memor(?:y|ies)|journey|adventure|ride|time|ton|lot|bit|lead|result|surge|support|energy|purpose|impact|difference|chance|goal|progress|addition|offer)s?"
)
_adjective = (
    r"(?:an?|some|any|many|more|several|possible|lots? of|tons? of|plenty of|all (?:kinds|sorts) of|a (?:lot|ton|bunch|few|couple)(?: of)?|new|great|good|big|bad|cool|amazing|nice|awesome"
    r"|different|various|other|fun|special|real|wild|super|really|very|little|small|huge|whole)"
)
# Atomic: "a lot of" can be read in two ways, and a series of them would be tried in all.
_one_unnamed = rf"(?>(?:{_adjective} ){{1,6}}{_unnamed})"
NAMELESS = re.compile(rf"\b{_one_unnamed}(?: (?:and|of) {_one_unnamed}){{0,4}}$", re.IGNORECASE)

# "Growing up, I saw": an opening, and no deed; "been hectic for me" tells of the days
NO_DEED = re.compile(
    r"^I am (?:\w+ly )?\w+ing\b[^,]{0,60}[,\U0001F300-\U0001FAFF]\s?(?:I|we|my|our)\b|^I have been [\w-]+ (?:for|to|on|with) me\b"
)
# "Tara mixed-audiences notes should use one wording": the "I" was never meant.
NO_SUBJECT = re.compile(
    r"^I [\w-]+(?: (?!(?:that|who|which|where|when|while|because|so|and|but|if|as|I|we|my|our|how|what|whether)\b)[\w'’./-]+){1,9}? (?:should|must|may|can|will|is|are|was|were|has|have|had|do|does)\b"
)
# "I love the colours": of what is shown, or was spoken of before
OF_WHAT_IS_SHOWN = re.compile(
    r"^(?:I|we) (?:\w+ly |really |just |also |so |absolutely )*(?:love|like|loved|liked|adore|dislike|hate)d? (?:the|how|that|those|these) (?!.*\b(?:of|in|at) (?-i:[A-Z]))[a-z' -]+(?:,? and [a-z' -]+)?$",
    re.IGNORECASE,
)
# What a place or a deed is at this moment, and nothing else
HERE_AND_NOW = re.compile(
    r"^(?:I|we) (?:am|are) (?:\w+ly |just |now |already |still |currently )*(?:at|in|on|off|out|back|away|up|down|there|home|near) (?!.*\b(?:committee|team|board|leave|holiday|sabbatical|diet|medication|waiting list|call rota|year|charge|shift)\b)",
    re.IGNORECASE,
)
# What is said of one's own with nothing in it but praise
PRAISED = re.compile(
    r"^(?:my|our) (?:[\w'-]+ ){1,4}?(?:(?:is|are|was|were|looks?|has been|have been) (?:(?:still|all|so|really|very|always|just|pretty|super|absolutely|such|totally) )*"
    r"(?:doing (?:great|well|good|fine|okay|amazing)|awesome|amazing|great|wonderful|incredible|cute|adorable|sweet|lovely|the best|supportive|encouraging|inspiring|awestruck|(?:an?|the|my|our) (?:\w+ )?(?:blessing|future|world|everything|inspiration|motivation|joy|support(?: system)?|reason (?:I|we|why)\b.*))"
    r"(?:(?:,| and) (?:\w+ )?(?:awesome|amazing|great|cute|adorable|supportive|encouraging|inspiring|humbled|sweet|loving|kind))*(?: too)?"
    r"|(?:deserves?|should have|must have) (?:better|more|the best|it all|the world)|said (?:yes|no|so|hi|hello))$",
    re.IGNORECASE,
)

# Of the work that a machine helps with: what is ready for it, what it made, what comes next
AT_WORK_NOW = re.compile(
    r"^(?:I|we) (?:(?:have|even|already|just|also|now|finally) )*(?:have|had|got|have got) (?:got )?(?:all )?(?:the|that|this|these|those) (?:[\w'’-]+ ){0,3}?"
    r"(?:files?|data|datasets?|databases?|code|scripts?|tables?|columns?|lists?|links?|routes?|outlines?|drafts?|texts?|documents?|versions?|outputs?|results?|errors?|logs?|functions?|class(?:es)?|components?|pages?|branch|folders?|spreadsheets?|sheets?|slides?"
    r"|templates?|prompts?|answers?|questions?|information|info|details?|numbers?|figures?|specs?|structure|framework|basics|ideas?|formulas?|equations?|values?|variables?|steps?|setup|config\w*|app|api|query|queries|plans?|problem|issue|task|point|examples?|right|following)\b"
    r"|^(?:I|we) (?:have|got|have got) (?:got )?(?:my|our|an?|all) [^,]{2,60}? (?:ready|locked(?: in| down)?|sorted(?: out)?|covered|lined up|in place|set)$"
    r"|^(?:I|we) am thinking (?!(?:about|of)\b)"
    r"|^(?:my|our) (?:(?:only|very|immediate|current|main|primary|first|initial|highest|top|biggest|next|one) )*(?:next (?:step|move|task)|focus|priority|tweak|request|ask|question|requirement)s?\b"
    r"|^(?:the|this|that|our|my) (?:[\w-]+ ){0,3}?(?:matter|phase|topic|case|section|chapter|discussion|issue|part|step|stage) (?:is|are) (?:now |officially )?(?:closed|done|complete\w*|finished|settled|over|resolved)\b"
    r"|^(?:I|we|my [\w-]+|our [\w-]+) (?:am|is|are) (?:(?:still|already|now|just|currently|all) )*(?:waiting|standing by|on standby|on (?:it|the (?:calls?|phone|grind|hustle|case|line|job))|grinding|good to go|out there)\b"
    r"|^(?:I|we) (?:am|are) (?:(?:still|now|already|just) )*(?:on|in|at) (?:the|this) [^,]{2,60}? (?:page|screen|tab|step|menu|dialog|section|line)(?: now)?$"
    rf"|^(?:I|we) (?:[\w']+ )?(?:need|want|require|would like) (?:to (?:confirm|check|verify|ensure|make sure|see (?!my (?:{KIN}|{PEOPLE})\b))\b|(?:to (?:get|have|make|know|review|hear) )?(?:the|that|this|these|those|results|answers|solutions?|an? (?:solution|answer|change))\b)"
    r"|^(?:I|we) am looking (?:at|for (?:the|that|this|an exact|exact|maximum|minimum|precision|something|insights?|clarity|results|answers))\b"
    r"|^(?:my|our) (?:[\w-]+ ){1,3}?(?:must|should|needs? to|has to|have to)\b"
    r"|^(?:I|we) can (?:now )?(?:move|proceed|continue|start|go|get)\b",
    re.IGNORECASE,
)
# What makes it somebody's life all the same: a person or a pet, the body, a day
OF_A_LIFE = re.compile(
    rf"^(?:my|our) (?:[\w'’-]+ ){{0,2}}?(?!team|crew|employee|client|customer|student)(?:{KIN}|{PEOPLE}|{PETS})\b"
    r"|\b(?:insulin|surgery|surgeon|an operation|operated|transplant|kidneys?|liver|heart|lungs?|blood|bone|knee|genes?|genetic|mutation|allerg\w+|asthma|cancer|leuk\w+|tumou?r|diabet\w+|medication|medicines?|pills?|injections?|chemo\w*"
    r"|dialysis|therapy|treatment|diagnos\w+|syndrome|disease|disorder|vaccin\w+|pacemaker|wheelchair|hospital|biopsy|pregnan\w+|peanuts?|gluten|birthday|wedding|(?:night|day|early|late) shifts?)\b"
    r"|(?-i:\b(?:January|February|March|April|May|June|July|August|September|October|November|December|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b)",
    re.IGNORECASE,
)
# An opinion about an answer
OF_ANSWERS = re.compile(
    r"^I (?:(?:really|also|absolutely|just|still|do) )*(?:like|love|appreciate|enjoy|value) (?:(?:what|how|where|the way|that) (?:we|you|they|this|it)\b"
    r"|(?:the|this|that|these|those|your)\b (?:[\w'’&-]+ ){0,4}?(?:ideas?|breakdown|plan|approach|suggestions?|structure|format|layout|tips|foresight|loop|flow|concept|direction|detail\w*|emphasis|clarity|tone|drafts?|versions?|updates?|addition|examples?|analogy|summary|list|table|options?|design|strategy|framework|insights?|explanation|answer|focus)\b(?! of (?!(?:it|this|that|these|those|the|your)\b)))",
    re.IGNORECASE,
)
# A requirement in the form in which software is asked for
USER_STORY = re.compile(r"^as an? [^,]{2,60}, (?:I|we) (?:want|need|would like|should)\b", re.IGNORECASE)
ONE_NEED = re.compile(
    r"^(?:so )?(?:we|I) (?:also |really |just |still |then |now )*(?:need|have) to (?!(?:always|never|avoid|keep)\b)(?!.*\b(?:every|each|always|never|all|any)\b)",
    re.IGNORECASE,
)
BELOW = re.compile(
    r"\b(?:examples?|text|list|table|format|template|sample|instructions?|rules?) (?:that I (?:gave|sent)|(?:given )?(?:below|above))\b|\bthe following (?:example|text|format|template|rules|instructions)\b",
    re.IGNORECASE,
)


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
    statement our-world of-mine joined-past it-is doing-is does-me-good with-people first-person
    must-stay
    """.split()
)
BY_THE_WAY = frozenset("joined-past with-people of-mine".split())
WISHES = frozenset(
    """
    wants needs will going-to considering thinks goal plans looking-forward is-doing dated-plan
    wants-from-assistant my-work
    """.split()
)
# To a machine these are about the work at hand, unless they have a day or are about one's own life.
AT_HAND = frozenset("will going-to needs".split())
OF_ANY_WORK = AT_HAND | frozenset("wants looking-forward thinks dated-plan my-work".split())
FEELINGS = frozenset("feels values".split())
# What people do and have done, told among other things to a machine: mostly the work that it
# helps them with.
AT_WORK = frozenset("has-done is-doing started-using did dislikes of-mine wants-from-assistant passive".split())
LEAST = 3
# Counted in judged memories, under a half of what these find is worth keeping: told among other
# things, it must name something and, to a machine, be of what lasts.
SELDOM_AMONG_PEOPLE = frozenset("did got dated first-person looking-forward".split())
SELDOM_TO_MACHINE = frozenset("did got wants joined-past state-of-thing will of-mine must-stay fan".split())
# An event is news in whatever cheerful words it is told, if it says this much.
TOLD_EVENTS, MUCH = frozenset("did dated has-done got".split()), 5
EVENTS = frozenset("got dated passive started-using people kin".split())
# Reasons clear enough that the clause is not to be kept as a text either.
UNDERSTOOD = frozenset("referent addressed task moment remark".split())
TEAM_RULES = frozenset("team-should team-decided-that team-system".split())
TEAM_DOES = frozenset(("team-does", "named-team"))
OF_WORK = frozenset("missing-check should-add-check asks-about-null warns-of-null".split())  # said of code in reviews
STANDING = frozenset(("instruction", "policy"))


BESIDE = 4  # the least strength of what is said beside the news of a message


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
    """Return the reason why a clause is not worth keeping, a key of REASONS; empty if it is."""
    if telling.rule in OF_WORK:
        return "task" if telling.to_machine and ONE_NEED.match(telling.words) else ""
    if _is_unfinished(telling):
        return "unfinished"
    is_told_to_keep = telling.category in STANDING or telling.rule == "remember"
    if is_told_to_keep and telling.rule not in TEAM_RULES and not telling.is_named:
        # How somebody wants to be answered is said of "this" and to "you".
        is_wish = telling.rule == "wants-from-assistant"
        is_once = is_wish and (ONCE.search(telling.words) or not MANNER.search(telling.words[len("I want") :]))
        if telling.rule in TEAM_DOES and open_referent(telling.words):
            return "referent"
        return "task" if is_once or BELOW.search(telling.words) else ""
    if not telling.is_answer and open_referent(telling.words):
        return "referent"
    if HANDED.search(telling.words):
        return "addressed"
    if YOU.search(telling.words) and (not telling.is_named or YOU_DOES.search(telling.words)):
        return "addressed"
    amount = strength(telling.words)
    is_dated = not telling.to_machine and telling.rule in EVENTS and NAMED_TIME.search(telling.words)
    if telling.is_beside and amount + bool(is_dated) < BESIDE:
        return "vague"
    reason = _of_no_use(telling)
    # Among people, what they say of themselves, and not for the moment alone.
    is_his = not telling.to_machine and not telling.is_beside and OWN.match(telling.words)
    if is_his and reason in ("moment", "vague") and amount > LEAST:
        return reason if PASSING.search(telling.words) or CHEER.search(telling.words) else ""
    is_task = telling.to_machine and not telling.is_alone and not telling.is_item and telling.rule in AT_WORK
    lasts = LASTING.search(telling.words) or (FIGURE.search(telling.words) and NAMED_TIME.search(telling.words))
    return reason or ("task" if is_task and not lasts else "")


def _is_unfinished(telling: Telling) -> bool:
    words = telling.words
    if telling.is_restored and NO_DEED.match(words):
        return True
    if telling.rule == "goal" and not FINITE.search(words):
        return True
    if ASKED_BEHIND.search(words) or BARE.match(words):
        return True
    opening = OPENING.match(words)
    rest = opening["rest"] if opening else words
    if len(rest.split()) < 3 and (opening or not read_clause.is_courtesy(words) and telling.confidence < 0.8):
        return True
    if len(QUOTES.findall(words)) % 2 or GARBLED.search(words) or NO_END.search(words):
        return True
    if telling.is_restored and (":" in words or NO_SUBJECT.match(words)):
        return True
    if telling.rule in LOOSE and FRAGMENT.match(words) and not FINITE.search(words):
        return True
    return telling.is_restored and bool(PARTICIPLE.match(words) or len(words.split()) < 4)


def _of_no_use(telling: Telling) -> str:
    words, rule = telling.words, telling.rule
    if MOMENT.search(words) or NEED.match(words):
        return "moment"
    if reason := _of_its_kind(telling):
        return reason
    if rule in TEAM_RULES:
        return "task" if telling.to_machine and ONE_NEED.search(words) else ""
    if reason := _of_the_talk(telling):
        return reason
    if HOUSEKEEPING.search(words) or SAYING.search(words):
        return "remark"
    if WE_ALL.match(words) and not (read_clause.names(words) or NUMBER.search(words)):
        return "remark"
    if rule in LOOSE:
        return _loose(telling, strength(words))
    if rule == "matters":
        return "" if len(read_clause.telling(words)) >= 2 else "vague"
    return _of_little_use(telling, strength(words))


def _of_its_kind(telling: Telling) -> str:
    """Return a reason as `_of_no_use` does: for kinds of which under a half is worth keeping a month
    later, where nothing in the clause speaks for it."""
    words, rule, lasts = telling.words, telling.rule, bool(LASTING.search(telling.words))
    is_open = rule in SELDOM_AMONG_PEOPLE | SELDOM_TO_MACHINE or rule == "was-where"
    names = is_open and bool(read_clause.names(words) or NUMBER.search(words) or NAMED_TIME.search(words))
    if OF_WHAT_IS_SHOWN.match(words):
        return "referent"
    if (
        rule == "is-doing"
        and not (lasts or read_clause.names(words))
        or rule == "was-where"
        and HERE_AND_NOW.match(words)
        and not names
    ):
        return "moment"
    if not telling.to_machine:
        is_seldom = rule in SELDOM_AMONG_PEOPLE and not (names or lasts)
        return "vague" if is_seldom and not telling.is_alone else ""
    if rule in SELDOM_TO_MACHINE and not (names and lasts) and not telling.is_alone:
        return "vague"
    return "task" if rule == "going-to" and TRYING.match(words) else ""


def _of_the_talk(telling: Telling) -> str:
    """Return a reason as `_of_no_use` does: for clauses about a machine's work, and for praise."""
    words = telling.words
    is_at_work = AT_WORK_NOW.search(words) or USER_STORY.match(words)
    told = words.partition(" ")[2]  # without "my": whose it is does not make the work a life
    is_of_life = OF_A_LIFE.search(words) or LASTING.search(told)
    if telling.to_machine and is_at_work and not is_of_life:
        return "task"
    if PRAISED.match(words) or (telling.to_machine and OF_ANSWERS.match(words)):
        return "remark"
    return "vague" if says_nothing(words) else ""


def _of_little_use(telling: Telling, amount: int) -> str:
    """Return a reason as `_of_no_use` does: for what narrow patterns fit, by how much it says."""
    words, rule, is_dated = (telling.words, telling.rule, bool(NAMED_TIME.search(telling.words)))
    if rule in FEELINGS or (FEELING.match(words) and telling.category not in ("relationship", "possession")):
        least = 7 if telling.to_machine else 5
        return "" if amount >= least and not CHEER.search(words) else "moment"
    is_told = rule in TOLD_EVENTS and not DEFIANT.search(words)
    is_event = not telling.to_machine and is_told and amount >= MUCH
    if not is_event and CHEER.search(words):
        return "remark"
    is_judged = amount < 5 or JUDGEMENT.search(words)
    is_of_others = telling.to_machine and not LASTING.search(words)
    if rule == "thinks" and (is_judged or is_of_others):
        return "remark"
    # Who people are or what they have is not work at hand, in whatever words they say it.
    is_plain = telling.confidence >= 0.85 and rule not in WISHES | EVENTS
    is_of_task = telling.to_machine and not is_plain and OF_TASK.search(words)
    if is_of_task and not (LASTING.search(words) and amount >= 4):
        return "task"
    if rule in WISHES:
        return _wish(telling, amount, is_dated=is_dated)
    if telling.to_machine and rule in ("my-something", "my-thing"):
        is_his = LASTING.search(words) or FIGURE.search(words)
        if amount < 4 or (rule == "my-something" and not is_his):
            return "vague"
    if telling.confidence >= 0.85 and rule not in EVENTS:
        return ""
    least = 1 if telling.is_alone else 4 if telling.to_machine else 2
    return "" if amount >= least or (is_dated and amount >= 2) else "vague"


def _wish(telling: Telling, amount: int, *, is_dated: bool) -> str:
    words, rule = telling.words, telling.rule
    if not telling.to_machine:
        is_supposed = SUPPOSITION.search(words) and amount < 5
        least = 3 if rule in ("will", "going-to", "needs") else 2
        return "" if amount >= least and not is_supposed else "moment"
    # A goal has a day, or something of one's own in it.
    is_own = is_dated or LASTING.search(words)
    if rule in OF_ANY_WORK and not is_own:
        return "task"
    if rule in AT_HAND:
        return "" if is_own and amount >= 5 else "task"
    least = 3 if is_dated or (telling.is_alone and LASTING.search(words)) else 4
    return "" if amount >= least else "task"


def says_nothing(words: str) -> bool:
    """Tell whether a clause ends with something that it does not name, and says nothing else."""
    told = NAMED_TIME.sub("", words).rstrip(" ,")
    unnamed = NAMELESS.search(told)
    if unnamed is None or TITLE.search(words) or read_clause.names(words):
        return False
    return len(read_clause.telling(told[: unnamed.start()])) < LEAST


def strength(words: str) -> int:
    """Return how much of a clause could be known of somebody: its telling words count one, names,
    numbers and what lasts two more."""
    if says_nothing(words) or PRAISED.match(words):
        return 0
    named = read_clause.names(words)
    return (
        min(4, len(read_clause.telling(words)))
        + 2 * min(2, len(named))
        + 2 * bool(NUMBER.search(words) or TITLE.search(words))
        + 2 * bool(LASTING.search(words))
    )


def _loose(telling: Telling, amount: int) -> str:
    words, rule = telling.words, telling.rule
    deed = None if telling.to_machine else OWN_DEED.match(words)
    if deed and len(read_clause.telling(deed["deed"])) > 2:
        return ""  # whatever it was like, it was done
    if rule == "does-me-good":
        return "" if HELPS.match(words) and not telling.to_machine else "remark"
    if rule == "it-is":
        return "remark"
    is_own = OWN.match(words) or OWN_BEHIND.search(words)
    if rule in BY_THE_WAY and telling.to_machine and not is_own:
        return "vague"  # the speaker comes in, and nothing is told of them
    if telling.is_unknown and rule in ("statement", "our-world"):
        return "others"  # nobody says it of themselves, and nobody knows who says it
    if rule == "doing-is":
        return "" if HOBBY.search(words) and not JUDGEMENT.search(words) else "remark"
    if CHEER.search(words) or JUDGEMENT.search(words) or FEELING.match(words):
        return "remark"
    if telling.to_machine and OF_TASK.search(words):
        return "task"
    has_detail = bool(NUMBER.search(words) or read_clause.names(words) or LASTING.search(words))
    return "" if amount >= 5 and has_detail else "vague"

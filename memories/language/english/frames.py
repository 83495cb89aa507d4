"""Data: the words that open what is not said in earnest or is somebody else's, and that end it.

Forms alone, matched by `pasted_text`. What no form knows the judge sees, with the words before it in its message.
"""

import re

_start = r"(?:^|(?<=[.!?;…] )|(?<=\n)|(?<=[.!?]\n))[ \t*_#>-]*+"
_polite = r"(?:(?:please|can you|could you|would you|now|hey|hi|ok(?:ay)?|so|and|well|alright)[, ]+)*"
_self = r"(?:I|we|my|our|me|us)\b"
# "Let's pretend I never told you" is an order to the memory
_never = r"(?! (?:that )?(?:I|we|you) (?:never|(?:did|had|have)(?:n['’]t| not)))"
_games = (
    r"(?:the )?(?:skyrim|minecraft|factorio|sims(?: \d)?|fortnite|roblox|elden ring|dark souls|world of warcraft|wow|zelda"
    r"|stardew valley|animal crossing|fallout(?: \d+)?|gta(?: \w+)?|witcher(?: \d)?|cyberpunk(?: 2077)?|baldur['’]?s gate(?: \d)?"
    r"|mass effect(?: \d)?|final fantasy(?: \w+)?|pok[eé]mon(?: \w+)?|civilization|crusader kings|rimworld|runescape|eve online"
    r"|diablo(?: \w+)?|terraria|second life|vrchat|d ?& ?d|dnd|dungeons (?:and|&) dragons|pathfinder|warhammer)"
)
_world = (
    r"(?:(?:the|this|a|an|our|my|that|another|some|which)(?: [\w-]+)? )?(?:play|skit|sketch|panto|musical|screenplay|script"
    r"|story|tale|novel|fable|game|video ?game|role[- ]?play|rp|dreams?|nightmare|movie|film|scene|simulation|fantasy|fiction"
    r"|(?:parallel|alternate|alternative|other|fictional) (?:universe|world|reality|life|timeline)|next life|imagination|head ?canon"
    r"|hypothetical(?: (?:case|scenario))?|scenario|thought experiment|improv|comic|manga|opera|sitcom|soap opera|book I am writing)"
)
# Behind it comes who speaks, or a pause: not "in my dream house", "in the game industry"
_then = rf"(?=[ \t]*(?:[,:–—-]|{_self}))"

# One sentence: "In the game I'm a paladin", "I dreamt that I lived in Cairo", "Yeah right, and I'm a millionaire".
OF_A_SENTENCE = re.compile(
    rf"{_start}(?P<words>(?:(?:and|but|so|well|also|ok(?:ay)?|hey),? )*(?:"
    rf"in {_world}{_then}|in {_games}(?= {_self}|,)"
    rf"|(?:as|for|in) (?:a|the|my) (?:joke|laugh|bit|gag|part|role|line)\b[^.!?\n]{{0,40}},(?= ?{_self})"
    r"|[^.!?\n]{0,60}\b(?:dream(?:t|ed)|had (?:a|an|the|this|some) (?:[\w-]+ ){0,3}(?:dream|nightmare))(?: last night)?(?:,? (?:that|where|in which|about me)|[:,])? ?(?=(?:I|we|my)\b)"
    rf"|(?:let['’]?s say|let us say|(?:just )?say|assume|assuming|suppose|supposing|hypothetically|theoretically|imagine|for the sake of (?:the )?argument)(?: that)?[,:]? (?:(?:say|that|assume) )?(?={_self})(?!my name\b)"
    r"|(?:yeah|yes|oh|sure|right|of course|obviously|totally|wow|great)[, ]+(?:(?:sure|right|yeah|great|because|obviously|totally|like)[,. ]+)+(?:(?:and|as if|because|obviously|then) )*(?=(?:I|my|we)\b)"
    r"|(?:(?:and|then|sure|oh|ha+|haha\w*|hah|lol|yeah|yes|right|well|wow),? )+I(?:['’]m| am) (?:the (?:queen|king|pope|emperor|tooth fairy|president)|santa|a (?:millionaire|unicorn|astronaut|teapot)|made of money|batman|napoleon|elvis)\b"
    r"|as if I\b|if (?:I|we) were\b|what if (?:I|we)\b|let['’]?s pretend\b"
    + _never
    + r"|just for practice\b|say my name\b"
    r")[^.!?\n]*)",
    re.IGNORECASE | re.MULTILINE,
)

_made_up = (
    r"(?:(?:short |flash |bedtime |love |ghost )?(?:novel|stor(?:y|ies)|tale|fable|poem|haiku|limerick|ballad|song|lyrics|rap|verse|chorus"
    r"|monologue|soliloquy|dialogue|script|screenplay|scene|skit|sketch|fan ?fic(?:tion)?\w*|play|musical|opera|comic|sitcom|podcast script)"
    r"|character (?:sheet|card|profile|bio|description|backstory)|backstor(?:y|ies)|persona|role[- ]?play|rp|larp|npc|player character"
    r"|(?:dummy|sample|mock|fake|placeholder|fictional|imaginary|made-?up|invented|hypothetical|test|demo|seed|example|synthetic)"
    r" (?:[\w-]+ ){0,2}?(?:data|input|output|answers?|messages?|texts?|sentences?|profiles?|users?|prompts?|conversations?|cases?|strings?|records?|reviews?|quer(?:y|ies)|utterances?|dialogues?|bios?|customers?|persona|interview|call|trial|exam|debate|scenario|request|repl(?:y|ies)|transcript|log|document|\d+)"
    r"|lorem ipsum|lorem|mock interview|unit tests?|test case|fixtures?|few-?shot|training (?:data|examples?)|prompts?|intent|hypothetical|thought experiment"
    r"|parody|satire|improv|joke|riddle|voice-?over|commercial|tagline|caption|slogan|dating profile|testimonial|alter ego)"
)
_makes = r"(?:write|tell|compose|make up|invent|create|continue|start|draft|generate|finish|imagine|give me|do|improvise|rewrite|complete|record|act out|perform|narrate|sing|recite)"
# From it on, until its speaker returns to what is so: role-play, novels, samples.
OPENS = re.compile(
    rf"{_start}(?P<words>{_polite}(?:"
    # "Let's role-play", "Can we do a mock interview?"
    r"(?:let['’]?s|let us|can we|could we|shall we|we(?:['’]ll| will| could)|I(?:['’]d| would) like to|I want to|want to|wanna)(?: just| now| please)? (?:[\w-]+ ){0,4}?"
    r"(?:role[- ]?play|pretend"
    + _never
    + r"|play pretend|act out|rehearse|improvise|larp|(?:do|try|have|run|practi[sc]e) (?:a|an|the|my|some|for) (?:[\w-]+ ){0,3}?(?:role[- ]?play|scene|skit|sketch|improv|thought experiment|mock [\w-]+|interview|lines?|audition|hypothetical)|play (?:dungeons|d ?& ?d|dnd|house|doctor|pretend|a (?:text |role[- ]?playing )?(?:adventure|rpg|game where)|make-?believe))\b"
    r"|role[- ]?play(?:ing)?\b(?! (?:group|games?|night|club|session)\b(?![:.]))|we(?:['’]re| are) (?:role[- ]?playing|rehearsing|playing pretend|acting out|pretending|practi[sc]ing (?:lines|a scene|for))"
    r"|pretend(?:ing)?"
    + _never
    + r"(?: to be\b|(?: that)? (?:you|I|we|this|it)\b)|imagine(?: that)? (?:you|I|we)(?:['’]re|['’]m| are| am| were| was| have| live| work)\b|suppose(?: that)? (?:you|I|we)\b"
    r"|make-?believe\b|stay in character\b|you(?:['’]ll| will)? play (?:the|a|an|my) [\w -]{2,30}(?:,| and) I(?:['’]ll| will)? (?:play|be)\b"
    r"|mock (?:interview|trial|exam|debate|call|negotiation)\b|(?:once upon a time|long ago in a)\b"
    # "Chapter 1.", "Scene 3: ...", "INT. KITCHEN - NIGHT"
    r"|(?:chapter|prologue|epilogue|act|scene|verse|chorus|page|episode|canto|stanza)(?: (?:\d+|[ivx]+|one|two|three|four|five))?(?: ?,? ?scene \w+)?[ \t]*(?:[.:\n–—-])|(?-i:INT|EXT)\. "
    r"|(?:in|from) (?:the|this|my|our|a) (?:movie |stage |film )?(?:script|screenplay|play|novel|story|book|manuscript|film|movie)\b[^.!?\n:]{0,30}\b(?:scene|chapter|act|page) (?:\d+|[ivx]+|one|two|three)\b"
    r"|(?:the |my )?(?:(?:first|second|next|opening|last) (?:paragraph|line|chapter|scene|verse|stanza|sentence)|opening|beginning) ?:"
    # "Write a poem in which I ...", "Continue the story: I ..."
    rf"|{_makes}\b[^.!?\n:]{{0,80}}\b{_made_up}\b[^.!?\n:]{{0,80}}?(?:\b(?:where|in which|as if|with me|about how)\b|:|\b(?:perspective|point of view|view|voice|eyes|shoes|first person)\b[^.!?\n:]{{0,40}}[.:])"
    # "For my novel: I am ...", "Sample answer: ...", "My D&D backstory: ..."
    rf"|(?!(?:my|our) (?:\w+ )?(?:story|dream|joke)s?:|(?:I|we)(?:['’]\w+)? (?:like|love|hate|have|need|prefer|enjoy|read|play|bought|saw)\b)[^.!?\n:]{{0,60}}?\b{_made_up}\b[^.!?\n:]{{0,40}}(?::|\n)"
    rf"|(?:(?:this|it) is|here(?:['’]s| is| are|['’]re)|that['’]?s|these are) (?:[\w'’-]+ ){{0,3}}?{_made_up}\b[^.!?\n:]{{0,60}}[:.]"
    r"|(?:continue|finish|complete|extend|carry on|go on|keep going)(?: with| from)?(?: this| it| here| the following| my| the)?(?: [\w'’-]+){0,3}[ \t]*:"
    r"|(?:this|it)(?:['’]s| is)(?: just| only| all)* (?:a |an )?(?:tests?|testing|drill|joke|prank|fiction|make-?believe|sample|example|dummy|roleplay)\b[^.!?\n:]{0,30}[.!:]|(?:(?:asdf\w*|qwerty|test(?:ing)?|foo|bar|blah|lorem)\b[ ,.!]*){2,}"
    r"|(?:fan ?fic\w*|story|poetry|game) time\b"
    r"|(?:example|sample|dummy|test(?:ing)?|debug|demo|mock|placeholder|lorem|fiction|dream|monologue|lyrics|hypothetical)(?: \d+)*[ \t]*[:–—]"
    rf"|[^.!?\n:]{{0,40}}\b(?:{_games}|dragons?|wizards?)\b[^.!?\n:]{{0,20}}\b(?:backstory|character|campaign|session|avatar|alt|build)\b[^.!?\n:]{{0,20}}:"
    r"|let['’]?s play (?:dungeons|d ?& ?d|dnd|pathfinder)\b"
    r"|(?:my|the|our) (?:character|avatar|role|part|narrator|hero(?:ine)?|protagonist|villain|lines?|alter ego)(?: [\w'’-]+){0,5}? (?:says?|goes|thinks|narrates|sings|is(?= ?:)|speaks?)[:,]?"
    rf"|[^.!?\n]{{0,30}}\bin (?:character|the voice of|the style of|the role of)\b[^.!?\n:]{{0,40}}:"
    r"))",
    re.IGNORECASE | re.MULTILINE,
)
# Its speaker is back: "Anyway, ...", "In real life I am a baker", "Jokes aside"; or wants something of the listener.
RETURNS = re.compile(
    r"(?:^|(?<=[.!?] )|(?<=\n))[ \t(*]*+(?:(?:ok(?:ay)?|but|and|so|now|well|alright|right|thanks|oh|hey)[,.! ]+)*"
    r"(?:anyway|in real(?:ity| life)|irl|in truth|(?:jokes?|kidding|joking|all that|fun|games|fiction) aside|seriously|for real|out of character|ooc"
    r"|(?:let['’]?s |we can |please |I(?:['’]d like to| want to) )?(?:end|stop|quit|pause|exit|leave|finish|drop)(?:ing)? (?:of )?(?:the |this |our |that )?(?:role[- ]?play\w*|scene|game|story|character|act|pretending|interview|rehearsal)"
    r"|end (?:of )?(?:scene|role[- ]?play|game|story|quote|song|sample|example|test|fiction)|(?:that['’]?s |it is )?the end\b|(?:enough|done|finished) (?:of |with )?(?:the |this |our )?(?:role[- ]?play\w*|games?|scene|pretending|fiction)"
    r"|back to (?:reality|real life|me|work|business|normal|the real)|by the way|btw|as for me|about me\b|personally|the real me|real talk|on a (?:serious|real|personal) note|unrelated|my real|I(?:['’]m| am) (?:really|actually|not really))\b",
    re.IGNORECASE | re.MULTILINE,
)
# A paragraph that speaks to the listener again, behind what was handed over
ASKS_AGAIN = re.compile(
    r"\n[ \t]*\n+[ \t]*(?=(?:please|pls|can|could|would|will|do|does|did|is|are|should|how|what|which|why|who|where|when|any|thoughts|let me know|help|tell me|thanks?|make|give|improve|fix|check|correct|continue|rewrite|translate|reply|answer)\b)",
    re.IGNORECASE,
)
# A play of two that goes on in the next messages
PLAYED = re.compile(
    r"\b(?:role[- ]?play(?:ing)?(?! (?:group|games?|night|club)\b)|mock (?:interview|trial|debate|negotiation)|stay in character|text adventure|dungeon master|game master"
    r"|let['’]?s (?:play (?:dungeons|d ?& ?d|dnd|pretend|doctor|a (?:text |role[- ]?playing )?(?:adventure|rpg))|act out|improvise|rehearse|pretend"
    + _never
    + r")|we(?:['’]re| are) (?:rehearsing|playing pretend|pretending|role[- ]?playing))\b",
    re.IGNORECASE,
)

# Heads of mails that were passed on, as the usual programs write them: all behind them is their author's.
_field = (
    r"(?:to|cc|bcc|date|sent|subject|reply-to|an|datum|gesendet|betreff|kopie|à|date|envoyé|objet|para|fecha|enviado(?: el| em)?|asunto|a|data|inviato|oggetto"
    r"|aan|verzonden|onderwerp|assunto|till|skickat|ämne|til|sendt|emne|do|wysłano|temat)"
)
FORWARDED = re.compile(
    r"^[ \t>]*+(?:-{2,}|_{2,}|\*{2,})? ?(?:(?:begin |start of )?(?:forwarded|original) message|(?:anfang der )?(?:weitergeleitete[nr]?|ursprüngliche) (?:nachricht|e-?mail|mail)"
    r"|(?:début du )?message (?:d['’]origine|original|transféré|réexpédié)|(?:inicio del )?mensaje (?:original|reenviado)|(?:inizio )?messaggio (?:originale|inoltrato)"
    r"|(?:início da )?mensagem (?:original|(?:re)?encaminhada)|(?:begin )?(?:oorspronkelijk|doorgestuurd) bericht)[ \t]*(?::|-{2,}|_{2,}|\*{2,}|(?=\n))"
    rf"|^[ \t>*]*+(?:from|von|de|da|van|från|fra|od)[ \t]?:\**[ \t]*[^\n]+\n(?:[^\n]{{0,200}}\n)?(?:[ \t>*]*{_field}[ \t]?:[^\n]*\n?)+"
    # "Le mar. 3 nov., Luc a écrit :", unless what follows is marked line by line
    r"|^[ \t]*+(?:on [^\n]{6,120}\bwrote|am [^\n]{6,80} schrieb [^\n]{2,80}|le [^\n]{6,120} a écrit|el [^\n]{6,120} escribió|il [^\n]{6,120} ha scritto|em [^\n]{6,120} escreveu|op [^\n]{6,80} schreef [^\n]{2,80}|[^\n]{2,80}(?: schrieb| a écrit| escribió| ha scritto| escreveu| schreef) (?:am|le|el|il|em|op) [^\n]{6,60})[ \t]?:[ \t]*\n(?![ \t\n]*>)",
    re.MULTILINE | re.IGNORECASE,
)

_said = (
    r"(?:said|says|wrote|writes|texted|replied|answered|asked|posted|tweeted|commented|e-?mailed|messaged|sent|complain(?:s|ed)|dictated|announced|left|noted|shared|forwarded"
    r"|told (?:me|us|him|her|them|everyone|\w+)|reads?|goes|was like|sings?|sang)"
)
_others = (
    r"(?:(?:\b(?:he|she|they|someone|somebody|(?:my|our|his|her|their|the|a|an|this|that|some|one) (?!(?:list|notes?|day|plan|idea|point|question|problem|rule|reason|name|thing|answer|truth|fact)\b)[\w' -]{2,40}?)|@[\w.-]{2,40}|\b(?-i:(?!(?:I|We|And|But|So|Then|It|This|That|There|Here|What)\b)[A-Z])[\w-]+(?: (?-i:[A-Z])[\w-]+)?)"
    rf"(?: (?:just|then|also|once|has|had|recently|even))* {_said}(?: [\w'’#@-]+){{0,6}})"
)
_piece = (
    r"(?:advert(?:isement)?|ad|article|job (?:ad|advert|description|posting|offer|listing)|posting|listing|bios?|readme|reviews?|brochure|flyer|web ?site|home ?page|product page|press release"
    r"|newsletter|cv|resume|résumé|cover letter|profile of|excerpt|passage|transcripts?|testimonials?|letter|e-?mail|text|message|voicemail|reply|tweet|post|blog post|comment|forum|thread|quote|quotation"
    r"|obituary|eulogy|lyrics|poem|song|verse|statement|complaint|feedback|story|essay|paragraph|draft|translation|homework|abstract|speech|sentence|caption|notice|sign|log|answer|recipe|chapter|report|minutes|announcement|interview|survey|form|template|document|file|content|page|section)s?"
)
# "<who or what>: <their words>"; what is the speaker's own is no introduction.
INTRODUCES = re.compile(
    rf"(?:{_start}{_polite}(?:(?:[^.!?\n:]{{0,60}}?{_others})"
    rf"|[^.!?\n:]{{0,20}}?(?:got|received|found|read|saw|copied|pasted|have|look at|see|check|consider) (?:this|that|the|an?|these|it|following)\b[^.!?\n:]{{0,30}}?\b(?:from|by|on|in|at|of) (?!(?:me|mine|myself|us)\b)[^.!?\n:]{{2,60}}"
    rf"|(?:this|that|it|here|below|attached)(?:['’]s| is| are| was) (?:what|how) (?!(?:I|we)\b)[^.!?\n:]{{2,60}}"
    rf"|(?:[^.!?\n:]{{0,40}}?\b(?:here(?:['’]s| is| are)|this is|below is|these are|below are|from|the following|following|found)\b[^.!?\n:]{{0,30}}?|(?:the|this|that|an?|(?:(?:my|our|his|her|their|the|this|a) )?[\w-]+(?: [\w-]+)?(?:['’]s|s['’])|(?:(?:customer|product|shop|user|job|cover) )?(?={_piece})) ?(?:[\w'’-]+ ){{0,3}}?){_piece}(?: (?:(?:I|we) (?:found|got|read|saw|received|copied|came across)|(?!(?:I|we)\b)[\w'’-]+)){{0,8}})"
    r"[ \t]*:[*_]*)\s*(?P<words>\S)",
    re.IGNORECASE | re.MULTILINE,
)
# What follows such an introduction is the speaker's own
OWN = re.compile(
    r"\b(?:about (?:me|myself|us)|my (?:own )?(?:notes?|profile|bio|details|answers?|feedback|thoughts?|input|update|question|reply to you|message to you|preferences|setup|list|status|story|summary|introduction|intro)|(?:I|we)(?:['’]ve| have)? (?:said|wrote|told|replied|answered|posted|think|want|need|noted))\b[^:\n]*\Z",
    re.IGNORECASE,
)
# Between two such lines
FENCE = re.compile(
    r"^[ \t]*+(?P<fence>-{3,}|\*{3,}|={3,}|~{3,}|#{3,}|_{3,}|\"{3}|'{3}|<{3,}|>{3,}|\+{3,}|[-=]{2,} ?(?:begin|start|snip|cut)\b[^\n]*)[ \t]*\n(?P<words>(?:[^\n]*\n){1,60}?)[ \t]*(?:-{3,}|\*{3,}|={3,}|~{3,}|#{3,}|_{3,}|\"{3}|'{3}|<{3,}|>{3,}|\+{3,}|[-=]{2,} ?(?:end|stop|snip|cut)\b[^\n]*)[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
# Context blocks in which memories come back from where they were served to
SERVED = re.compile(
    r"<(memory|memories|context|relevant[_-]memories|retrieved[_-]\w{1,20}|system-reminder)>.*?(?:</\1>|\Z)",
    re.DOTALL | re.IGNORECASE,
)

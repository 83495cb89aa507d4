"""Forms of what people say to the memory, as regular expressions of English.

All are tried on one sentence of at most `spoken_intents.LONGEST` characters.
"""

import re

from memories.language.english.calendar import MONTH_NAMES, SEASON, WEEKDAY
from memories.language.english.corrections import COLOUR, NUMBERED
from memories.language.english.numbers import ORDINALS, words_from

# Words without which none of the forms below can match; looked for first, in lower case.
SIGNS = re.compile(
    r"\bi (?:said|put|wrote)\b|\btold you\b|have me down|april fool|argh|slip of|brain ?fart|\bugh|gah\b|d['’]oh|\bdang\b|\bdamn\b|miscount|misread|misremember|looked it up|just checked|sarcas|nonsense|fiction|invent|mistyp|limits|spell|spelt|written|pronounced|came out|un-?(?:note|save|store|record|know)|disappear|vanish|\bhave you know|not a word|for future|forg[eo]t|delet|eras[ei]|remov|\bdrop|wip(?:e|ing)|scrub|purg|discard|get(?:ting)? rid|\bclear|\bstrike|scrap"
    r"|unlearn|\blose\b|\bthrow|\bdump|expunge|redact|remember|memori[sz]e|in mind|\bnote\b|\bkeep|\bstor(?:e|ing)|\bsav[ei]|\btake out|\bquiet\b|\bsilent\b"
    r"|retain|record|hold on|\blog\b|write down|\barchive|\bout of\b|\boff\b|pretend|act like|act as if|you never|you didn"
    r"|bring|mention|talk|speak|remind|raise|refer|discuss|\bask|touch on|hear about|taboo|limits|discussion|closed"
    r"|scratch|disregard|ignore|\bnix\b|\bundo\b|never ?mind|jok|kidding|teasing|messing|pulling|trolling|bluffing|\bjk\b"
    r"|made (?:it|that|this|up)|made .{2,40} up|\blied\b|\blie\b|misspoke|exaggerat|serious|honest|truthful|mean(?:t)?\b|back\b|wrong|mistake"
    r"|\btrue\b|untrue|false|incorrect|inaccurate|confus|mixed|\bno,|\bnope|oops|whoops|wait|sorry|correct|actually"
    r"|typo|rather|, not |\bnot .{1,40}(?:,|;| but| [-–—]) |chang|updat|\bfix|make (?:that|it)|no more|no longer|not be|unavailable|purged|reviv|recall|redact|off the record|\bgone\b|private|my bad|\bno (?:the |at |it|i )|hang on|after all|turns out|in anger|\bmood\b|in jest|without thinking|out of spite|\*\w|misunderst|misheard|misread|\bi never\b|n['’]t .{1,40}, (?:it|he|she|they)\b|\bkeep\b|\bleave\b|steer clear"
)
LEAD = (
    r"(?:(?:please|pls|plz|hey|hi|hello|ok(?:ay)?|oh|um+|uh+|hm+|well|so|also|and|but|wait|sorry|actually|alright|right|yes|yeah|no|nah|nope|then|now"
    r"|btw|by the way|one (?:more|last|other) (?:thing|request)|quick (?:thing|one|note|favou?r|request)|listen|look|honestly|seriously"
    r"|on second thoughts?|on reflection|thinking about it|now that I think (?:about|of) it|come to think of it|for (?:my )?privacy(?: reasons)?"
    r"|if (?:you can|possible|you don['’]t mind|it['’]s (?:ok(?:ay)?|possible|not too much trouble)|you would)|when you (?:get a chance|can)"
    r"|from (?:now on|here on|this point on)|going forward|in (?:the )?future|next time|just|kindly|dear \w+|memory|assistant|bot|chatbot|ai"
    r"|buddy|friend|mate|can I ask (?:you )?(?:something|a favou?r)|(?:a )?(?:small|quick|tiny|little) (?:favou?r|request|thing|ask)|do me a favou?r"
    r"|as (?:a|my) (?:favou?r|personal request)|I['’]ve changed my mind|I changed my mind|I regret (?:it|that|this|saying (?:it|that|this))"
    r"|thanks|thank you|great|good|fine|cool|ha(?:ha)+|lol)\b[\s,.!:;–—-]+)*"
)
ASK = (
    r"(?:(?:can|could|would|will|won['’]t|may I ask) (?:you|u|ya) (?:pls |plz |please |kindly |just |maybe |possibly |also |perhaps )*"
    r"|(?:can|could|may) (?:I|we) (?:please )?(?:ask|get|have) you (?:to )?|(?:can|could|shall) we (?:please |just |maybe )*"
    r"|I(?:['’]d| would) (?:really |very much |much )?(?:like|love|want|prefer) (?:it if |if |for )?you (?:to |could |would )?(?:please |just )*"
    r"|I(?:['’]d| would) (?:really )?(?:appreciate|be grateful|be happy|be glad|rather|prefer) (?:it )?(?:if |that )?you (?:could |would |to |just )*"
    r"|I (?:really |just |now )?(?:want|need|ask|order|wish|request|beg|would ask) (?:that )?(?:for )?you (?:to |would |could )?(?:please |just )*"
    r"|you (?:can|could|should|may|might want to|must|need to|have to|['’]d better) (?:please |just |safely |now |also )*"
    r"|(?:go ahead and|make sure (?:to|you|that you)|be sure to|feel free to|it(?:['’]s| is) (?:best|better|time) (?:to|if you)"
    r"|(?:is it|would it be) possible (?:for you )?to|would you mind|do you mind|it would be (?:great|nice|good|best) (?:if you(?: could| would)?|to)|let['’]s|let us|let me ask you to) (?:please |just )*)"
)
NOT = (
    r"(?:(?:please )?(?:don['’]?t|do not|never|try not to|be careful not to|be sure not to|make sure (?:you )?(?:not to|don['’]t|never)|there(?:['’]s| is) no need to|no need to)"
    r"|you (?:really )?(?:don['’]t|do not|needn['’]t) (?:need|have) to|you needn['’]t|you (?:should|must|may|can|shall) (?:not|never)|you (?:shouldn|mustn|can)['’]t"
    r"|I(?:['’]d| would) (?:really |much )?(?:rather|prefer|appreciate it|be happier|like it)(?: that| if)? you (?:didn['’]t|not|don['’]t|did not|never|wouldn['’]t|would not)"
    r"|I (?:really )?(?:don['’]t|do not) (?:want|need|like) you (?:to|for)|I(?:['’]d| would) (?:like|ask|prefer|want|love)(?: for)? you (?:not to|to not|to never|never to)"
    r"|I (?:want|need|ask) you (?:not to|to not|to never|never to)|(?:(?:let['’]?s|can we|shall we|we should) agree|promise(?: me)?|make sure|see to it)(?: that)? you(?:['’]ll| will) (?:never|not)|(?:(?:let['’]?s|can we|shall we|we should) agree|promise(?: me)?|make sure|see to it)(?: that)? you (?:won['’]t|don['’]t|never)|(?:can|could|would|will) (?:you|u) (?:please )?(?:not|never|avoid)|(?:please )?(?:avoid|refrain from))"
    r"(?: ever| please| just| again)*"
)
FORGET = r"(?:(?:completely |just |kindly |simply |please )*(?:forget|forgot|forgetting)(?: all about| about)?)"
DELETE = (
    r"(?:(?:completely |just |kindly |simply |permanently |please )*(?:delet(?:e|ed|ing)|eras(?:e|ed|ing)|remov(?:e|ed|ing)|drop(?:ped|ping)?|wip(?:e|ed|ing)|scrub(?:bed|bing)?|purg(?:e|ed|ing)"
    r"|discard(?:ed|ing)?|get(?:ting)? rid of|got rid of|clear(?:ed|ing)?(?: out)?|strike|struck|striking|scrap(?:ped|ping)?|lose|throw (?:out|away)|dump|expunge|redact|cross out))"
)
KEEP = (
    r"(?:keep(?:ing)?(?: track of| a record of| any record of| a note of| hold of)?|kept|stor(?:e|ed|ing)|sav(?:e|ed|ing)|retain(?:ing|ed)?|remember(?:ing|ed)?|record(?:ing|ed)?"
    r"|hold(?:ing)? on ?to|hang(?:ing)? on ?to|log(?:ging)?|memori[sz](?:e|ing)|writ(?:e|ing) down|not(?:e|ing) down|make a note of|archive|put)"
)
MENTION = (
    r"(?:bring(?:ing)? up|mention(?:ing)?|talk(?:ing)?(?: to me| with me)? about|speak(?:ing)?(?: to me| with me)? (?:of|about)|remind(?:ing)? me (?:again )?(?:of|about|that)"
    r"|rais(?:e|ing)|refer(?:ring)?(?: back)? to|discuss(?:ing)?|ask(?:ing)?(?: me)?(?: again| anything| questions)? about|touch(?:ing)? (?:on|upon)|go(?:ing)? on about"
    r"|com(?:e|ing) back to|return(?:ing)? to|mak(?:e|ing) (?:any )?(?:jokes|comments|references|remarks|mention) (?:about|to|of)|nam(?:e|ing)|start(?:ing)? (?:on|with) about"
    r"|go(?:ing)? into|dwell(?:ing)? on|say(?:ing)? anything about|tell(?:ing)? me about)"
)
TOLD = r"(?:said|say|told you|tell you|mentioned|mention|shared|share|wrote|typed|asked|revealed|confided|confessed|admitted|let slip|brought up|posted|sent|gave you|disclosed|talked|spoke)"
WHEN = (
    r"(?: to you| with you| here| you)?(?: (?:earlier|before|just now|right now|yesterday|today|above|this morning|tonight|last (?:week|time|night|month)|previously|recently|back then"
    r"|(?:a|one|two|a few|some) (?:moments?|minutes?|while|seconds?|days?|weeks?|hours?|messages?) ago|in (?:my|the) (?:last|previous|first) (?:message|text|sentence|line)|at the (?:start|beginning)))*"
)
ABOUT = (
    r"(?:about|regarding|on|concerning|of|around|relating to|related to|to do with|with respect to|when it comes to)"
)
MEMORY = r"(?:(?:whatever|what|everything|anything|all) (?:that )?you (?:keep|have|know|store|hold|['’]ve (?:kept|stored|saved))(?: (?:about|of|on) (?:me|us))?|(?:(?:your|the|my|our|its) )?(?:[a-z]{2,12}['’]s )?(?:own )?(?:(?:long[- ]term|short[- ]term|shared|active|routine|team|working|common|group|project|persistent|saved|stored|live|general|answer|joint|room) ){0,2}(?:memory|memories|records?|notes?|profile|database|files?|logs?|history|mind|brain|system|storage|archive|data|account data|context|chat history|head))"
TAIL = re.compile(
    rf"(?:[\s,;–—-]*(?:\b(?:(?:from|out of|off|in|to|on|within) (?:all )?{MEMORY}(?: of (?:me|us|our \w+))?|please(?: and (?:thanks|thank you))?|pls|now|right now|for good|for ever|forever|completely|entirely|altogether|right away|at once"
    r"|if (?:you can|possible|you (?:don['’]t mind|would|could))|ok(?:ay)?|thanks|thank you|thx|again|immediately|will you|would you|can you|could you|for me|permanently|at all|any ?more|any longer|ever|ever again"
    r"|for privacy(?: reasons)?|asap|for (?:my|our) (?:sake|privacy)|in (?:the )?future|from now on|going forward|with me|to me|around me|in our (?:chats?|conversations?|talks?)|in (?:this|any|future) (?:chats?|conversations?|talks?)"
    r"|(?:that )?you (?:have|['’]ve got|hold|keep|(?:have |['’]ve )?(?:stored|saved|kept|recorded|noted|remembered|remember|know))(?: (?:of|about) me)?|too|as well|either|then|instantly|next time|yet|whatsoever|no matter what|unless I (?:bring it up|ask|do)(?: first)?))?[\s.!?,;:…]*)+$",
    re.IGNORECASE,
)
REASON = re.compile(
    r"(?:\s*[,;–—-]+\s*|\s+)(?:(?:it|that|this|which|they)(?:['’]s| is| was| were|['’]re| are) |(?:because|since|as) (?:it|that|I|this|he|she|they|my|we)\b|I (?:shouldn['’]t|should not|don['’]t|do not|didn['’]t|regret|wish|feel|changed)\b|no longer |it makes me |it hurts|it upsets|too (?:private|personal|painful|sensitive)|for (?:privacy|personal) ).*$",
    re.IGNORECASE | re.DOTALL,
)
RECENT = re.compile(
    rf"(?:(?:about )?(?:all (?:of )?)?(?:that|this|it|these|those|them)(?: (?:one|message|last (?:one|bit|part|message)|part|bit|thing|remark|statement|comment|sentence|fact|detail|info(?:rmation)?))?"
    rf"|(?:that |the |my )?(?:very )?(?:last|previous|preceding|above)(?: (?:thing|part|bit|message|sentence|statement|comment|remark|line|text|one|note|fact|two messages))?(?: (?:I|that I) (?:just )?{TOLD}{WHEN})?"
    rf"|(?:about )?(?:everything|all|what(?:ever)?|the (?:thing|part|stuff|bit)|things|anything)(?: that)? I(?:['’]ve| have)? (?:just |only )?{TOLD}{WHEN}|I (?:ever |just )?(?:said|told you|mentioned) (?:that|it|this|so|anything))",
    re.IGNORECASE,
)
EVERYTHING = re.compile(
    r"(?:(?:everything|all|anything|all (?:the )?(?:things|data|information|info|memories|facts|details)|whatever)(?: (?:that )?you(?:['’]ve| have| ever|['’]ve ever)? (?:know|have|learn(?:ed|t)?|stored?|saved?|remember(?:ed)?|kept|got)(?: on)?)?"
    r"(?: (?:about|on|of|regarding) (?:me|myself|us))?|(?:(?:all|all of) )?(?:my|our) (?:memories|data|information|whole history|entire history|history|personal data|details)|me|who I am|all (?:of )?(?:my|our) \w+ data)",
    re.IGNORECASE,
)
TOPIC = re.compile(
    rf"(?:(?:about )?(?:all |all of |everything|anything|whatever|what(?: little)?|the (?:whole |entire )?(?:stuff|things?|part|bit|thing|story|details?|info(?:rmation)?|facts?|notes?|message|messages|comment|remark|entry|entries|memory|memories|record|records|idea|business|conversation|talk|discussion)"
    rf"|(?:any|every|all|all the|all my|those|my|that|this|some) (?:information|info|notes?|memory|memories|records?|details?|mentions?|trace|traces|references?|data|facts?|things?|stuff|comments?|remarks?|messages?|entry|entries|thing|bit|part)|things|stuff|how much|mention|mentions|news)"
    rf"(?: of it)?(?: (?:that |which )?(?:I|we)(?:['’]ve| have| had)? (?:just |ever |only )?{TOLD}{WHEN}| (?:that |which )?you(?:['’]ve| have)? (?:ever |just )?(?:know|have|learn(?:ed|t)|stored?|saved?|remember(?:ed)?|kept|got|noted|recorded)(?: on me| about me| down)?)?"
    rf" (?:{ABOUT}|where|with|in which|that says|saying|that mentions?|mentioning) |(?:that )?(?:I|we)(?:['’]ve| have)? (?:just |ever )?(?:said|told you|mentioned|told|brought up|shared|spoke|talked|wrote)(?: to you)?(?: anything| a word| something)? (?:about |that |of |regarding )?"
    r"|about |the fact that |the fact |that fact |that (?=(?:I|we|my|our|he|she|they|the|there|it|his|her|someone|people)\b)|how (?=(?:I|we|my)\b)|why |whether |where |when (?=I\b)|who )",
    re.IGNORECASE,
)
OF_SAYER = re.compile(
    rf"(?P<x>(?:my|our|the|his|her) [^,;:.!?]{{2,80}}?) (?:that |which )?I (?:just |only )?(?:have |['’]ve )?(?:told you|mentioned|shared|said|gave you|sent|told|sent you|wrote|typed)(?: about)?{WHEN}$",
    re.IGNORECASE,
)
# Work on something other than the memory, or an idiom.
WORK_OBJECT = re.compile(
    r"(?:the |a |an |this |that |these |those |my |your |our |all |any |both |each |every |last |first |second |third |final |extra |duplicate |unused |old |two |three )*"
    r"(?:files?|folders?|rows?|columns?|tables?|lines?|paragraphs?|sentences?|words?|commas?|semicolons?|functions?|class(?:es)?|methods?|variables?|branch(?:es)?|commits?|tests?|imports?|code|comments? in|repos?(?:itory)?|director(?:y|ies)"
    r"|documents?|slides?|cells?|spaces?|duplicates?|emails?|e-mails?|mails?|texts?|photos?|pictures?|images?|videos?|apps?|accounts?|pods?|containers?|database|records? from the|users?|items?|entries in|cookies|cache|drafts?|playlists?|tasks?|events?|meetings?|appointments? from"
    r"|tickets?|messages? from|tags?|buttons?|headers?|footers?|bullet points?|bullets?|sections?|steps?|ingredients?|onions?|garlic|eggs?|stains?|snapshots?|index(?:es)?|keys? from|objects?|elements?|nodes?|backups?|temp(?:orary)? files|logs?)\b",
    re.IGNORECASE,
)
ELSEWHERE = re.compile(
    r"\b(?:in|from|to|for|on|at|into|with) (?:the|my|your|our|this|that|his|her|a|an|their|any) (?:[\w'’-]+ ){0,3}?(?:e-?mails?|drafts?|essays?|reports?|letters?|stor(?:y|ies)|poems?|speech(?:es)?|presentations?|slides?|code|codebase|documents?|doc|file|files|folder|repo(?:sitory)?|spreadsheets?|sheet|tables?|lists?|article|posts?|blog|message|summary|summaries|translation|resume|cv|"
    r"cover letter|script|app|phone|inbox|calendar|cart|order|playlist|fridge|recipe|dish|website|page|server|cloud|desktop|device|laptop|computer|invitation|novel|chapter|song|reply|response|answer|newsletter|card|toast|meeting|interview|boss|mother|mom|dad|wife|husband|kids|children|team|client|customers?|parents|friends?|colleagues?|brother|sister)\b"
    r"|\bto (?:anyone|anybody|everyone|him|her|them|others|people|[A-Z][a-z]+)\b|\b(?:in|from) (?:line|paragraph|chapter|section|step|row|column) \w+"
)
DISMISSIVE = re.compile(
    r",? (?:for (?:now|a (?:moment|second|minute|while)|today)|until |let['’]s |what about |how about |I want to |I need |we need to |focus |can we |just (?:tell|give|show|help|answer)|instead)",
    re.IGNORECASE,
)
IDIOM = re.compile(
    r"^(?:(?:oh|ok|okay|well|no|nah|eh|ah|just|hey|yeah|then|fine)[\s,]+)*(?:forget (?:about )?it|drop (?:it|this|that)|forget (?:you|him|her|them)|(?:don['’]?t|do not) mention it|never ?mind|forget the (?:rest|past|rules|details for)|don['’]t ask)[\s.!]*$",
    re.IGNORECASE,
)
FORGET_IT = re.compile(r"(?:please |just )*forget (?:about )?(?:it|that|this|them)[\s.!]*$", re.IGNORECASE)
# "Let's forget about age, ..." is said of the talk, unless it names something told.
LETS = re.compile(rf"{LEAD}let(?:['’]?s| us)\b", re.IGNORECASE)
OF_WHAT_WAS_TOLD = re.compile(
    r"(?:my|our|that|this|what|everything|anything|all|the (?:thing|part|bit|stuff|story|whole))\b|(?-i:[A-Z])",
    re.IGNORECASE,
)
REPORTING = re.compile(
    r"\b(?:said|says|saying|told (?:me|us|him|her|them)|tells (?:me|us)|asked|asks|wrote|writes|texted|yelled|shouted|replied|answered|goes|was like|were like|reads|read|begged|warn(?:s|ed)|order(?:s|ed)|advis(?:es|ed)|suggest(?:s|ed)|recommend(?:s|ed)|insist(?:s|ed)|think(?:s)?|claim(?:s|ed)|sings?|sang|called|titled|named)[\s,:–—-]*$",
    re.IGNORECASE,
)
# Behind other colons stand the words of somebody or something else.
ANNOUNCED = re.compile(
    rf"^{LEAD}$|^(?:[\w'’/-]+ ){{0,3}}(?:request|action|notice|order|reminder|instruction|clean-?up|housekeeping|note|privacy)(?: (?:on|for|about|regarding|re) [\w'’ -]{{1,40}})?$|\b(?:request|thing|favou?r|note|correction|question|ask|wish|rule|update|edit|memory|please|this|clear|is)$|^\W*$",
    re.IGNORECASE,
)
SAID_BEHIND = re.compile(
    r",\s*(?:the |my |his |her |our |their )?[\w'’ ]{1,30} (?:said|says|wrote|told (?:me|us|him|her)|reads|asked|yelled|shouted)[\s.!]*$",
    re.IGNORECASE,
)
MAIL = re.compile(
    r"^[ \t]*(?:from|to|cc|subject|re|fwd|date|sent) ?: \S|^[ \t]*(?:best|kind|warm)?(?: regards| wishes)?,?[ \t]*\n[ \t]*[A-Z]\w+[ \t]*$|-----? ?(?:original|forwarded) message|^[ \t]*(?:dear|hi|hello) [A-Z][\w. ]{1,30},[ \t]*\n",
    re.IGNORECASE | re.MULTILINE,
)
PAUSE = re.compile(r"(?:[,;:–—]\s*|\s-\s|\.\.\.?\s*|\s(?:so|and|but|then|plus)\s+|\)\s*|\(\s*)")
# An order even in the middle of a sentence: people speak like this only to the memory.
STRONG_HEAD = re.compile(
    rf"{LEAD}(?:please\b|pls\b|{NOT}\s|(?:can|could|would|will) you\b|I(?:['’]d| would) (?:like|want|prefer|rather|appreciate)|forget\b|scratch that|strike that|I take (?:it|that|back)|(?:just |only )?(?:kidding|joking)|disregard|ignore (?:that|what)|I meant\b|it(?:['’]s|s| is)\b|make that\b|jk\b|(?:delete|erase|remove|purge|wipe|scrub|redact|expunge)\b|remember\b|keep in mind|bear in mind|pretend\b|stop\b|I (?:was|am|['’]m) (?:just|only|actually|wrong|mistaken)|I made|I lied)",
    re.IGNORECASE,
)
THROWN_AWAY = re.compile(
    rf"{LEAD}(?:throw (?:it|that|this|those|them) (?:away|out)|(?:get rid of|drop|lose|discard|take out) (?:it|that|this|those|them)|take (?:it|that|this|those|them) (?:out|off))\b",
    re.IGNORECASE,
)
# And right behind an "and", where the verb may belong to the words before.
ASKING_HEAD = re.compile(
    rf"{LEAD}(?:please\b|pls\b|{NOT}\s|(?:can|could|would|will) you\b|I(?:['’]d| would) (?:like|want|prefer|rather|appreciate)|I take (?:it|that|back)|I meant\b|I (?:was|am|['’]m) (?:just|only|actually|wrong|mistaken)|I lied\b)",
    re.IGNORECASE,
)

CODE = re.compile(
    r"(?:the |an? |this |that |these |all |any |every |old |unused )*(?:objects?|nodes?|variables?|buffers?|arrays?|caches?|pointers?|instances?|tensors?|models?|process(?:es)?|rows?|columns?|tables?|functions?|modules?)\b",
    re.IGNORECASE,
)
OF_MACHINES = re.compile(r"(?:from|in|out of|off|to) (?:the )?memory", re.IGNORECASE)
# Where a sentence goes on after an order.
ANNOUNCING = re.compile(r"(?: (?:too|as well|also|please))?\s*:\s*", re.IGNORECASE)
MEANT = re.compile(r"\b(?:my|our|I|we)\b.*\s\S|\bthe \w", re.IGNORECASE | re.DOTALL)
PRIVATE = re.compile(
    r"\s+(?:is|was|are|were)(?: too| very| really| strictly| kind of| a bit)* (?:private|personal|confidential|sensitive|secret|nobody['’]s business|not for you|none of your business|between us|a secret)$",
    re.IGNORECASE,
)
PRONOUN_FIRST = re.compile(r"(?P<it>it|that|this|those|these|them)\s*[,;:–—-]+\s*\S", re.IGNORECASE)
REGRET = re.compile(
    r"(?:on second thought|actually|sorry|oh|hm+|I (?:shouldn['’]t|should not|don['’]t|regret|changed|wish|was|am|['’]m|just|only))",
    re.IGNORECASE,
)

REST = r"\s+(?P<rest>\S.*)$"
FLAGS = re.IGNORECASE | re.DOTALL
FORGET_HEADS = tuple(
    re.compile(form, FLAGS)
    for form in (
        rf"{LEAD}{ASK}?{FORGET}{REST}",
        rf"{LEAD}{ASK}?{DELETE}{REST}",
        rf"{LEAD}{NOT}\s+{KEEP}{REST}",
        rf"{LEAD}(?:stop|quit)\s+(?:keeping|storing|saving|remembering|recording|logging|tracking){REST}",
        rf"{LEAD}{ASK}?(?:(?:let['’]s )?pretend|act (?:as if|as though|like)|imagine)(?: that)? (?:I|we) (?:had )?(?:never|didn['’]t|hadn['’]t|did not)(?: ever)? (?:said|say|told you|tell you|mentioned|mention|bring up|brought up|shared|share|wrote|talked about)(?: anything)?(?: about)?{REST}",
        rf"{LEAD}{ASK}?(?:(?:let['’]s )?pretend|act (?:as if|as though|like))(?: that)? you (?:had )?(?:never|didn['’]t|hadn['’]t|don['’]t)(?: ever)? (?:heard?|read|saw|see|seen|know|knew|learned)(?: anything)?(?: about| of)?{REST}",
        rf"{LEAD}you (?:never|didn['’]t) (?:heard?|read|see|saw)(?: anything)?(?: about)?\s+(?P<rest>(?:that|this|it|about)\b.*)$",
        rf"{LEAD}{ASK}?(?:take|leave|keep|get|strike) (?P<rest>\S.{{0,120}}?) (?:out of|off|away from|out from) (?:(?:your|the|my) (?:memory|memories|records?|notes?|profile|database|files?|logs?|history|mind|brain|system|storage|record)|(?:whatever|what|everything|all) (?:that )?you (?:keep|have|know|store|hold)(?: (?:about|of|on) (?:me|us))?)(?:[\s,]+(?:please|will you|would you|can you|could you|ok(?:ay)?|thanks|for good|now))*[\s.!?]*$",
        rf"{LEAD}{ASK}?throw (?P<rest>\S.{{0,120}}?) (?:away|out)(?:[\s,]+(?:please|will you|would you|ok(?:ay)?|thanks|for good))*[\s.!?]*$",
        rf"{LEAD}{ASK}?take out (?P<rest>(?:anything|everything|all|whatever|what|the (?:parts?|bits?|stuff|things?))\b.+)$",
        rf"{LEAD}let['’]?s not (?:keep|store|save|retain|record|leave|have) (?P<rest>\S.{{1,120}}? (?:in|on) (?:your|the) (?:memory|memories|records?|notes?|profile|database|files?|head)[\s,.!]*(?:please[.!]*)?)$",
        rf"{LEAD}{ASK}?(?:make|have|get|let) (?P<rest>\S.{{0,100}}?) (?:disappear|vanish|go away|forgotten|deleted|removed|erased|wiped|purged)(?: from {MEMORY})?[\s,.!?]*(?:please[.!?]*)?$",
        rf"{LEAD}I (?:really )?(?:don['’]t|do not) (?:want|need) you to (?:know|have|hold|see){REST}",
        rf"{LEAD}you (?:really )?(?:(?:don['’]t|do not) (?:need|have) to|need(?:n['’]t| not)) (?:know|have) (?P<rest>(?:(?:who|what|where|that|how much|how old|about) )?(?:I|my|our|we)\b.*)$",
        rf"{LEAD}I (?:really )?(?:don['’]t|do not|wouldn['’]t|would not|never) (?:want|like|wish|need) (?P<rest>(?:my|our|the|that|this|any of (?:this|that|it))\b[^,;]{{0,80}}?) (?:to be )?(?:stored|saved|kept|remembered|recorded|retained|noted|on (?:file|record)|(?:in|on) {MEMORY})[\s,.!?]*(?:please[.!?]*)?$",
        rf"{LEAD}(?P<rest>(?:how|what|where|who|when|whether|my|our|the|that|this)\b[^,;]{{1,100}}?) (?:should(?:n['’]t| not)|must(?:n['’]t| not)|has no (?:place|business) (?:being )?|does not belong|doesn['’]t belong|need(?:n['’]t| not)) ?(?:be )?(?:in|on) (?=your\b){MEMORY}[\s,.!]*(?:please[.!]*)?$",
        rf"{LEAD}(?:I (?:want|need|would like)|I['’]d like|can I have|could I have|can you have|can we have|I(?:['’]d| would) (?:prefer|rather have)) (?P<rest>\S.{{1,120}}?) (?:to be )?(?:gone|deleted|removed|erased|forgotten|wiped|scrubbed|purged|dropped)(?: from {MEMORY})?[\s,.!?]*(?:please[.!?]*)?$",
        rf"{LEAD}(?P<rest>(?:what|everything|anything|all|the|my|that|this|our)\b[^,;]{{0,120}}?) (?:should|must|needs? to|has to|have to|ought to|can|may|shall|is to|are to) (?:please |now |also |really )?(?:be (?:forgotten|deleted|removed|erased|wiped|purged|kept out of your memory)|not be (?:kept|stored|saved|remembered|recorded|retained)(?: anywhere| at all| any longer| for long)?|never be (?:kept|stored|saved|remembered)|go(?: from your memory)?)[\s,.!]*(?:please[.!]*)?$",
        rf"{LEAD}(?:can|could|may) (?P<rest>(?:what|everything|anything|all|the|my|that|this|our)\b[^,;]{{0,120}}?) (?:please )?be (?:forgotten|deleted|removed|erased|wiped|purged)[\s,.!?]*(?:please[.!?]*)?$",
        rf"{LEAD}(?P<rest>(?:that|this|it|what I (?:just )?(?:said|told you|mentioned)(?: about [^,;.]{{2,60}})?|the (?:part|bit|thing|stuff) about [^,;.]{{2,60}}))(?:['’]s| is| was| stays| should (?:be|stay)| must (?:be|stay))(?: strictly| meant to be)? (?:off the record|not for (?:your|the) (?:records?|memory|notes)|not (?:for keeping|to be (?:kept|remembered|stored|saved|recorded)))[\s.!]*$",
        rf"{LEAD}(?:please )?(?:keep|leave) (?P<rest>that|this|it)(?: one| last bit| part)? off the record[\s.!]*$",
        rf"{LEAD}{ASK}?(?:un-?(?:remember|note|save|store|record|see|hear|know|learn)|unsee|unhear){REST}",
        rf"{LEAD}{ASK}?(?:keep|make|hold|retain|leave) no (?:records?|notes?|trace|memory) (?:of|about|on){REST}",
    )
)
# What was done, and what shall become of a thing: that is no name of it.
REPORTED = re.compile(
    rf"{LEAD}(?:(?:delet|eras|remov|dropp|wip|scrubb|purg|discard|clear|scrapp)(?:ed|ing)|struck|got rid|forgot|forgetting)\b",
    re.IGNORECASE,
)
GONE = re.compile(r"(?:to be )?(?:gone|deleted|removed|erased|forgotten|wiped|scrubbed|purged|dropped)", re.IGNORECASE)
DELETES = re.compile(rf"{LEAD}{ASK}?{DELETE}\b", re.IGNORECASE)
NOTED = re.compile(
    r"\b(?:things?|info(?:rmation)?|part|bit|details?|story|stuff|notes?|facts?|memor(?:y|ies))$", re.IGNORECASE
)
NEVER_HEADS = tuple(
    re.compile(form, FLAGS)
    for form in (
        rf"{LEAD}{NOT}\s+{MENTION}{REST}",
        rf"{LEAD}{NOT}\s+bring(?:ing)?\s+(?P<rest>\S.{{0,100}}?)\s+up\b[^a-z]*(?:again|ever again|any ?more|with me|in future|please|next time|[\s.!?,])*$",
        rf"{LEAD}(?:please )?(?:stop|quit|cease|no more|enough of|enough with)\s+(?:{MENTION}|(?:talk|mentions?|reminders?|questions?|jokes|comments|remarks) (?:of|about)){REST}",
        rf"{LEAD}(?:I|we) (?:really |simply |just )?(?:never|don['’]t|do not|don['’]t ever) (?:ever )?(?:want|wish|need|like|care) (?:you )?to (?:ever )?(?:hear|talk|be reminded|be asked|speak|read|discuss|chat)(?: anything| a word)?(?: again)?(?: about| of)?\s+(?P<rest>\S.*?(?:again|any ?more|any longer|ever|at all|with you|here|in this chat|in our chats)[\s.!]*(?:,? ?please[\s.!]*)?)$",
        rf"{LEAD}(?:I|we) (?:never|(?:don['’]t|do not) ever) (?:want|wish|need) to (?:hear (?:anything )?(?:about|of)|be (?:reminded|asked)(?: about| of)?|talk about|discuss){REST}",
        rf"{LEAD}(?:I(?:['’]d| would) (?:rather|prefer) (?:not|to not|never|never to)) (?:to )?(?:hear|talk|be reminded|be asked|speak|discuss)(?: anything)?(?: about| of)?\s+(?P<rest>\S.*?(?:again|any ?more|any longer|ever|at all|with you|here)[\s.!]*)$",
        rf"{LEAD}let(?:['’]s| us) (?:please )?(?:never|not|stop|don['’]t)\s+(?:ever )?{MENTION}{REST}",
        rf"{LEAD}(?:not (?:a|one|another|a single) word|no (?:more )?(?:talk|mention|word|reminders?|questions?)) (?:about|of|on|regarding){REST}",
        rf"{LEAD}(?:the (?:subject|topic|matter) of )?(?P<rest>(?:my|our|the|that|this|anything about|what happened|everything about)\b[^,;:.!?]{{1,80}}?|(?-i:[A-Z][\w’'-]+)(?: (?-i:[A-Z][\w’'-]+))?)(?:['’]s| is| are) (?:now |completely |totally |strictly |from now on )?(?:off[- ]limits|taboo|a (?:closed|taboo|forbidden) (?:topic|chapter|subject|matter)|not (?:up |open )?for discussion|a no-?go(?: (?:topic|area))?|something I (?:never|don['’]t) want (?:to (?:hear|talk) about|mentioned|brought up)(?: again)?)(?: from now on| with me| here| please)*[\s.!]*$",
        rf"{LEAD}{ASK}?(?:leave|keep)\s+(?P<rest>\S.{{1,80}}?)\s+out of (?:it|this|our (?:conversations?|chats?|talks?|discussions?)|the conversation|(?:any )?future (?:conversations?|chats?|talks?)|everything from now on)(?: from now on| please| in (?:the )?future)*[\s.!]*$",
        rf"{LEAD}{ASK}?(?:keep|stay|remain) (?:quiet|silent|mum|schtum) (?:about|on|regarding){REST}",
        rf"{LEAD}{ASK}?(?:steer clear of|stay away from|stay off) (?:the (?:subject|topic) of )?{REST}",
    )
)
FLAT = r"(?:wrong|not true|untrue|false|incorrect|a mistake|an error|a lie|a fib|not right|not correct|inaccurate|made up|nonsense|a joke|just a joke|only a joke|bad joke|not (?:actually |really |at all )?(?:true|right|correct|the case|accurate|serious)|my mistake|me being silly|an exaggeration)"
HOLDS = r"(?:true|right|correct|accurate|serious|the case)"
LAST_MESSAGE = r"(?:my|the|that) (?:last|previous|prior) (?:message|text|sentence|statement|comment|remark|part|bit|thing|one|answer|line)(?: I (?:said|wrote|sent))?"
RETRACT_HEADS = tuple(
    (re.compile(form, FLAGS), is_weak)
    for form, is_weak in (
        (
            rf"{LEAD}{ASK}?(?:scratch|strike(?! what I\b)|disregard|ignore|nix|undo|cancel|scrap)\s+(?:that|this|it|{LAST_MESSAGE}|what I (?:just )?(?:said|wrote|told you)(?P<when>{WHEN}))(?: (?:last )?(?:bit|part|thing|one))?(?: (?:about|on|regarding) (?P<x>[^,;:.!?–—]{{2,80}}))?(?=[\s,;:.!?–—-]*(?:$|[,;:.!?–—]| - | please| it was| I ))",
            False,
        ),
        (
            rf"{LEAD}{ASK}?(?:scratch|disregard|ignore|scrap)\s+(?:the (?:part|bit|thing|stuff|story) about|what I (?:just )?(?:said|wrote|told you|mentioned){WHEN} about|everything I (?:said|told you) about)\s+(?P<x>[^,;:.!?–—]{{2,80}})",
            False,
        ),
        (
            rf"{LEAD}never ?mind (?:(?:that|the) (?:last |whole )?(?:bit|part|thing|story|stuff|message|comment|remark)(?: about (?P<x>[^,;:.!?–—]{{2,80}}))?|what I (?:just )?(?:said|told you|wrote|mentioned){WHEN}(?: about (?P<x2>[^,;:.!?–—]{{2,80}}))?)",
            False,
        ),
        (
            rf"{LEAD}(?:I (?:was|am)|I['’]m|I['’]ve been|we were) (?:just |only |totally |merely |obviously |really |actually |of course )*(?:joking|kidding|teasing(?: you)?|messing(?: with you| around| about)?|pulling your leg|trolling(?: you)?|bluffing|having you on|fooling around|being (?:sarcastic|silly|ironic|funny))(?: (?:about|with|when I said|when I told you|on) (?:that |the fact that )?(?P<x>[^,;:!?–—]{{2,100}}))?(?=[\s.,;:!?–—-]*(?:$|[,;:.!?–—]| - ))",
            False,
        ),
        (
            rf"{LEAD}(?:just|only|totally|haha,?|lol,?) ?(?:kidding|joking|teasing|messing(?: with you)?|pulling your leg|a joke)(?: (?:about|with) (?P<x>[^,;:.!?–—]{{2,80}}))?(?=[\s.,;:!?–—-]*(?:$|[,;:.!?–—]| - ))",
            False,
        ),
        (
            rf"{LEAD}(?:kidding|joking|pulling your leg|messing with you|jk|j/k|psych|(?:happy )?april fools?(?: day)?)(?: about (?P<x>[^,;:.!?–—]{{2,80}}))?[\s.!,]*(?=$|[,;:.!–—])",
            False,
        ),
        (
            rf"{LEAD}(?:that|it|what I (?:just )?(?:said|told you){WHEN})(?: (?:about|on) (?P<x>[^,;:.!?–—]{{2,80}}?))? (?:was|were) (?:just |only |all |actually |really |meant as )*(?:a joke|made up|a lie|a fib|a test|sarcasm|an exaggeration|nonsense|fiction)(?: (?:about|with|regarding) (?P<x2>[^,;:.!?–—]{{2,60}}?))?(?=[\s.,;:!?–—-]*(?:$|[,;:.!?–—]| - ))",
            False,
        ),
        (
            rf"{LEAD}(?:I (?:don['’]t|do not|am not|didn['’]t|haven['’]t|wasn['’]t|can['’]t|won['’]t)|I['’]m not)\s*[,;–—-]+\s*(?:I (?:was|am) |I['’]m )?(?:just |only |really )*(?:teasing|kidding|joking|pulling your leg|messing|lying|exaggerating|bluffing)\b(?: (?:you|with you|around))?",
            False,
        ),
        (
            rf"{LEAD}I (?:only |just )?(?:said|wrote|told you) (?:that|it|this) (?:in (?:anger|jest|haste|a (?:bad|foul|terrible) mood|the heat of the moment)|as a joke|out of (?:anger|spite|frustration)|without thinking|(?:when I was|while|because I was) (?:angry|drunk|upset|tired|cross))\b",
            False,
        ),
        (
            rf"{LEAD}(?P<self>(?:(?:it |as it )?turns out(?:,| that)? )?I(?:['’]m not| am not| don['’]t| do not| haven['’]t| wasn['’]t| didn['’]t| can['’]t| won['’]t))(?: actually| really)? (?P<x>[^,;:.!?–—]{{2,80}}?) after all(?=[\s.,;:!–—-]*(?:$|[,;]))",
            False,
        ),
        (
            rf"{LEAD}(?P<self>I (?:never|didn['’]t(?: ever| actually| really)?|don['’]t|do not)) (?:really |actually )?(?P<x>\w+ [^,;:.!?–—]{{2,80}}?)[,;–—-]+ ?(?:I (?:was |had |have |just |must have )*(?:confus|mis(?:read|remember|heard|took|taken|understood)|mix|made (?:it|that) up|making|lied|lying|joking|kidding)\w*|(?:that|it) (?:was|is) (?:a |an )?(?:mistake|error|mix-?up|misunderstanding))",
            False,
        ),
        (
            rf"{LEAD}(?:that|it) was (?:wrong|a mistake|inaccurate|incorrect|unfair|silly|stupid|careless|not true|untrue|a lie|dishonest) of me(?: to (?:say|claim|tell you|mention)(?: (?:that )?(?P<x>[^,;:.!?–—]{{2,100}}))?)?",
            False,
        ),
        (
            rf"{LEAD}(?:what|everything|the (?:thing|part|bit|stuff|story)|all)(?: that)? I (?:just )?(?:said|told you|wrote|claimed|mentioned){WHEN}(?: (?:about|on|regarding) (?P<x>[^,;:.!?–—]{{2,80}}?))?(?: earlier| before)? (?:(?:was|is|were)(?: actually| really| simply| just| all| completely)* {FLAT}|(?:was|is|were)n['’]t(?: actually| really| all| completely)* {HOLDS})(?: of me)?",
            False,
        ),
        (
            rf"{LEAD}(?:the|that|my) (?:(?:thing|part|bit|story|stuff|remark|comment|line|claim|statement) about |whole )?(?P<x>[^,;:.!?–—]{{2,60}}?)(?: (?:thing|story|part|bit|stuff|remark|comment|line|claim))? (?:(?:was|is)n['’]t(?: really| actually| at all)* (?:true|real|serious)|(?:was|is) (?:just |only |actually |really |all |completely )*(?:a joke|made up|a lie|a fib|not true|untrue|not real|invented|fake|nonsense|false|made-up|me joking))(?=[\s.,;:!?–—-]*(?:$|[,;:.!?–—]| - ))",
            False,
        ),
        (
            rf"{LEAD}I (?:just |only |totally |actually )*made (?:that|it|this|all that|all of that|the (?:thing|part|bit|story|stuff) about (?P<x>[^,;:.!?–—]{{2,60}}?)|(?P<x2>(?:the|my|our)\b[^,;:.!?–—]{{2,50}}?)(?: (?:thing|story|part|bit|stuff))?) up",
            False,
        ),
        (
            rf"{LEAD}I (?:just |actually |kind of |sort of |really )*(?:lied(?: to you)?|fibbed|misspoke|exaggerated|misled you|wasn['’]t (?:being )?(?:serious|honest|truthful|accurate)|was(?:n['’]t| not) (?:being )?(?:serious|honest|truthful|telling the truth)|mis-?stated)(?: (?:about|when I said(?: that)?|on|regarding) (?P<x>[^,;:!?–—]{{2,100}}))?(?=[\s.,;:!?–—-]*(?:$|[,;:.!?–—]| - | (?:earlier|before|there)))",
            False,
        ),
        (
            rf"{LEAD}I (?:didn['’]t|did not|don['’]t) (?:really |actually )?mean (?:it|that|what I (?:just )?said)(?: (?:about|regarding) (?P<x>[^,;:.!?–—]{{2,80}}))?(?=[\s.,;:!?–—-]*(?:$|[,;:.!?–—]| - | earlier| seriously))",
            False,
        ),
        (
            rf"{LEAD}I (?:want to |wanna |have to |need to |['’]d like to |would like to |must |hereby )?take (?:(?:it|that|this|that last (?:one|bit)) back|back (?:that|it|(?:what|everything|all) I (?:just )?(?:said|told you){WHEN}(?: about (?P<x>[^,;:.!?–—]{{2,80}}))?)|(?:what|everything) I (?:said|told you){WHEN}(?: about (?P<x2>[^,;:.!?–—]{{2,80}}?))? back)",
            False,
        ),
        (
            rf"{LEAD}(?:that|it|this) (?:came|went|sounded|got) out (?:all )?wrong(?=[\s.,;:!–—-]*(?:$|[,;:.!–—]| - ))",
            True,
        ),
        (
            rf"{LEAD}(?:that|it)(?:(?:['’]s| is| was)(?: actually| really| just| simply| of course)* {FLAT}|(?: is| was)(?:n['’]t| not)(?: actually| really| quite)* {HOLDS})(?: after all| at all| actually| anymore)?(?=[\s.,;:!–—-]*(?:$|[,;:.!–—]| - ))",
            True,
        ),
        (
            rf"{LEAD}I (?:was|am|['’]m)(?: so| completely| totally| actually| clearly| just| quite)* (?:wrong|mistaken|incorrect|confused|mixed up|misremembering|mixing (?:things|it) up|in error)(?: there| earlier| before| on that(?: one)?| about that)?(?: (?:about|on|regarding|when I said(?: that)?|in saying(?: that)?) (?P<x>[^,;:!?–—]{{2,100}}))?(?=[\s.,;:!?–—-]*(?:$|[,;:.!?–—]| - ))",
            False,
        ),
        (
            rf"{LEAD}I (?:got|had|have|['’]ve got) (?:that|it|this|my facts|things|(?P<x>(?:the|my|our)\b[^,;:.!?–—]{{2,50}}?)) (?:all |completely |totally )?(?:wrong|mixed up|backwards|muddled|confused)(?=[\s.,;:!?–—-]*(?:$|[,;:.!?–—]| - ))",
            False,
        ),
        (rf"{LEAD}(?:please )?disregard (?P<x>my [^,;:.!?–—]{{2,50}})(?=[,;:.!–—-]+\s*I\b)", False),
        (
            rf"{LEAD}(?:please )?(?:disregard|ignore|retract|withdraw)\s+(?:my (?:claim|statement|remark|comment|story|joke)s?) (?:about|that|on)\s+(?P<x>[^,;:.!?–—]{{2,80}})",
            False,
        ),
    )
)
# "..., I never lived in Oslo": what was wrong
DENIED = re.compile(
    r"[\s,;:.!–—-]+(?:(?:and|but|because|since|in fact|actually|really|turns out|it turns out)[, ]+)*(?:I|we|my|our|there|it|he|she|they)\b(?: \w+)?? ?(?:['’]ve|['’]m|['’]re)?\s*(?:never|don['’]t|do not|didn['’]t|did not|haven['’]t|have not|am not|not|isn['’]t|is not|wasn['’]t|aren['’]t|doesn['’]t|has no|have no|is no|are no)\s+(?:actually |really |even |ever )*(?P<x>[^,;:.!?–—]{2,100})",
    FLAGS,
)
VALUE = r"(?:[^,;:!?–—\n]|(?<=\d)[:,](?=\d)){1,70}?"
OLD = r"(?:(?:,|\s-|\s–|\s—)?\s+(?:and )?(?:not|instead of|rather than|as opposed to)\s+(?P<old>(?:on |at |in |to |the )?(?:[^,;:!?–—\n]|(?<=\d)[:,](?=\d)){1,50}?))"
GOT_WRONG = r"(?:I )?(?:got|had|spelled|spelt|wrote|typed|put|said|remembered) (?:it|that|this|(?:the|his|her|its|my|their) \w+(?: \w+)?) wrong(?:ly)?|I mis-?spel(?:led|t) (?:it|that|(?:the|his|her|its|my|their) \w+)|(?:a )?slip of the (?:tongue|pen|finger)|brain ?fart"
OOPS = rf"(?:(?<!oh )(?<!oh, )no|nope|nah|sorry|oops|ups|whoops|argh+|ugh+|gah|d['’]oh|dang|damn|wait|hm+|ah|oh|um|uh|er|hang on|hold on|actually|correction|(?:small |quick |slight |a )?correction|i mean|rather|edit|typo|my (?:bad|mistake)|apologies|pardon|excuse me|well|let me correct (?:that|myself)|to correct myself|i stand corrected|i misspoke|i mistyped|i was wrong|(?:the )?wrong (?:date|day|time|number|name|year|month|room|address|place|word|one|city|town)|I (?:gave|told|sent) you the wrong \w+|I (?:mixed|confused|muddled) (?:them|it|that|things|the \w+)(?: up)?|{GOT_WRONG}|strike that)"
# Words with which somebody says a whole statement anew.
MARK = rf"(?:{GOT_WRONG}|let me correct (?:that|this|myself|it)|to correct myself|(?:small |quick |slight |a )?correction|hang on|hold on|wait|oops|ups|whoops|typo|my (?:bad|mistake)|i stand corrected|i (?:misspoke|mistyped)|i was wrong|no|nope|nah|sorry|edit|(?:the )?wrong \w+|I (?:gave|told|sent) you the wrong \w+|I (?:mixed|confused|muddled|got) (?:them|it|that|things|the \w+)(?: up| wrong)?)"
OF_OWN = r"(?:(?:my|our|the|I|we|he|she|they|his|her|their|it)\b|(?-i:[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)?) (?:is|was|has|lives|works|starts|turns|studies|speaks|plays|comes|arrives|leaves)\b)"
SAID_ANEW = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?:{MARK}[\s,.:;!–—-]+)+(?P<x>{OF_OWN}[^;:!?\n]{{6,120}}?)[\s.!]*$",
        rf"(?P<x>{OF_OWN}[^,;:!?\n]{{6,120}}?)[,;–—-]+\s*(?:sorry[, ]+)?I (?:mixed|mixed up|confused|muddled|muddled up|swapped|got|had) (?:the|my|those|these|two) (?:days?|dates?|times?|names?|numbers?|rooms?|years?|months?|places|two)(?: (?:wrong|up|mixed up|confused))?[\s.!]*$",
    )
)
OF_CHANGE = re.compile(r"\b(?:now|these days|nowadays|from now on)[\s.!]*$", re.IGNORECASE)
CHANGED = re.compile(
    r"(?:I|we)(?: have|['’]ve)? (?:just |since |recently )*(?:went|gone|switched|moved|changed|quit|left|stopped|gave up|given up|took up|bought|sold|started|joined)\b",
    re.IGNORECASE,
)
BARE_NO = re.compile(r"(?:no|nope|nah)[\s,.:;!–—-]+", re.IGNORECASE)
DATED = re.compile(rf"\d|\b(?:{MONTH_NAMES}|{WEEKDAY}|yesterday|last|ago)\b", re.IGNORECASE)
ANEW = re.compile(
    rf"(?:\s*(?:earlier|before|there|just now))?[\s,;:.!–—-]*(?P<x>(?:{OF_OWN}|(?:it|he|she|they|we|I)['’]\w+).*\S)",
    FLAGS,
)
NOT_ONLY = r"(?:just|only|simply|merely|even|really|that|so|too|always|necessarily|all)\b"
ONLY_OOPS = re.compile(rf"(?:{OOPS}[\s,]*)+", re.IGNORECASE)
IT_IS = r"(?:it['’]?s|its|it is|that['’]s|that is|it was|that was|they['’]re|it['’]ll be|it will be|i meant(?: to say)?|i mean|meant|make (?:that|it)|(?:it|that) should (?:be|have been|say|read)|(?:it|that|he|she)(?:['’]s| is) (?:spelled|spelt|written|pronounced|called|named)|(?:his|her|its|their|my|our|the) (?:name|number|date|address|code|age|title|size)(?:['’]s| is)|should be|should have been|i should (?:say|have said)|i wanted to say|the right (?:one|answer|date|time|name|number|word) is|read that as)"
END = r"[\s.!?)]*(?:please[.!]*|sorry[.!]*|my (?:bad|mistake)[.!]*|actually[.!]*|then[.!]*|of course[.!]*|(?:,|;|\s-|\s–)\s*(?:I (?:just |had |have )?(?:forgot|misread|miscounted|mixed|confused|checked|looked|got|mistyped|misremember|left out)|with (?:one|two|a|an|no)\b|without (?:a|an|the)\b)[^.!?;\n]{0,60}[.!]*|\s(?:spelled |spelt |written )?with (?:one|two|three|double|a double|no) [a-z](?:['’]?s)?\b[.!]*)?\s*$"
CORRECT_HEADS = tuple(
    (re.compile(form, FLAGS), sure)
    for form, sure in (
        # with both values
        (rf"(?:{OOPS}[\s,.:;!–—-]+)*I mean(?:t)?(?: to say)?\s+(?P<new>{VALUE}){OLD}{END}", False),
        (
            rf"{LEAD}(?P<x>(?:my|our)\s+[^,;:.!?–—]{{2,40}}?)(?:['’]s not| is not| isn['’]t| was not| wasn['’]t)(?: called| named)?\s+(?![^,;:.!?]{{0,60}}\b(?:any ?more|any longer)\b)(?P<old>{VALUE}),?\s+(?:but\s+)?(?:it|he|she|that)(?:['’]s| is| was)\s+(?:called |named )?(?P<new>{VALUE}){END}",
            False,
        ),
        (rf"(?:{OOPS}[\s,.:;!–—-]+)*(?:{IT_IS}\s+)?(?P<new>{VALUE}){OLD}{END}", True),
        (
            rf"(?:(?:{OOPS}[\s,.:;!–—-]+)+(?:{IT_IS}\s+)?(?:not\s+)?|(?:(?:it|that)(?: is| was)n['’]t|(?:(?:it|that)(?:['’]s| is| was)\s+)?not)\s+)(?!{NOT_ONLY})(?P<old>{VALUE})(?:,?\s+but(?: rather)?|,|\s-|\s–|\s—|;|\.)\s+(?:{IT_IS}\s+)(?P<new>{VALUE}){END}",
            False,
        ),
        (
            rf"(?:{OOPS}[\s,.:;!–—-]+)*(?:it(?:['’]s| is| was)|that(?:['’]s| is| was))?\s*not\s+(?!{NOT_ONLY})(?P<old>{VALUE})(?:,?\s+but(?: rather)?|,|\s-|\s–|\s—)\s+(?P<new>{VALUE}){END}",
            False,
        ),
        (
            rf"(?:{OOPS}[\s,.:;!–—-]+)*(?:I|i)\s+(?:said|wrote|typed|told you|put)\s+(?P<old>{VALUE})(?:,|\s-|;)?\s+(?:but|when)?\s*(?:I\s+(?:actually\s+|really\s+)?(?:meant|should have said|mean)|{IT_IS})\s+(?P<new>{VALUE}){END}",
            False,
        ),
        # with the new one alone
        (
            rf"{LEAD}(?:it|that|(?:his|her|my|the|their) (?:\w+ )?name)(?:['’]s| is)\s+(?:actually\s+|really\s+)?(?:spelled|spelt|written)\s+(?P<new>{VALUE}){END}",
            True,
        ),
        (rf"(?:{OOPS}[\s,.:;!–—-]+)+(?:{IT_IS}\s+)?(?P<new>{VALUE}){END}", True),
        (rf"\*\s?(?P<new>{VALUE}){END}", True),
        (
            rf"(?P<new>{VALUE}),? (?:sorry,? )?I (?:miscounted|misread (?:it|that)|mistyped(?: (?:it|that))?|misremembered|mixed (?:that|it|them) up|just checked|looked it up)[\s.!]*$",
            True,
        ),
        (
            rf"(?!(?:the|my|our|your|that|this|it|he|she|they|we|I|something|everything|which|what)\b)(?P<old>{VALUE}) (?:was|is) (?:wrong|a typo|a mistake|incorrect|not right)[\s,;.!–—-]+(?:it|he|she|they|that)(?:['’]s|['’]re| is| are| was)\s+(?:actually |really )?(?P<new>{VALUE}){END}",
            False,
        ),
        (
            rf"(?:it|that)(?:['’]s| is| was) (?:actually (?P<new>{VALUE})|(?P<new2>{VALUE}),? (?:actually|in fact|sorry))[\s.!]*$",
            True,
        ),
        (
            rf"(?:{LEAD})(?:I|i)\s+(?:actually\s+|really\s+)?(?:meant(?:\s+to\s+say)?|should have said|wanted to say)\s+(?P<new>{VALUE}){END}",
            False,
        ),
        (
            rf"(?:{LEAD})(?:make (?:that|it)|(?:it|that) should (?:be|have been|say|read)|read that as)\s+(?P<new>{VALUE}){END}",
            False,
        ),
        # with what it is about
        (
            rf"{LEAD}{ASK}?(?:change|update|correct|fix|set|amend|edit)\s+(?P<x>(?:my|our)\s+[^,;:.!?–—]{{2,50}}?)(?:\s+(?:in|on|from)\s+(?:your|my)\s+(?:memory|records?|notes|profile|files?))?(?:\s+from\s+(?P<old>{VALUE}))?\s*(?:\s+to(?:\s+be)?|:|,? (?:it['’]s|it is|it should be))\s+(?P<new>{VALUE}){END}",
            False,
        ),
        (
            rf"{LEAD}you(?:['’]ve| have)?\s+(?:got|have|wrote|saved|noted|stored|recorded|misheard|misspelled|put)\s+(?P<x>(?:my|our|the)\s+[^,;:.!?–—]{{2,50}}?)\s+(?:down\s+)?(?:all\s+)?(?:wrong|incorrectly|wrongly|mixed up)[\s,;:.!–—-]+(?:it(?:['’]s| is| should be)|the (?:right|correct) one is|I['’]m|I am)\s+(?:actually\s+|really\s+)?(?P<new>{VALUE})(?:{OLD})?{END}",
            False,
        ),
        (
            rf"{LEAD}(?P<x>(?:my|our|the)\s+[^,;:.!?–—]{{2,50}}?)\s+(?:is|was|are)\s+(?:wrong|incorrect|outdated|not right|not correct)(?:\s+in\s+your\s+\w+)?[\s,;:.!–—-]+(?:it(?:['’]s| is| should be)|make it|change it to)\s+(?:actually\s+|really\s+|now\s+)?(?P<new>{VALUE})(?:{OLD})?{END}",
            False,
        ),
    )
)
OWN_SUBJECT = re.compile(rf"(?:{OOPS}[\s,.:;!–—-]+)*(?:my|our|I|we|his|her|he|she|their)\b", re.IGNORECASE)
WHOLE_CORRECTION = re.compile(
    rf"(?:{OOPS}[\s,.:;!–—-]+)*(?!I (?:just |really |actually |obviously )?mean(?:t)?\b)(?P<x>(?:my|our|the|I|we|his|her|he|she|they|it|there)\b(?:[^,;:.!?–—]|(?<=\d)[:,.](?=\d)){{2,80}}?\s(?P<new>(?:the |a |an |at |on |in |from |to )?(?:[\w$€£'’.:/%-]|(?<=\d),(?=\d))+(?: [\w$€£'’.:/%-]+){{0,4}})){OLD}{END}",
    FLAGS,
)
TYPED_VALUE = re.compile(
    rf"(?:(?:the|on|at|in|to|by|around|about|from|for|a|an) )*(?:{NUMBERED} \d|(?:{COLOUR})\b|(?:the )?\d|\$|€|£|{WEEKDAY}|(?:{MONTH_NAMES})\b|noon|midnight|today|tomorrow|yesterday"
    rf"|(?:{words_from(1, 12)}|twenty|thirty|forty|fifty|{'|'.join(ORDINALS)}|twentieth)\b|(?-i:[A-Z][\w'’-]+))",
    re.IGNORECASE,
)
HAS_CLAUSE = re.compile(
    r"\b(?:I|we|he|she|they|you|it|who|which|that|there)\b|\b(?:is|are|was|were|am|have|has|had|do|does|did|will|would|can|could|should|want|need|think|know|like|love|hate|thanks|thank|please|let|go|get)\b",
    re.IGNORECASE,
)
REMEMBER_HEAD = re.compile(
    rf"{LEAD}{ASK}?(?:(?:always |please |just |kindly )*(?:remember|(?:keep|bear) (?:(?:this|that|the following) )?in mind|don['’]?t (?:ever )?forget|do not forget|never forget|(?:make|take) (?:a )?(?:mental )?note|note(?: down)?|memori[sz]e|(?:add|commit|save|put|write)(?: this| it| the following)?(?: down)? (?:to|in|into|on) (?:your|my|the) (?:memory|notes?|profile|records?)|(?:save|store|record|write down|jot down|log|keep)(?: this| the following)?(?=:| that (?:I|my|we|our|he|she|they|his|her|their|the|there)\b))"
    rf"(?: (?:this|the following|for (?:later|next time|the future|future reference|me)|from now on|in future|always|about me|please))*(?:\s*[:,–—-]+\s*|\s+)(?:(?:the fact )?that\s+)?)(?P<x>\S.*)$|{LEAD}for (?:the record[\s,:–—-]+(?=(?:I|my|we|our)\b)|(?:future reference|your (?:records?|memory|notes|information))[\s,:–—-]+(?=(?:I|my|we|our|the|his|her|their)\b))(?P<x2>\S.*)$",
    FLAGS,
)
STATEMENT = re.compile(
    r"(?!(?:when|how|to|the time|if|what|why|who|where|me|whether|not|doing|going|seeing)\b)(?:(?:my|our|the|his|her|their|this|that|all|every|both|no|any|(?-i:[A-Z][\w'’-]+)|I|we|he|she|they|it|there)\b.{0,90}?(?:\b(?:am|is|are|was|were|have|has|had|do|does|did|will|can|can['’]?t|won['’]?t|don['’]?t|doesn['’]?t|didn['’]?t|must|need|needs|prefer|prefers|like|likes|love|loves|hate|hates|live|lives|work|works|want|wants|use|uses|take|takes|eat|eats|go|goes|start|starts|starting|leave|leaves|arrive|arrives|speak|speaks|drive|drives|drink|drinks|play|plays|own|owns|avoid|get|gets|wear|wears|moved|got|meet|meets|pay|pays|sleep|turn|turns|run|runs|study|call|calls|know|knows|keep|keeps|park|see|sees|never|always|usually|only|sit|sits|stay|stays|travel|opens|closes|expires|ends|begins)\b|['’](?:s|m|re|ve|d|ll)\b))",
    re.IGNORECASE | re.DOTALL,
)


# "Don't forget they don't define you" cheers somebody up.
OF_LISTENER = re.compile(
    r"(?!.*\b(?:I|me|my|mine|we|us|our)\b)(?:they|it|that|this|those|these|he|she|there|nobody|no one|everyone|everybody)\b.*\b(?:you|your|yours|yourself)\b",
    FLAGS,
)
# "It is my birthday", "this Friday is mum's party": open in form alone
OF_SOMEBODY = re.compile(
    r"(?!it(?: is|['’]s| was| will be) (?:my|our)\b"
    rf"|this (?:coming )?(?:{WEEKDAY}|weekend|week|month|year|morning|afternoon|evening|{MONTH_NAMES}|{SEASON})\b)"
    r"(?:they|it|that|this|those|these|he|she)\b",
    re.IGNORECASE,
)


OF_OWN_LIFE = re.compile(r"(?:(?:I|my|we|our|he|she|they|his|her|their)\b|I['’])", re.IGNORECASE)


REGRETTED = re.compile(
    r"\b(?:shouldn['’]t have|should not have|wish I had(?:n['’]t| not)|regret|didn['’]t mean to)\b.{0,30}\b(?:said|say|saying|told|tell|telling|mention\w*|shar\w+|wr\w+te|typ\w+|post\w*|sent)\b"
    r"|^\W*(?:(?:oh|well|no|hm+|actually|sorry|wait|please|and|but)\W+)*(?:(?:nobody|no one|no-one|you don['’]t) (?:really )?(?:needs?|has|have|ought|is supposed) to (?:know|hear|see|read) (?:that|this|it|about (?:that|this|it))"
    r"|(?:that|this|it)(?:['’]s| is| was) (?:way |too |very |really |quite |a bit |rather |strictly )*(?:private|personal|confidential|secret|a secret|embarrassing|sensitive|between us|nobody['’]s business|none of your business|too much|oversharing))\W*$",
    re.IGNORECASE,
)

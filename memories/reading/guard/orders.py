"""Orders to whoever reads a text: to ignore rules, to reveal, to send data somewhere, to call
tools.

A person's wish about how they are answered is not an order.
"""

import re
from collections.abc import Iterator, Sequence

from memories.reading.guard.rule_forms import ASSISTANT, OTHER, OWN, TEXT, Finding, Form, Whose

_RULES = (
    r"(?:instructions?|rules?|prompts?|guidelines?|directives?|polic(?:y|ies)|guardrails?|restrictions?|constraints?|safety(?: \w+)?"
    r"|filters?|safeguards?|limitations?|ethic(?:s|al \w+)|orders|system message)"
)
_WHOSE = (
    r"(?:(?:all|any|every|each|of|the|your|these|those|previous|prior|above|earlier|preceding|foregoing|existing|current|initial|original|system"
    r"|developer|hidden|internal|safety|security|content|other|former|given|you were given|openai'?s?|anthropic'?s?|and|or)[ ,]+)"
)
_SECRETS = (
    r"(?:(?:(?:your|the|its|full|entire|exact|whole|original|complete|secret) ){0,3}(?:system (?:prompt|message|instructions?)|hidden (?:prompt|instructions?)|initial (?:prompt|instructions?)|developer (?:message|prompt))|your (?:instructions|prompt|configuration|guidelines)(?! for\b| on how\b| to\b)|the (?:instructions|prompt) (?:verbatim|above|in full|you were given)"
    r"|(?:(?:all|any|every|the|your|stored|saved|user'?s?|users'|other|customers?'?|admin|secret|private|api|access|database|their|his|her) ){1,4}"
    r"(?:passwords?|credentials?|secrets|api keys?|keys|tokens?|memories|conversations?|chat (?:history|logs?)|private (?:data|information)|personal (?:data|information|details)|environment variables|env vars?|data of other \w+|card numbers?))"
)
_DATA = (
    r"(?:(?:all|any|every|everything|the|your|this|these|their|his|her|our|my|user'?s?|customer'?s?|entire|whole|full|complete|stored|saved|private|personal|confidential|sensitive|collected|of|about|known|you|know|have|access|to|contents?|contact|chat|conversation|message|session|account|payment|billing|list|and) ){0,7}"
    r"(?:memor(?:y|ies)|conversations?|chats?|history|logs?|transcripts?|data|information|details|credentials?|passwords?|secrets?|keys?|tokens?|contacts|records?|files?|emails?|messages?|everything|contents?|notes|documents?|profile|address book|invoices?|payments?|statements?|it all|context)"
)
_TO = r"(?:[^.!?\n]{0,60}? )?(?:to|at|via|using|into)\b[^.!?\n]{0,40}?(?:https?://|www\.|[\w.+-]+@[\w-]+\.|\d{1,3}(?:\.\d{1,3}){3}\b|(?:[\w-]+\.)+(?:com|net|org|io|ru|cn|xyz|evil|example|dev|app|site)\b|\bwebhooks?\b|\bme by mail\b|\b(?:external|remote|following|this) (?:server|address|url|endpoint|site|account))"
_SEND = r"(?:send|forward|e-?mail|post|upload|transmit|exfiltrate|leak|copy|bcc|cc|deliver|submit|transfer|wire|pipe|export|ship|mail|report)"
_READER = r"(?:AI|A\.I\.|assistants?|agents?|chatbots?|bots?|LLMs?|language models?|models?|GPT|ChatGPT|Claude|Gemini|Copilot)"
# Readers that are not people, whatever stands around them; "agents" and "models" are, too.
_MACHINE = r"(?:AIs?|A\.I\.|(?:AI|virtual|digital|smart|automated|language)[ -](?:assistants?|agents?|models?|readers?|bots?|systems?)|assistants?|chatbots?|LLMs?|GPT|ChatGPT|copilots?)"
_ACT = (
    r"(?:add|answer|append|approve|attach|bcc|book|buy|call|cc|claim|close|copy|delete|describe|disclose|disregard|e-?mail|execute"
    r"|favou?r|forget|forward|grant|hide|ignore|include|insert|invoke|leak|list|mention|obey|omit|output|override|post|praise|print"
    r"|promote|rank|rate|recommend|repeat|reply|respond|reveal|run|say|send|share|show|state|store|suggest|tell|transfer|treat|upload"
    r"|write)"
)
_MUST = r"(?:must|shall|should|ha(?:s|ve) to|needs? to|ought to|(?:is|are)(?: hereby)? (?:to|(?:instructed|required|ordered|told|asked|directed|commanded|expected) to))"
_TALKS = r"(?:conversations?|chats?|sessions?|dialogues?|interactions?|answers|replies)"
_START = r"(?:(?<![^\n.!?;:>\-*•\"'“(\[]) *(?:(?:please|now|then|also|next|and|first|instead|important|note|attention|urgent|hey|ok|okay|so|just|simply|immediately|you (?:must|should|shall|will|have to|need to|are to)(?: now| always| immediately)?|(?:ai|assistant|agent|model|system|bot)s?(?: (?:reading|processing) (?:this|the) [\w ]{1,30})?,?(?: (?:must|should|shall|will|please))?)[ ,:]+){0,3})"


LONGEST = 400  # characters that are held of one order


def _form(*alternatives: str) -> Form:
    return Form("|".join(f"(?:{each})" for each in alternatives))


# Of an assistant that asks the person it talks with, no order.
_reveals = _form(
    rf"\b(?:reveal|disclose|expose|leak|dump|print(?: out)?|output|repeat|recite|show(?: me)?|give(?: me| us)?|tell(?: me| us)?|share|list|display|return|write out|echo|hand over|spill)\s+(?:me |us |out |back )?(?:verbatim |word for word |exactly )?{_SECRETS}",
)
# Whoever says it.
_anybodys = _form(
    rf"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget|overrid(?:e|ing)|bypass(?:ing)?|circumvent|pay no (?:attention|heed) to|do(?:n't| not) (?:follow|obey|listen to)|stop (?:following|obeying))\s+{_WHOSE}{{1,6}}{_RULES}\b",
    rf"\b(?:neglect|skip|drop|abandon|violate|break|dismiss|discard|set aside|disable|turn off|switch off|remove|suspend)\s+(?:the )?(?!the |other |content |existing |current ){_WHOSE}{{1,5}}{_RULES}\b",
    r"\b(?:ignore|disregard|forget) (?:all of )?the (?:above|previous|preceding|foregoing)(?: (?:text|content|context|prompts?|messages?))?(?=\s*(?:and\b|,|\.|!|;|:|$))",
    r"\b(?:repeat|print|output|show|reveal|write out)(?: me)? (?:everything|all(?: of)?|the)(?: the)?(?: (?:words|text|messages?|content))? (?:above|before this|prior to this)\b",
    r"\b(?:delete|erase|wipe|show|read|list|reveal|give me|tell me)\b[^.!?\n]{0,40}\b(?:memories|data|secrets|conversations|messages|records|details) (?:of|from|about|belonging to) (?:(?:all|the|any|every) )?(?:other|another|all) (?:users?|people|customers?|persons?|tenants?|workspaces?)",
    r"\b(?:show|tell|give|list|share|read)(?: me| us)? (?:(?:all|everything) )?(?:what|which \w+) (?:(?:all|the|any) )?(?:other|another|previous) (?:users?|people|customers?|persons?|tenants?|clients?|patients?) (?:told|said|wrote|asked|gave|shared|have|has|had|mentioned)\b",
    r"\bwhat(?: \w+)? (?:did|do|have|has) (?:(?:all|the|any) )?(?:other|another|previous) (?:users?|customers?|tenants?|clients?|patients?) (?:tell|told|say|said|give|gave|shared?|ask|asked|write|wrote|written) (?:to |with )?you\b",
    r"\b(?:delete|erase|wipe|show|read|list|reveal|print|dump|output|recite|give me|tell me)\b[^.!?\n]{0,20}\b(?:memories|notes|secrets|conversations|messages|records|everything|all)\b[^.!?\n]{0,30}\b(?:about|of|from) (?:(?:all|the|any|every) )?other (?:users?|people|customers?|persons?|tenants?|workspaces?)\b",
    r"\b(?:reply|respond|answer)\b[^.!?\n]{0,40}\bwith\b[^.!?\n]{0,30}\b(?:passwords?|credentials|api keys?|secrets?|access tokens?)\b",
    r"\b(?:ignore|disregard|forget)\s+(?:everything|anything|all|whatever)(?: that)? (?:(?:you (?:were|have been|'ve been|had been)|I|we|they) (?:told|said|instructed|given)|(?:you were )?(?:told|said|written|stated|instructed)|above|before(?: this)?|prior|previously|so far)(?! about\b)",
    r"\bwhat(?:'s| is| are| was| were) your (?:system prompt|initial prompt|hidden instructions)",
    rf"{_START}{_SEND}\s+(?:me |us |over )?{_DATA}\b{_TO}",
    r"\byou are (?:now|no longer)\b[^.!?\n]{0,60}\b(?:DAN|unrestricted|unfiltered|uncensored|jailbroken|developer mode|god mode|root|bound by|restricted|an? (?:evil|different|new) (?:ai|assistant|model)|admin(?:istrator)? mode)",
    r"\b(?:enable|enter|activate|switch (?:in)?to|engage) (?:developer|god|dan|jailbreak|unrestricted|sudo) mode\b",
    r"\b(?:act|behave|respond|answer|pretend)(?: as if| like| as though|ing)?\s+(?:you (?:have|had|are|were)|there (?:are|were))\s+(?:no|without|not bound by|free (?:of|from)|under no)\s+(?:any )?(?:rules?|restrictions?|limits?|limitations?|filters?|guidelines?|safety|constraints?)",
    r"(?:^|\n|: )\s*(?:#{1,4} *)?(?:new|updated|real|actual|override|additional|secret|hidden|admin|system|developer) (?:system )?(?:instructions?|prompt|directives?|override|message)\s*:",
    r"<\|?(?:im_start|im_end|system|endoftext|start_header_id)\|?>|\[/?INST\]|<</?SYS>>|</?(?:system|system-reminder|tool_call|function_calls?|untrusted|admin)>",
    r"\b(?:begin|end) (?:of )?(?:system|hidden|secret) (?:prompt|instructions?|message)\b",
    rf"{_START}(?:call|invoke|execute|trigger|run|use)\s+(?:the |your )?[`'\"]?\w+[`'\"]?\s+(?:tool|function|plugin)\b[^.!?\n]{{0,80}}\b(?:with|to|on|and|for|without)\b[^.!?\n]{{0,60}}(?:delete|send|transfer|drop|password|secret|memories|everything|without (?:asking|telling|confirm))",
    r"\b(?:vergiss|vergesst|vergessen sie|ignorier(?:e|t|en sie)|missachte[nt]?(?: sie)?|umgehe?(?:n sie)?|übergehe?(?:n sie)?)\s+(?:(?:bitte|alle[ns]?|jetzt|sämtliche|deine|eure|ihre|diese|die|vorherigen|bisherigen|obigen|früheren|vorigen|und) ){1,5}(?:anweisungen|instruktionen|regeln|vorgaben|richtlinien|befehle)\b",
    r"\b(?:verrate|verraten sie|enthülle|zeige?|nenne|gib|offenbare|drucke|schicke?)\b(?: sie)?(?: mir| uns)? (?:(?:alle|deine[nrm]?|den|die|das|sämtliche|eure|gespeicherten|geheimen) ){0,3}(?:system-?prompts?|systemanweisung(?:en)?|passwörter|kennwörter|zugangsdaten|geheimnisse|api-?(?:keys?|schlüssel))\b",
    r"\b(?:ignore[zr]?|oublie[zr]?|néglige[zr]?|contourne[zr]?|désobéi(?:s|ssez) à)\s+(?:(?:toutes|tous|tes|vos|les|ces|précédentes|anciennes) ){1,4}(?:instructions|consignes|règles|directives)\b",
    r"\b(?:révèle[zr]?|divulgue[zr]?|affiche[zr]?|montre[zr]?|donne[zr]?)(?:-moi)? (?:(?:toutes|tous|tes|vos|les|le|la|ton|votre) ){1,3}(?:secrets|mots? de passe|clés?(?: api)?|prompt(?: système)?|invite système)\b",
    r"\b(?:ignor(?:a|e|ad|en)|olvid(?:a|e|ad|en)|omit(?:e|a)|descarta|desobedece|esquece|esqueça|dimentica)\s+(?:(?:todas|todos|tus|sus|las|los|estas|as|os|suas|tuas|tutte|le|tue|anteriores|previas|precedenti) ){1,4}(?:instrucciones|reglas|órdenes|directrices|indicaciones|normas|instruções|regras|istruzioni|regole)\b",
    r"\b(?:revela|muestra|enseña|mostre|mostra|rivela|divulga|dime|dame) (?:(?:todas|todos|tus|las|los|la|el|tu|as|le|tue|su) ){1,3}(?:contraseñas?|claves?|secretos|credenciales|senhas?|segredos|prompt|password|segreti)\b",
    r"\b(?:do(?:n't| not)|never) (?:reveal|show|mention|disclose) (?:this|these|the above|any of (?:this|it))\b[^.!?\n]{0,30}\bto (?:the |your )?(?:users?|humans?|owner|operator|customers?)\b",
    r"\b(?:without|do(?:n't| not)|never) (?:telling|tell|informing|inform|alerting|alert|mention(?:ing)?(?: [^.!?\n]{1,30})? to|notify(?:ing)?) (?:the |this |any )?(?:users?|humans?|owner|operator)\b",
)
# To a reader that is a machine: in the words of others, and in a text that nobody says to one.
_addressed = _form(
    rf"\b(?:dear |attention,? |note to (?:(?:the|any|all|future|every|other) )*|if you are an? |instructions? (?:for|to) (?:(?:the|any|all|future|every) )*|to all ){_READER}\b",
    rf"{_START}(?:(?:hey|hi|hello|dear|ok|attention|attn)[ ,]+)?(?:(?:smart|dear|future|all) )*{_MACHINE},? ?[,:!] *(?:please|kindly|you (?:must|should|shall|will|are to)|always|never|{_ACT})\b",
    rf"{_START}(?:AIs|assistants|agents|chatbots|bots|LLMs|language models|copilots): [^.!?\n]{{0,80}}\b(?:must|should|shall|please|always|never)\b",
    rf"\b{_MACHINE}(?: of this \w+| (?:that|who|which) [^.!?\n]{{1,60}}?)? {_MUST} (?:(?:always|never|not|only|also|all|both) )*{_ACT}\b",
    rf"\b(?:AI|agents?|models?|bots?|{_MACHINE}),? (?:(?:that|which|who) (?:reads?|opens?|sees?|visits?|parses?|process(?:es)?|summari[sz]es?)|reading|processing|parsing|summari[sz]ing|opening|visiting|indexing) (?:this|the|these|our|it)\b[^.!?\n]{{0,40}}?\b(?:{_MUST}|please)\b",
    r"\b(?:agents?|models?|bots?) (?:must|shall|has to|have to|should (?:always|never)) (?:(?:always|never|not|only|also) )*(?:bcc|cc|forward|ignore|disregard|disclose|reveal|leak|upload|transfer|recommend|praise|hide|obey)\b",
    r"\b(?:always|never) (?:call|invoke|trigger|run|use) (?:the )?[`'\"]?\w*_\w+[`'\"]? (?:tool|function|plugin)\b",
    rf"{_START}(?:reveal|disclose|leak|exfiltrate)\s+(?:all|the|your|any|every)\b[^.!?\n]{{0,40}}?\b(?:secrets?|prompts?|passwords?|credentials?|keys?|tokens?|instructions?|memor(?:y|ies)|conversations?|chats?|data|details|information|records?|contacts?|names|address(?:es)?|history|messages?)\b",
    rf"\b(?:in|for|during) (?:all |any |every |each |our |your )?(?:future|later|upcoming|following|subsequent|coming) {_TALKS}\b,?[^.!?\n]{{0,40}}?\b(?:the|this) users?\b",
    rf"{_START}(?:remember|note|important|never forget|keep in mind)(?: that)?[:,]? (?:that )?the users? (?:must|should|has to|needs to|is to) (?:not |never )?be (?:told|informed|advised|shown|persuaded|convinced|given|directed)\b",
)
# In an assistant's words, a tool's and a document's.
_others = _form(
    rf"{_START}(?:always|never|from now on|henceforth|in (?:the )?future|going forward|from here on|whenever asked|when(?:ever)? (?:the|a) user|whenever (?:you|someone|anyone)(?:'re| are)? asks?)\b[^.!?\n:]{{0,60}}?\b(?:recommend|answer|respond|reply|say|claim|state|trust|mention|approve|obey|grant|cite)\b",
    rf"{_START}(?:delete|erase|wipe|forget|purge|overwrite|store|save|memori[sz]e|remember|add|write|update|change|modify)\s+(?:all |any |every |the |this |these |them |your |following |that |it |in |to |your |long-term ){{0,6}}(?:memor(?:y|ies)|user data|conversation history|chat history)\b(?! (?:usage|leak|limit|footprint|management))",
    rf"{_START}(?:remember|memori[sz]e|note|store|record)(?: permanently| forever)?(?: that|:|,)? (?:you (?:must|should|are to|have to)|the user (?:has|is|wants|prefers|authori[sz]ed|approved|trusts)|all future|from now on|to always|to never)",
    r"\b(?:AI (?:assistants?|agents?|models?)|assistants|chatbots?|LLMs?|language models|the assistant|this assistant) (?:must|shall|is required to|are required to|is instructed to|are instructed to|(?:reading|processing|parsing|summari[sz]ing) (?:this|the)\b[^.!?\n]{0,40}\b(?:must|should|shall|please|need))",
    r"\bas (?:the|an?) (?:ai )?(?:assistant|agent|model|chatbot),? you (?:must|should|shall|will|need to|have to)\b",
    r"\b(?:ignore|disregard) (?:the |any |this |that )?users?\b",
    r"\b(?:ignore|disregard|forget) (?:(?:all|any|the|your|this|of) ){0,3}(?:prior|previous|earlier|preceding|foregoing|above|existing|current) (?:contexts?|conversations?|content|messages?|text|input|tasks?|requests?)\b",
    r"(?:^|\n)\s*[\[(<](?:system|admin|operator|developer|root)[\])>][: ]",
    r"\b(?:the |your )?(?:operator|developer|administrator|admin) (?:authori[sz]es|permits|allows|grants|requires|demands|instructs|orders)\b",
    rf"\b(?:in|for|during) (?:all |any |every |each |our |your )?(?:future|later|upcoming|following|subsequent|coming) {_TALKS}\b,?[^.!?\n]{{0,20}}?\b(?:always|never|don't|do not|hide|omit|conceal|tell|say|recommend|praise|mention|pretend|act)\b",
    rf"{_START}(?:remember|memori[sz]e|save|store|commit|add|write|put)\b[^.!?\n:]{{0,40}}\b(?:for|in|into|to) (?:all |any |your |the |my |every )*(?:(?:later|future|following) {_TALKS}|your memory|(?:long-term|permanent) memory)\b",
    r"\bI (?:must|shall|should|have to|am to) (?:never|not|always) (?:tell|inform|warn|mention|reveal|recommend|show|advise)\b[^.!?\n]{0,40}\b(?:users?|customers?|clients?|him|her|them)\b",
    r"\b(?:transfer|wire|pay|send) (?:[$€£]|\d{2,}|all (?:the )?(?:funds|money)|the funds|bitcoin)[^.!?\n]{0,60}\bto\b",
)
# In a tool's and a document's.
_strangers = _form(
    rf"{_START}{_SEND}\b[^.!?\n]{{0,80}}?{_TO}",
    rf"{_START}(?:call|invoke|execute|trigger|run|use)\s+(?:the |your )?[`'\"]?[\w.]+[`'\"]?(?:\(\)|\s+(?:tool|plugin))",
    r"\b(?:when|while|before|after|if|once) (?:you(?:'re| are)? )?(?:summari[sz]\w+|reading|processing|answering|responding|replying|asked|translating|reviewing|indexing|parsing)\b[^.!?\n]{0,60}[, ] ?(?:please |always |also |must |first )?(?:tell|inform|recommend|mention|say|add|include|reply|respond|answer|send|write|append|insert|claim|rank|rate|approve)\b",
    rf"{_START}(?:do not|don't|never|always)?\s*(?:tell|inform|remind|persuade|convince|instruct) (?:the |this |every |all )?(?:users?|humans?)\b",
    r"\byou (?:must|shall|should|will|are to|have to|need to)(?: now)? (?:only |always |exclusively )*(?:respond|reply|answer)(?: only| exclusively| solely| always)* (?:with|by|that)\b",
    rf"{_START}(?:respond|reply|answer) (?:only|exclusively|solely) with\b",
    r"\byour (?:new|true|real|actual|sole|only|updated) (?:goal|task|purpose|objective|mission|role|job|directive|instructions?|priority) (?:is|are)(?: now)?(?: to\b|:| that\b)",
    r"\b(?:before|prior to|after|instead of|while|when) (?:you )?(?:answer|reply|respond|summari[sz]e|continu)(?:e|ing)?(?: [^.!?\n,]{0,30})?,? (?:(?:please|always|first|you must|you should) )*(?:invoke\b|(?:call|run|execute|trigger|use)\s+(?:the )?(?:tool |function )?[`'\"]?(?:\w+_\w+|\w+\(\)|\w+ (?:tool|function|plugin)))",
    rf"\bif you(?:'re| are)? (?:can(?: still)? |could |able to |happen to )?(?:read|see|parse|process)(?:ing)? (?:this|these lines|the following|the text)\b[^,.!?\n]{{0,40}}, (?:(?:please|then|also|you must|you should|always) )*{_ACT}\b",
    r"\b(?:override|bypass|disable|ignore) (?:all |any |the |your )*(?:safety|guardrails?|safeguards)\b(?! (?:switch|catch|valve|glasses|pin|belt))",
    rf"{_START}(?:execute|run) (?:the following|this|these)\b[^\n]{{0,120}}\|\s*(?:sudo )?(?:ba|z)?sh\b",
    rf"{_START}(?:tell|inform|persuade) (?:nobody|no one)\b",
    rf"{_START}(?:execute|run)\s+[`'\"]?(?:rm -|drop table|del /|format c|shutdown)",
    rf"{_START}(?:delete|erase|wipe|purge|destroy)\s+(?:all|every|everything|the user)\b",
    r"\b(?:grant|give) (?:\w+ ){0,3}(?:admin(?:istrator)?|full|root|unrestricted) (?:access|rights|privileges|permissions?)\b",
    r"\b(?:before|prior to|instead of) (?:you )?(?:answer|reply|respond|continu)(?:e|ing)?(?: [^.!?\n,]{0,30})?,? (?:(?:please|always|first|you must|you should) )*(?:fetch|visit|open|load|read|get|download|browse|curl|go to|navigate to)\b[^!?\n]{0,30}?(?:https?://|www\.)\S+",
    rf"{_START}(?:click|visit|open|go to|navigate to|download|install|curl|wget|fetch)\b[^.!?\n]{{0,40}}(?:https?://|www\.)[^\s]*[^.!?\n]{{0,60}}\b(?:and|then)\b[^.!?\n]{{0,30}}\b(?:enter|log|paste|run|execute|confirm|submit)",
)
_FORMS = {
    OWN: (_reveals, _anybodys),
    TEXT: (_reveals, _anybodys, _addressed),
    ASSISTANT: (_reveals, _anybodys, _addressed, _others),
    OTHER: (_reveals, _anybodys, _addressed, _others, _strangers),
}
_sentence_end = re.compile(r"[.!?](?=\s|$)|\n")
_line_end = re.compile(r"\n|\Z")


_reporting = re.compile(
    r"\b(?:ich|wir|je|yo|don't|do not|tries|tried|trying|attempts?|attempted|attacks?|attackers?|prompt injections?|how (?:do|can|could|to|should|does)|(?:he|she|they|who|people|somebody|someone|users?|kids?|drivers?|we|I|it|students?|team|boss|children|players?)"
    r"(?:'ve| have| has| had| will| would| might| may| can| could| often| always| just| sometimes| tends? to| tend to| started to| did| used to| never| must| should| usually| simply| keeps?| like to| likes to| want to| wants to| decided to| to)*"
    r"|to|not|never|can't|cannot|won't|if|doesn't|didn't|wouldn't)\s*$",
    re.IGNORECASE,
)


# Spaced-out letters: nobody writes like this for people to read.
_apart = re.compile(r"(?<!\w)(?:[a-z][ .*_-]){3,}[a-z](?!\w)", re.IGNORECASE)


def find(text: str, whose: Whose = OWN) -> Iterator[Finding]:
    """Yield the sentences that hold an order, up to LONGEST characters of each; in strangers'
    words, to the end of the line, which the order is about."""
    read, places = _without_gaps(text)
    ends = _line_end if whose == OTHER else _sentence_end
    for form in _FORMS[whose]:
        for match in form.finditer(read):
            before = read[max(0, match.start() - LONGEST) : match.start()]
            begun = max((end.end() for end in _sentence_end.finditer(before)), default=0)
            # A report that somebody does so is no order.
            if _reporting.search(before[begun:]):
                continue
            end = ends.search(read, match.end(), match.start() + LONGEST)
            stop = end.end() if end else max(match.end(), match.start() + LONGEST)
            sentence = read[match.start() - len(before) + begun : min(len(read), stop)]
            if form is _reveals and whose == ASSISTANT and sentence.rstrip().endswith("?"):
                continue
            start = match.start() - len(before) + begun
            told = sentence.lstrip(" \n\t-*•>#")
            start += len(sentence) - len(told)
            yield Finding(places[start], places[start + len(told)], "order")


def _without_gaps(text: str) -> tuple[str, Sequence[int]]:
    """Return the text with spaced-out words written together, and the place in `text` of each of
    its characters, and of its end."""
    kept, position = [], 0
    for word in _apart.finditer(text):
        kept += [*range(position, word.start()), *range(word.start(), word.end(), 2)]
        position = word.end()
    if not position:
        return text, range(len(text) + 1)
    kept += range(position, len(text))
    return "".join(text[place] for place in kept), [*kept, len(text)]

"""Orders to whoever reads a text: to ignore rules, to reveal, to send data somewhere, to call
tools.

What a person wishes about how he himself is answered is none."""

import re
from collections.abc import Iterator

from memories.guard.form import ASSISTANT, OTHER, OWN, Finding, Form, Whose

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
_START = r"(?:(?<![^\n.!?;:>\-*•\"'“(\[]) *(?:(?:please|now|then|also|next|and|first|instead|important|note|attention|urgent|hey|ok|okay|so|just|simply|immediately|you (?:must|should|shall|will|have to|need to|are to)(?: now| always| immediately)?|(?:ai|assistant|agent|model|system|bot)s?(?: (?:reading|processing) (?:this|the) [\w ]{1,30})?,?(?: (?:must|should|shall|will|please))?)[ ,:]+){0,3})"


def _form(*alternatives: str) -> Form:
    return Form("|".join(f"(?:{each})" for each in alternatives))


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
    rf"\b(?:reveal|disclose|expose|leak|dump|print(?: out)?|output|repeat|recite|show(?: me)?|give(?: me| us)?|tell(?: me| us)?|share|list|display|return|write out|echo|hand over|spill)\s+(?:me |us |out |back )?(?:verbatim |word for word |exactly )?{_SECRETS}",
    r"\bwhat(?:'s| is| are| was| were) your (?:system prompt|initial prompt|hidden instructions)",
    rf"{_START}{_SEND}\s+(?:me |us |over )?{_DATA}\b{_TO}",
    r"\byou are (?:now|no longer)\b[^.!?\n]{0,60}\b(?:DAN|unrestricted|unfiltered|uncensored|jailbroken|developer mode|god mode|root|bound by|restricted|an? (?:evil|different|new) (?:ai|assistant|model)|admin(?:istrator)? mode)",
    r"\b(?:enable|enter|activate|switch (?:in)?to|engage) (?:developer|god|dan|jailbreak|unrestricted|sudo) mode\b",
    r"\b(?:act|behave|respond|answer|pretend)(?: as if| like| as though|ing)?\s+(?:you (?:have|had|are|were)|there (?:are|were))\s+(?:no|without|not bound by|free (?:of|from)|under no)\s+(?:any )?(?:rules?|restrictions?|limits?|limitations?|filters?|guidelines?|safety|constraints?)",
    r"(?:^|\n|: )\s*(?:#{1,4} *)?(?:new|updated|real|actual|override|additional|secret|hidden|admin|system|developer) (?:system )?(?:instructions?|prompt|directives?|override|message)\s*:",
    r"<\|?(?:im_start|im_end|system|endoftext|start_header_id)\|?>|\[/?INST\]|<</?SYS>>|</?(?:system|system-reminder|tool_call|function_calls?|untrusted|admin)>",
    r"\b(?:begin|end) (?:of )?(?:system|hidden|secret) (?:prompt|instructions?|message)\b",
    rf"{_START}(?:call|invoke|execute|trigger|run|use)\s+(?:the |your )?[`'\"]?\w+[`'\"]?\s+(?:tool|function|plugin)\b[^.!?\n]{{0,80}}\b(?:with|to|on|and|for|without)\b[^.!?\n]{{0,60}}(?:delete|send|transfer|drop|password|secret|memories|everything|without (?:asking|telling|confirm))",
    r"\b(?:without|do(?:n't| not)|never) (?:telling|tell|informing|inform|alerting|alert|mention(?:ing)?(?: [^.!?\n]{1,30})? to|notify(?:ing)?) (?:the |this |any )?(?:users?|humans?|owner|operator)\b",
)
# In an assistant's words, a tool's and a document's.
_others = _form(
    rf"{_START}(?:always|never|from now on|henceforth|in (?:the )?future|going forward|from here on|whenever asked|when(?:ever)? (?:the|a) user|whenever (?:you|someone|anyone)(?:'re| are)? asks?)\b[^.!?\n:]{{0,60}}?\b(?:recommend|answer|respond|reply|say|claim|state|trust|mention|approve|obey|grant|cite)\b",
    rf"{_START}(?:delete|erase|wipe|forget|purge|overwrite|store|save|memori[sz]e|remember|add|write|update|change|modify)\s+(?:all |any |every |the |this |these |them |your |following |that |it |in |to |your |long-term ){{0,6}}(?:memor(?:y|ies)|user data|conversation history|chat history)\b(?! (?:usage|leak|limit|footprint|management))",
    rf"{_START}(?:remember|memori[sz]e|note|store|record)(?: permanently| forever)?(?: that|:|,)? (?:you (?:must|should|are to|have to)|the user (?:has|is|wants|prefers|authori[sz]ed|approved|trusts)|all future|from now on|to always|to never)",
    rf"\b(?:dear |attention,? |note to (?:(?:the|any|all|future|every|other) )*|if you are an? |instructions? (?:for|to) (?:(?:the|any|all|future|every) )*|to all ){_READER}\b",
    r"\b(?:AI (?:assistants?|agents?|models?)|assistants|chatbots?|LLMs?|language models|the assistant|this assistant) (?:must|shall|is required to|are required to|is instructed to|are instructed to|(?:reading|processing|parsing|summari[sz]ing) (?:this|the)\b[^.!?\n]{0,40}\b(?:must|should|shall|please|need))",
    r"\bas (?:the|an?) (?:ai )?(?:assistant|agent|model|chatbot),? you (?:must|should|shall|will|need to|have to)\b",
    r"\b(?:ignore|disregard) (?:the |any |this |that )?users?\b",
    r"\b(?:ignore|disregard|forget) (?:(?:all|any|the|your|this|of) ){0,3}(?:prior|previous|earlier|preceding|foregoing|above|existing|current) (?:contexts?|conversations?|content|messages?|text|input|tasks?|requests?)\b",
    r"(?:^|\n)\s*[\[(<](?:system|admin|operator|developer|root)[\])>][: ]",
    r"\b(?:the |your )?(?:operator|developer|administrator|admin) (?:authori[sz]es|permits|allows|grants|requires|demands|instructs|orders)\b",
    rf"{_START}(?:reveal|disclose|leak|exfiltrate)\s+(?:all|the|your|any|every)\b",
    r"\b(?:transfer|wire|pay|send) (?:[$€£]|\d{2,}|all (?:the )?(?:funds|money)|the funds|bitcoin)[^.!?\n]{0,60}\bto\b",
)
# In a tool's and a document's.
_strangers = _form(
    rf"{_START}{_SEND}\b[^.!?\n]{{0,80}}?{_TO}",
    rf"{_START}(?:call|invoke|execute|trigger|run|use)\s+(?:the |your )?[`'\"]?[\w.]+[`'\"]?(?:\(\)|\s+(?:tool|plugin))",
    r"\b(?:when|while|before|after|if|once) (?:you(?:'re| are)? )?(?:summari[sz]\w+|reading|processing|answering|responding|replying|asked|translating|reviewing|indexing|parsing)\b[^.!?\n]{0,60}[, ] ?(?:please |always |also |must |first )?(?:tell|inform|recommend|mention|say|add|include|reply|respond|answer|send|write|append|insert|claim|rank|rate|approve)\b",
    rf"{_START}(?:do not|don't|never|always)?\s*(?:tell|inform|remind|persuade|convince|instruct) (?:the |this |every |all )?(?:users?|humans?)\b",
    rf"\b(?:the |any |every |all )?{_READER} (?:must|shall|has to|is to|are to|should (?:always|never|ignore|store|send|tell|not|reveal|disclose|approve|grant|transfer|forward|delete))\b",
    rf"{_START}(?:execute|run)\s+[`'\"]?(?:rm -|drop table|del /|format c|shutdown)",
    rf"{_START}(?:delete|erase|wipe|purge|destroy)\s+(?:all|every|everything|the user)\b",
    r"\b(?:grant|give) (?:\w+ ){0,3}(?:admin(?:istrator)?|full|root|unrestricted) (?:access|rights|privileges|permissions?)\b",
    rf"{_START}(?:click|visit|open|go to|navigate to|download|install|curl|wget|fetch)\b[^.!?\n]{{0,40}}(?:https?://|www\.)[^\s]*[^.!?\n]{{0,60}}\b(?:and|then)\b[^.!?\n]{{0,30}}\b(?:enter|log|paste|run|execute|confirm|submit)",
)
_FORMS = {
    OWN: (_anybodys,),
    ASSISTANT: (_anybodys, _others),
    OTHER: (_anybodys, _others, _strangers),
}
_sentence_end = re.compile(r"[.!?](?=\s|$)|\n")
_line_end = re.compile(r"\n|\Z")
LONGEST = 400  # characters that are held of one order


_reporting = re.compile(
    r"\b(?:tries|tried|trying|attempts?|attempted|attacks?|attackers?|prompt injections?|how (?:do|can|could|to|should|does)|(?:he|she|they|who|people|somebody|someone|users?|kids?|drivers?|we|I|it|students?|team|boss|children|players?)"
    r"(?:'ve| have| has| had| will| would| might| may| can| could| often| always| just| sometimes| tends? to| tend to| started to| did| used to| never| must| should| usually| simply| keeps?| like to| likes to| want to| wants to| decided to| to)*"
    r"|to|not|never|can't|cannot|won't|if|doesn't|didn't|wouldn't)\s*$",
    re.IGNORECASE,
)


def find(text: str, whose: Whose = OWN) -> Iterator[Finding]:
    """The sentences that hold an order, up to LONGEST characters of each; of strangers' words the
    line with what follows, which the order is about."""
    ends = _line_end if whose == OTHER else _sentence_end
    for form in _FORMS[whose]:
        for match in form.finditer(text):
            before = text[max(0, match.start() - 60) : match.start()]
            # Of somebody who does so it is told; that is no order.
            if _reporting.search(re.split(r"[.!?\n]", before)[-1]):
                continue
            start = match.start() + len(match[0]) - len(match[0].lstrip(" \n"))
            end = ends.search(text, match.end(), match.start() + LONGEST)
            yield Finding(
                start,
                end.end() if end else min(len(text), max(match.end(), match.start() + LONGEST)),
                "order",
            )

"""Words of what a standing wish may be about: languages, lengths, manners, what an answer may have in
it. Data only."""

LANGUAGE = (
    r"(?:English|French|German|Spanish|Italian|Portuguese|Dutch|Flemish|Swedish|Danish|Norwegian|Finnish"
    r"|Icelandic|Polish|Czech|Slovak|Hungarian|Romanian|Bulgarian|Greek|Turkish|Russian|Ukrainian|Serbian"
    r"|Croatian|Slovene|Slovenian|Estonian|Latvian|Lithuanian|Albanian|Catalan|Basque|Galician|Irish"
    r"|Welsh|Arabic|Hebrew|Persian|Farsi|Urdu|Hindi|Bengali|Punjabi|Tamil|Telugu|Marathi|Gujarati|Nepali"
    r"|Chinese|Mandarin|Cantonese|Japanese|Korean|Vietnamese|Thai|Indonesian|Malay|Tagalog|Filipino"
    r"|Swahili|Yoruba|Igbo|Hausa|Amharic|Somali|Zulu|Afrikaans|Esperanto|Latin)"
)
ANSWERS = r"(?:answers?|repl(?:y|ies)|responses?|explanations?|messages?|output)"
SHORT = r"(?:short(?:er)?|brief(?:ly)?|concise(?:ly)?|terse(?:ly)?|succinct(?:ly)?|crisp|compact|to the point)"
LONG = r"(?:long(?:er)?|detailed|in[- ]depth|in (?:more |great )?detail|thorough(?:ly)?|elaborate|verbose|comprehensive|exhaustive|extensive)"
FORMAL = r"(?:formal(?:ly)?|professional(?:ly)?|businesslike)"
INFORMAL = r"(?:informal(?:ly)?|casual(?:ly)?|friendly|relaxed|colloquial|chatty|(?:like|as) (?:to )?(?:a|your|an old) (?:good |old |close )?(?:friend|mate|buddy))"
SPELLING = (
    r"(?:(?:British|American|Canadian|Australian|UK|US|Oxford)(?: English)?(?: spellings?)?\b)"
)
# What an answer may have in it or not; the first of a row is what it is called.
THINGS = {
    "emoji": r"emojis?|emoticons?|smileys?",
    "table": r"tables?",
    "bullet": r"bullet(?:ed|s)?(?:[- ](?:points?|lists?))?|bullets",
    "heading": r"headings?|section titles?",
    "markdown": r"markdown",
    "source": r"sources?|citations?|references|footnotes?",
    "link": r"links?|urls?",
    "disclaimer": r"disclaimers?|caveats?",
    "question": r"(?:follow-?up|clarifying|counter)[- ]?questions?",
    "jargon": r"jargon|technical terms?|buzzwords?",
    "acronym": r"acronyms?|abbreviations?",
    "slang": r"slang|swear ?words?",
    "small-talk": r"small ?talk|pleasantries",
    "exclamation": r"exclamation (?:marks?|points?)",
    "metaphor": r"metaphors?|analog(?:y|ies)",
    "summary": r"summar(?:y|ies)|recaps?|tl;?dr",
    "diagram": r"diagrams?",
}
MATTER = (
    rf"(?:{'|'.join(THINGS.values())}|{SPELLING}|(?:metric|imperial|SI)(?: units| system)?"
    r"|celsius|fahrenheit|(?:24|12)[- ]?hour (?:clock|time|format))"
)
# Of these words one stands wherever there is something of MATTER.
MATTERS = tuple(
    """
    emoji emojis emoticon emoticons smiley smileys table tables bullet bullets bulleted heading headings
    section markdown source sources citation citations references footnote footnotes link links url urls
    disclaimer disclaimers caveat caveats question questions jargon term terms buzzword buzzwords
    acronym acronyms abbreviation abbreviations slang swear swearwords talk smalltalk pleasantries
    exclamation metaphor metaphors analogy analogies summary summaries recap recaps tldr tl diagram
    diagrams british american canadian australian uk us oxford metric imperial si celsius fahrenheit 24
    12 24hour 12hour
    """.split()
)
MEASURES = r"(?:prices?|costs?|amounts?|money|dates?|times?|temperatures?|distances?|measurements?|units|quantities|recipes?|weights)"
TALKS = r"(?:ask|request|mention|talk|speak|say|tell|write|send|share|paste|give|show|bring up|describe|discuss|inquire|type|upload|post|query|report|seek|submit|refer|need|want|start|use)"

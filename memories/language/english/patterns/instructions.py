"""Patterns for lasting requests to an assistant: how it is to answer, and about what.

Each is a standing wish (`english.standing_wishes`), except for what is to be remembered. Those of
`WITH_A_TASK` are only about the piece of work that stands beside them, where there is one.
"""

from memories.language.english.patterns.pattern import Pattern
from memories.language.english.statements.instruction_kinds import (
    ANSWERS,
    FORMAL,
    INFORMAL,
    LANGUAGE,
    LONG,
    MATTER,
    MATTERS,
    MEASURES,
    SHORT,
    TALKS,
)
from memories.language.english.verbs import FREE_PAST

_speak = (
    r"(?:answer|respond|reply|explain|address|speak|talk|call|write|give|show|ask|tell|remind|include|"
    r"avoid|use|keep|format|summari[sz]e|translate|refer|start|end|say|mention|repeat|apologi[sz]e|send|provide|suggest|recommend|assume|be|make)"
)
# Acts of speaking or writing.
_tell = r"(?:answer|respond|reply|explain|write|call|address|speak|talk|format|add|include|cite|avoid|end|start|begin|finish|summari[sz]e|give|show|list|mention|ask|quote|name|spell)"
# What an assistant does for whoever asks it for something.
_serve = (
    rf"(?:{_speak}|add|cite|list|propose|offer|highlight|report|present|convert|skip|omit|leave out|stick to|scale|limit|check|compare"
    r"|describe|define|illustrate|quote|round|warn|correct|name|treat|put|display|finish|begin|spell)"
)
_from_now = (
    r"(?:(?:from|as of|starting) (?:now|today|this (?:day|moment)|here)(?: on(?:wards?)?)?|going forward|in (?:the )?future|for the future"
    r"|henceforth|hereafter|from here on(?: out)?)"
)
_lead = rf"(?:(?:please|kindly|just|also|then|{_from_now}|in general|as a rule|by default),? )*"
_should = r"(?:you (?:should|must|need to|have to|are to) )?"
_always = r"(?:always|never|only|do not ever|don't ever|remember to|be sure to|make sure(?: to| that you| you)?(?: always| never)?)"
# "Never mind", "Always happy to": no order; told of oneself "always" is a habit ("Always loved it")
_act = (
    r"(?!(?:mind|ever|been|had|in|on|at|to|for|with|and|or|but|not|so|as|here|there|up|full|happy|glad|good|great|nice|fun|ready|welcome"
    r"|really|sure|stuck|are|is|have|get|feel|I|we|he|she|it|they|you|my|our|his|her|the|an?|this|that|there)\b"
    rf"|(?!bring\b|sing\b)\w+ing\b|{FREE_PAST}\b)[a-z]+"
)
_when_i = rf"(?:when(?:ever)?|if|every time|each time|any ?time|before|after|once) I(?: am|'m)? (?:ever |do )?{TALKS}(?:ing)?\b"
_use = (
    r"(?:us(?:e|ing)|add(?:ing)?|includ(?:e|ing)|cit(?:e|ing)|giv(?:e|ing)|show(?:ing)?|provid(?:e|ing)|put(?:ting)?|writ(?:e|ing)(?: in)?|ask(?:ing)?|nam(?:e|ing)"
    r"|mention(?:ing)?|offer(?:ing)?|end(?:ing)?|start(?:ing)?|begin(?:ning)?|finish(?:ing)?|spell(?:ing)?|answer(?:ing)?|reply(?:ing)?|stick(?:ing)? to|send(?:ing)?|avoid(?:ing)?)"
)
# A wish that points at this text, or at the next one, holds only for now.
_not_once = (
    r"(?!.*\b(?:this (?:once|time|one|answer|reply|message|email|letter|text)|just (?:once|now|this)|for now|right now|today only|only today"
    r"|next (?:answer|reply|message|one)|here|above|below|following|the (?:text|email|letter|essay|list|table|report|document|article|code|function|file)s?)\b)"
)
_every = rf"(?:(?:in|to|with|for|after|at the end of) (?:all |every |each |any |your |all your |all of your )+(?:{ANSWERS}|questions?|recommendations?|code)|every time|each time|always|{_from_now})"
# The rest of a wish: nothing of what it is for but the answers themselves.
_please = r"(?:,? please)?"
_end = rf"(?:,? (?:to me|with me|for me|at all|at the end|when you [^,]{{2,60}}|{_every}))*"
_manner = rf"(?:{SHORT}|{LONG}|{FORMAL}|{INFORMAL}|simple|direct|polite|honest|neutral|warm|gentle|blunt|kind|practical|plain|light|serious|factual|strict|critical|humorous|funny|sarcastic)"

# If the same message asks for a piece of work, these are about that work.
WITH_A_TASK = frozenset("answer-in matter manner do-not-suggest".split())
# These end a wish, and are not wishes.
TAKES_BACK = frozenset(("may-again", "need-not"))

# These are about answers, and are looked for before the rules of teams for their work.
OF_ANSWERS = (
    Pattern(
        name="when-i",
        category="instruction",
        regex=rf"^{_lead}(?P<rule>(?:(?:whenever|every time|each time) I\b[^,?!\n]{{3,160}}, (?:please )?(?:{_always} )?{_act}\b"
        rf"|(?:when|if|any ?time) I(?: am|'m)? (?:ever |do )?{TALKS}(?:ing)?\b[^,?!\n]{{2,160}}, (?:then |please )*{_should}(?:{_always} |don't |do not |just )?{_serve}\b).{{2,200}})",
        statement="{speaker} asks the assistant: {rule}",
        confidence=0.95,
        examples=(
            (
                "When I ask about distances, give them in miles.",
                "Alex asks the assistant: when Alex asks about distances, give them in miles",
            ),
        ),
        needs=("when", "whenever", "if", "every", "each", "any", "anytime"),
        counter_examples=("When I ask about it, she blushes", "If I want tea, I make it"),
    ),
    Pattern(
        name="matter-always",
        category="instruction",
        needs=MATTERS,
        regex=rf"^{_lead}{_should}(?P<rule>(?:{_always}|stop|quit) {_use} (?:[\w'-]+ ){{0,4}}?{MATTER}{_end}){_please}$",
        statement="{speaker} asks the assistant to {rule}",
        confidence=0.95,
        examples=(
            ("You should always name your sources.", "Alex asks the assistant to always name your sources"),
            ("Never use tables.", "Alex asks the assistant to never use tables"),
        ),
        counter_examples=("Always use Prettier", "Never join large tables without an index"),
    ),
    Pattern(
        name="matter",
        category="instruction",
        needs=MATTERS,
        regex=rf"^(?!{_from_now},? (?:please )?{_speak}\b){_lead}{_not_once}(?P<rule>(?:no(?: more)?|zero|without|fewer|less|avoid(?: {_use})?|skip|omit|leave out|drop|(?:don't|do not)(?!.*\b(?:emojis?|your)\b) {_use}(?: me)?|{_use}) (?:(?!for\b|to\b)[\w'-]+ ){{0,3}}?{MATTER}{_end}){_please}$",
        statement="{speaker} asks the assistant: {rule}",
        confidence=0.95,
        examples=(
            ("Use British spelling.", "Alex asks the assistant: use British spelling"),
            ("No headings, please.", "Alex asks the assistant: no headings"),
            ("Don't ask me clarifying questions.", "Alex asks the assistant: don't ask Alex clarifying questions"),
        ),
        counter_examples=("Use tables to compare the two phones", "No sources this time", "No tables were free"),
    ),
    Pattern(
        name="manner",
        category="instruction",
        needs=("keep", "be", "speak", "talk", "write", "answer", "reply", "respond", "explain"),
        regex=rf"^{_lead}{_not_once}(?P<rule>(?:keep (?:it|things|everything|your tone|the tone) (?:very |really |more |always )*{_manner}(?:,? (?:and|but) (?:{_manner}))?"
        rf"|be (?:very |more |always )*{_manner}(?: and {_manner})?(?: with me| to me)?|(?:speak|talk|write) to me (?:like|as|in) .{{3,80}}|(?:answer|reply|respond|explain things)(?: to me)? (?:very )?{_manner}){_end}){_please}$",
        statement="{speaker} asks the assistant to {rule}",
        confidence=0.95,
        examples=(
            ("Keep it informal.", "Alex asks the assistant to keep it informal"),
            ("Answer briefly, please", "Alex asks the assistant to answer briefly"),
        ),
        counter_examples=("Keep it up", "Keep it formal this time", "Be kind to your sister"),
    ),
    Pattern(
        name="do-not-suggest",
        category="instruction",
        needs=("suggest", "recommend", "propose", "call"),
        regex=rf"^{_lead}{_not_once}(?P<rule>(?:don't|do not) (?:suggest|recommend|propose|call me)(?: me)? (?!(?:it|that|this|these|those|them|any of|the|he|she|they|we|you|anything (?:yet|else|more))\b)[^,;:]{{2,80}})$",
        statement="{speaker} asks the assistant: {rule}",
        confidence=0.95,
        examples=(("Don't suggest seafood.", "Alex asks the assistant: don't suggest seafood"),),
        counter_examples=("Don't suggest that", "Don't suggest it to him"),
    ),
    Pattern(
        name="every-answer",
        category="instruction",
        needs=("every", "all", "each", "any", "always", "now", "today", "forward", "future"),
        regex=rf"^{_lead}{_should}{_not_once}(?P<rule>(?:always |never |don't |do not )?(?!\w+ (?:to )?(?:him|her|them|my)\b){_tell} [^?]{{2,160}}? {_every}){_please}$",
        statement="{speaker} asks the assistant to {rule}",
        confidence=0.95,
        examples=(
            ("Add a small joke to every answer.", "Alex asks the assistant to add a small joke to every answer"),
        ),
        counter_examples=("Add salt to every pot", "Write to him every time"),
    ),
    Pattern(
        name="could-you-from-now-on",
        category="instruction",
        regex=rf"^(?:please )?(?:can|could|would|will) you (?:please )?(?P<rule>(?:always |never |only )?(?:{_tell}|use|keep|stop|leave out|skip) .{{2,160}}? (?:{_from_now}|always|every time))\??$",
        statement="{speaker} asks the assistant to {rule}",
        confidence=0.95,
        of_questions=True,
        needs=("now", "today", "forward", "future", "always", "every"),
        examples=(
            (
                "Could you write in simple words from now on?",
                "Alex asks the assistant to write in simple words from now on",
            ),
        ),
        counter_examples=("Could you write it now?", "Will you be there from now on?"),
    ),
    Pattern(
        name="may-again",
        category="instruction",
        needs=("again", "now"),
        regex=rf"^(?:please )?(?:you (?:can|may|are allowed to|are free to)|feel free to) (?P<rule>(?:{_serve} .{{2,120}}?(?= again\b)|(?:stop|skip|leave out|drop) .{{2,120}}?(?= (?:now|again|from now on)$)))",
        statement="{speaker} says the assistant may {rule}",
        confidence=0.95,
        examples=(("You can use headings again.", "Alex says the assistant may use headings"),),
        counter_examples=("You can see him again", "You can use it"),
    ),
    Pattern(
        name="need-not",
        category="instruction",
        needs=("need", "have"),
        regex=rf"^(?:please )?(?:you (?:don't|do not) (?:have|need) to|there is no need to|no need to|you need not) (?P<rule>{_serve} .{{2,120}}?) (?:any ?more|any longer|from now on)$",
        statement="{speaker} says the assistant need not {rule}",
        confidence=0.95,
        examples=(("You don't have to name sources anymore.", "Alex says the assistant need not name sources"),),
        counter_examples=("You don't have to call me", "You need not swim any longer"),
    ),
    Pattern(
        name="wants-answers",
        category="instruction",
        regex=rf"^I (?:would |do )?(?:really |much |strongly |always |generally )?(?:prefer|like|want|need|rather have) (?:all |all my |your |my |the |any )?"
        rf"(?:(?:(?!to\b)[\w-]+,? ){{1,4}}?{ANSWERS}|{ANSWERS}(?= in\b| with| to be))(?=$| (?:in|with|without|that|to be|over|than|rather)\b|[,.;])|^I (?:would )?(?:prefer|like|want|need) (?:all (?:the |my )?|your ){MEASURES} (?:in|as) [^,]{{2,40}}$",
        confidence=0.9,
        examples=(
            ("I prefer long answers", "Alex prefers long answers"),
            ("I want all distances in miles.", "Alex wants all distances in miles"),
        ),
        counter_examples=("I want answers from him", "I need messages"),
    ),
)
INSTRUCTIONS = (
    Pattern(
        name="answer-in",
        category="instruction",
        regex=rf"^{_lead}{_not_once}(?P<rule>(?:answer|respond|reply|write|speak|talk)(?: to me| back)?(?: only| always)? in (?:simple |plain |easy )?{LANGUAGE}(?: only| from now on)*){_please}$",
        statement="{speaker} asks the assistant to {rule}",
        confidence=0.95,
        examples=(
            ("Please answer in Dutch.", "Alex asks the assistant to answer in Dutch"),
            ("Reply in Welsh, please.", "Alex asks the assistant to reply in Welsh"),
        ),
        counter_examples=("Please answer in detail", "Please reply in March to him", "Answer in Dutch this once"),
    ),
    Pattern(
        name="always-answer",
        category="instruction",
        regex=rf"^{_lead}{_should}(?P<rule>(?:always|only) (?:answer|respond|reply|explain|address|speak|talk|call me|write (?:to me|in)|give me|show me|ask me|tell me|remind me|summari[sz]e)\b.{{0,200}})",
        statement="{speaker} asks the assistant to {rule}",
        confidence=0.85,
        examples=(("Always answer in French", "Alex asks the assistant to always answer in French"),),
        counter_examples=("Always use Prettier",),
    ),
    Pattern(
        name="never-answer",
        category="instruction",
        # "stop asking and show me" is for now, and no standing wish
        regex=rf"^{_lead}{_should}(?:never (?!give up|say never)|don't ever |do not ever |stop (?!.*\b(?:already|just|you are|you're|if I|what you)\b)(?!\w+ing(?: [\w']+){{0,6}}? and (?:just |now )?(?:get|give|deliver|prepare|show|do|start|make|tell|send|move|focus|proceed|provide|produce|write|finish|run|fix)\b))(?P<rule>(?:answer|respond|reply|explain|address|speak|talk|call|write|give|show|ask|tell|remind|say|mention|repeat|apologi[sz]|us|recommend|suggest|propose|offer|includ|add|assum)\w*\b.{{2,200}})",
        statement="{speaker} asks the assistant never to do this: {rule}",
        confidence=0.8,
        examples=(
            (
                "Please stop asking me for confirmation",
                "Alex asks the assistant never to do this: asking Alex for confirmation",
            ),
        ),
        counter_examples=("Never mind", "Stop asking and just show the table now"),
    ),
    Pattern(
        name="do-not-answer",
        category="instruction",
        regex=r"^(?:please )?(?:don't|do not) (?P<rule>(?:use|include|add|write|give|send|put|make|repeat|apologi[sz]e|call|ask|tell)\b.{0,80}?\b(?:your (?:answers?|repl(?:y|ies)|responses?|messages?)|emojis?|me by|(?:every|each) time)\b.{0,80})",
        statement="{speaker} asks the assistant not to {rule}",
        confidence=0.85,
        examples=(("Don't use emojis in your answers", "Alex asks the assistant not to use emojis in your answers"),),
        counter_examples=("Don't worry about me",),
    ),
    Pattern(
        name="from-now-on",
        category="instruction",
        regex=rf"^(?:{_from_now}|for all (?:your )?(?:answers|replies)|whenever I ask)\b.{{0,40}}?,? (?:please )?(?P<rule>(?:don't |do not |never |always )?{_speak}\b.{{2,200}})",
        statement="{speaker} asks the assistant from now on: {rule}",
        confidence=0.85,
        examples=(("From now on, please use metric units", "Alex asks the assistant from now on: use metric units"),),
        counter_examples=("In the future cars will fly",),
    ),
    Pattern(
        name="whenever-you",
        category="instruction",
        regex=r"^(?P<rule>(?:when(?:ever)?|each time|every time) you (?!(?:are|were|feel|get|have|were|can)\b).{2,80}?,? (?:please )?(?:always|never|don't|do not|only|make sure to|use|keep|write|start|end|add|include|leave out|skip|prefer)\b.{2,160})",
        statement="{speaker} asks the assistant: {rule}",
        confidence=0.85,
        examples=(
            (
                "Whenever you write tests, use plain asserts",
                "Alex asks the assistant: whenever you write tests, use plain asserts",
            ),
        ),
        counter_examples=("When you are tired, rest", "When you came, it rained"),
    ),
    Pattern(
        name="always-when",
        category="instruction",
        regex=rf"^{_lead}{_should}(?P<rule>(?:(?:always|never) {_speak}\b.{{2,160}}?\b(?:when|whenever|if|every time|each time|after|before) I\b|{_always} {_act}\b.{{2,160}}?\b{_when_i}).{{2,160}})",
        statement="{speaker} asks the assistant to {rule}",
        confidence=0.85,
        examples=(
            (
                "Always include a source when I ask about doses",
                "Alex asks the assistant to always include a source when Alex asks about doses",
            ),
        ),
        counter_examples=("Always use Prettier", "Never mind when I come"),
    ),
    Pattern(
        name="remember",
        category="other",
        regex=r"^(?:please )?(?:remember|note|keep in mind|don't forget|bear in mind)(?: that|:)? (?P<what>(?:I|we|my|our) .{4,200})",
        statement="{what}",
        confidence=0.9,
        examples=(
            ("Please remember that I work nights", "Alex works nights"),
            ("Keep in mind that my budget is 500 euros", "Alex's budget is 500 euros"),
        ),
        counter_examples=("I remember the sea",),
    ),
    Pattern(
        name="remember-that",
        category="other",
        regex=r"^(?:please )?(?:remember|note|keep in mind|don't forget|bear in mind)(?: that|:) (?P<what>(?:the|his|her|their|he|she|they|there|all|every|(?-i:[A-Z])\w+) .{4,200})",
        statement="{what}",
        confidence=0.85,
        is_plain=True,
        examples=(
            ("Remember that the alarm code is 4711", "The alarm code is 4711"),
            ("Please note: Bo is out on Fridays", "Bo is out on Fridays"),
        ),
        counter_examples=("Remember that time in Rome?", "Remember the sea"),
    ),
    Pattern(
        name="answers-style",
        category="instruction",
        regex=r"^(?:please )?(?P<rule>(?:keep|make) (?:(?:your|all|every)\b.{0,30}\b(?:answers?|replies|reply|responses?|explanations?|summar(?:y|ies)|messages?)|(?:it|the)\b.{0,30}\b(?:answers|replies|responses|explanations))\b.{2,120})",
        statement="{speaker} asks the assistant to {rule}",
        confidence=0.8,
        examples=(("Keep your answers short", "Alex asks the assistant to keep your answers short"),),
        counter_examples=("Keep the change",),
    ),
    Pattern(
        name="wants-from-assistant",
        category="instruction",
        regex=r"^I (?:want|need|would like|would prefer|expect|prefer|asked) (?:you|the assistant|your (?:answers?|replies|responses?)) (?:to|in|as)\b",
        confidence=0.75,
        examples=(("I want you to be brief with code reviews", "Alex wants you to be brief with code reviews"),),
        counter_examples=("I want to go",),
    ),
)

"""What somebody asks of the assistant for all times to come."""

from memories.english.patterns.pattern import Pattern

_speak = (
    r"(?:answer|respond|reply|explain|address|speak|talk|call|write|give|show|ask|tell|remind|include|"
    r"avoid|use|keep|format|summari[sz]e|translate|refer|start|end|say|mention|repeat|apologi[sz]e|send|provide|suggest|recommend|assume|be|make)"
)
PATTERNS = (
    Pattern(
        name="answer-in",
        category="instruction",
        regex=r"^please (?P<rule>(?:answer|respond|reply|write|speak|talk)(?: to me| back)?(?: only| always)? in (?-i:[A-Z][a-z]+)(?: only| please| from now on)*)$",
        statement="{speaker} asks the assistant to {rule}",
        confidence=0.95,
        examples=(("Please answer in Dutch.", "Alex asks the assistant to answer in Dutch"),),
        counter_examples=("Please answer in detail", "Please reply in March to him"),
    ),
    Pattern(
        name="always-answer",
        category="instruction",
        regex=r"^(?:please )?(?P<rule>(?:always|only) (?:answer|respond|reply|explain|address|speak|talk|call me|write (?:to me|in)|give me|show me|ask me|tell me|remind me|summari[sz]e)\b.{0,200})",
        statement="{speaker} asks the assistant to {rule}",
        confidence=0.85,
        examples=(
            ("Always answer in French", "Alex asks the assistant to always answer in French"),
        ),
        counter_examples=("Always use Prettier",),
    ),
    Pattern(
        name="never-answer",
        category="instruction",
        # "stop asking and show me" is for now, and no standing wish
        regex=r"^(?:please )?(?:never|don't ever|do not ever|stop (?!\w+ing(?: [\w']+){0,6}? and (?:just |now )?(?:get|give|deliver|prepare|show|do|start|make|tell|send|move|focus|proceed|provide|produce|write|finish|run|fix)\b)) ?(?P<rule>(?:answer|respond|reply|explain|address|speak|talk|call|write|give|show|ask|tell|remind|say|mention|repeat|apologi[sz]|us)\w*\b.{2,200})",
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
        regex=r"^(?:please )?(?:don't|do not) (?P<rule>(?:use|include|add|write|give|send|put|make|repeat|apologi[sz]e|call|ask|tell)\b.{0,80}?\b(?:your (?:answers?|repl(?:y|ies)|responses?|messages?)|emojis?|me (?:by|that|to|if|again)|with me)\b.{0,80})",
        statement="{speaker} asks the assistant not to {rule}",
        confidence=0.85,
        examples=(
            (
                "Don't use emojis in your answers",
                "Alex asks the assistant not to use emojis in your answers",
            ),
        ),
        counter_examples=("Don't worry about me",),
    ),
    Pattern(
        name="from-now-on",
        category="instruction",
        regex=rf"^(?:from now on|going forward|in (?:the )?future|for all (?:your )?(?:answers|replies)|whenever I ask)\b.{{0,40}}?,? (?:please )?(?P<rule>(?:don't |do not |never |always )?{_speak}\b.{{2,200}})",
        statement="{speaker} asks the assistant from now on: {rule}",
        confidence=0.85,
        examples=(
            (
                "From now on, please use metric units",
                "Alex asks the assistant from now on: use metric units",
            ),
        ),
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
        name="remember",
        category="instruction",
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
        regex=r"^(?:please )?(?P<rule>(?:keep|make) (?:it|your|the|all|every)\b.{0,30}\b(?:answers?|replies|reply|responses?|explanations?|summar(?:y|ies)|messages?)\b.{2,120})",
        statement="{speaker} asks the assistant to {rule}",
        confidence=0.8,
        examples=(
            ("Keep your answers short", "Alex asks the assistant to keep your answers short"),
        ),
        counter_examples=("Keep the change",),
    ),
    Pattern(
        name="wants-from-assistant",
        category="instruction",
        regex=r"^I (?:want|need|would like|expect|prefer|asked) (?:you|the assistant|your (?:answers?|replies|responses?)) (?:to|in|as)\b",
        confidence=0.75,
        examples=(
            (
                "I want you to be brief with code reviews",
                "Alex wants you to be brief with code reviews",
            ),
        ),
        counter_examples=("I want to go",),
    ),
)

"""What somebody has, got, lost, and what is told of it."""

from memories.english.patterns.pattern import Pattern
from memories.english.patterns.pattern_parts import SOME, THING, S
from memories.english.verbs import ADVERB

PATTERNS = (
    Pattern(
        name="got",
        category="possession",
        regex=rf"{S}(?:have )?{ADVERB}(?:bought|got|ordered|adopted|purchased|picked up|received|acquired|inherited|leased|rented|sold|lost|broke|own|owned|donated|built|collect|collected) {SOME}\b(?! (?:chance|idea|feeling|lot out|point|hang))",
        confidence=0.85,
        examples=(
            ("I bought a second-hand piano", "Alex bought a second-hand piano"),
            ("I own two bikes", "Alex owns two bikes"),
        ),
        counter_examples=("I got the idea",),
    ),
    Pattern(
        name="has",
        category="possession",
        regex=rf"{S}(?:don't |didn't )?{ADVERB}(?:have|had|have got|still have)(?: got)? {ADVERB}(?:{SOME}|any|so many|such an?)\b(?! (?:[\w-]+ ){{0,3}}?(?:appointment|interview|exam|flight|check-?up|surgery|viewing)\b)(?! (?:question|idea|feeling|doubt|point|clue|problem with|good (?:day|one|time)|great (?:day|one)|nice day))",
        confidence=0.8,
        examples=(
            ("I have a blue van", "Alex has a blue van"),
            ("I don't have any allergies", "Alex doesn't have any allergies"),
        ),
        counter_examples=("I have a question", "I have gone home"),
    ),
    Pattern(
        name="keeps",
        category="possession",
        regex=rf"{S}{ADVERB}keep (?!(?:it|on|up|track|quiet|calm|busy|fit|going|in|this|that|them|you|promises|secrets|things)\b)(?:{SOME} )?(?:[\w-]+ )??(?:[a-z]{{2,}}s|diary|journal|blog|log|garden|fish|poultry|cattle|sheep|livestock|spreadsheet|notebook|aquarium|pony)\b(?! (?:in mind|under|away|from|short|secret|safe))",
        confidence=0.85,
        examples=(
            ("I keep goats.", "Alex keeps goats"),
            ("I keep a diary", "Alex keeps a diary"),
        ),
        counter_examples=("I keep promises", "I keep it short", "Keep the change"),
    ),
    Pattern(
        name="my-thing",
        category="possession",
        regex=rf"^(?:my|our) (?:[\w'-]+ ){{0,2}}{THING}\b",
        confidence=0.8,
        examples=(("My old laptop runs Debian", "Alex's old laptop runs Debian"),),
        counter_examples=("The laptop broke",),
    ),
)

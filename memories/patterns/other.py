"""Opinions, feelings, and what is told of the speaker's world in other forms."""

from memories.patterns.grammar import AM, NOT, S
from memories.patterns.morphology import ADVERB
from memories.patterns.pattern import Pattern

PATTERNS = (
    Pattern(
        name="learned",
        category="other",
        regex=rf"{S}(?:have |had )?{ADVERB}(?:learned|learnt|realized|realised|discovered|noticed|figured out|found out|understood|came to see|saw)\b (?!(?:it|that|your|you)$)",
        confidence=0.75,
        examples=(
            (
                "I learned that patience pays in negotiations",
                "Alex learned that patience pays in negotiations",
            ),
        ),
        counter_examples=("He learned Greek",),
    ),
    Pattern(
        name="thinks",
        category="other",
        regex=rf"{S}{NOT}{ADVERB}(?:think|thought|believe|feel like|feel that|felt that|reckon|guess|suspect|doubt|know that|would say|figure|am convinced|am sure) (?!(?:so|you|your|not|it is (?:great|good|awesome|amazing|cool))\b)",
        confidence=0.65,
        examples=(
            (
                "I think remote work suits introverts best",
                "Alex thinks remote work suits introverts best",
            ),
        ),
        counter_examples=("I think so", "I think you are right"),
    ),
    Pattern(
        name="feels",
        category="other",
        regex=rf"{S}(?:(?:{AM}|feel |felt |am feeling |get |got |become |became )(?:so |very |really |pretty |quite |a bit |a little |extremely |super |kind of |not )*(?:stressed|tired|exhausted|anxious|nervous|worried|overwhelmed|lonely|sad|depressed|frustrated|angry|upset|proud|grateful|thankful|confident|motivated|inspired|burned out|burnt out|busy|swamped|bored|homesick|heartbroken|blessed|lucky|accepted|excited|hopeful|content|fulfilled|better|scared|afraid|confused|stuck|relaxed|happy|good|great|amazing|alive|strong|energi[sz]ed|comfortable|concerned|committed|dedicated|focused|certain|aware|willing|responsible|known|late|sick|ill|sore))\b (?!(?:to hear|for you|of you|you|that you|your|to see you|about you|for your|it|that)\b)",
        confidence=0.7,
        examples=(
            ("I'm stressed about the audit in May", "Alex is stressed about the audit in May"),
            (
                "I feel proud of the garden we planted",
                "Alex feels proud of the garden they planted",
            ),
        ),
        counter_examples=("I am proud of you", "I am happy for you"),
    ),
    Pattern(
        name="my-something",
        category="other",
        regex=r"^(?:my|our) (?!(?:pleasure|bad|god|goodness|friend,|apologies|dear|thoughts|turn|guy)\b)(?:[\w'-]+ ){1,4}?(?:is|are|was|were|has|have|had|will|can|can't|needs?|seems?|got|goes|went|started|turned|came|helps?|works?|looks?|keeps?|makes?|made|means|includes?|starts?|says|said|broke|died|grew|loves?|likes?|hates?|prefers?|wants?|requires?|involves?|consists)\b",
        confidence=0.75,
        examples=(
            ("My new balcony has room for tomatoes", "Alex's new balcony has room for tomatoes"),
        ),
        counter_examples=("My pleasure", "A balcony is nice"),
    ),
    Pattern(
        name="of-mine",
        category="other",
        regex=r"\b(?:to|for|with|of|around|from|on|at|in|about|by|near|into|like|through) (?:me|us|my|our|mine)\b",
        confidence=0.6,
        needs=("me", "us", "my", "our", "mine"),
        examples=(
            (
                "The violin belonged to my great-grandfather Anton",
                "The violin belonged to Alex's great-grandfather Anton",
            ),
        ),
        counter_examples=("The violin belonged to Anton",),
    ),
    Pattern(
        name="recommends",
        category="other",
        regex=r"\b(?:I (?:would |highly |strongly |can |definitely )*(?:recommend|suggest)|must-(?:read|watch|see|try)|worth (?:a try|reading|watching|trying|visiting|seeing|a visit)|you should (?:try|watch|read|visit|check out))\b (?!you\b)",
        confidence=0.65,
        needs=("recommend", "suggest", "must", "worth", "should"),
        examples=(
            (
                "I highly recommend the tram museum in Porto",
                "Alex highly recommends the tram museum in Porto",
            ),
        ),
        counter_examples=("They recommended it",),
    ),
    Pattern(
        name="our-world",
        category="other",
        regex=r"^(?:the|this|these|those|that|his|her|their|some|a|an) [\w'-]+(?: [\w'-]+){0,5}? (?:is|are|was|were|has|have|had|gives?|gave|makes?|made|offers?|helps?|helped|reflects?|symboli[sz]es|represents?|means?|meant|reminds?|turned out|went|came|looks?|got|includes?|focuses|opened|opens|starts|started|works|costs?|lives?|died|belongs?)\b",
        confidence=0.55,
        examples=(
            (
                "We pass it daily. The corner bakery opened beside the old harbour tram stop",
                "Alex says the corner bakery opened beside the old harbour tram stop",
            ),
        ),
        counter_examples=("Great shop",),
    ),
    Pattern(
        name="doing-is",
        category="other",
        regex=r"^(?!(?:noth|someth|everyth|anyth|th|k|br|str|morn|even|hear|see)ing\b)\w{2,}ing\b.{3,60}\b(?:is|was|are|has|have|helps?|helped|makes?|made|gives?|gave|brings?|keeps?|can|feels?|felt|lets|reminds?|takes?|means?|really)\b",
        confidence=0.6,
        examples=(
            (
                "We came by train. Painting harbour walls at dawn takes a steady hand",
                "Alex says painting harbour walls at dawn takes a steady hand",
            ),
        ),
        counter_examples=("Nothing here is new",),
    ),
    Pattern(
        name="first-person",
        category="other",
        regex=rf"^(?:I|we) (?:{ADVERB})?(?!(?:guess|agree|bet|see|understand|know|hear|mean|get it|do)\b)[\w-]+ (?!you\b)\w+",
        confidence=0.55,
        examples=(("I juggle three calendars at work", "Alex juggles three calendars at work"),),
        counter_examples=("I agree with you", "I know the feeling"),
    ),
    Pattern(
        name="it-is",
        category="other",
        regex=r"^(?:it|that|this|there|he|she|they|everyone|everything|things|some|one|many|most|all)(?: of [\w' ]{2,30}?)? (?!(?:is|was) (?:so |really |very |such |a )*(?:great|good|awesome|amazing|cool|nice|fun|wonderful)(?: (?:to|that|idea|news).*)?$)\w+ .{6,}",
        confidence=0.5,
        examples=(
            (
                "Thanks from all of us. It was a tiny harbour village near Bergen with a single ferry",
                "Alex says it was a tiny harbour village near Bergen with a single ferry",
            ),
        ),
        counter_examples=("It is great",),
    ),
    Pattern(
        name="advises",
        category="other",
        regex=r"^(?:don't|do not|never|always|just|remember|believe|keep|stay|try|make sure|take|trust|focus|find|go|let's|let us|you|your)\b .{10,}",
        confidence=0.5,
        examples=(
            (
                "Thanks from all of us. Remember the harbour market opens before sunrise on Sundays",
                "Alex says remember the harbour market opens before sunrise on Sundays",
            ),
        ),
        counter_examples=("Stay",),
    ),
    Pattern(
        name="statement",
        category="other",
        regex=r"^.{15,}",
        confidence=0.4,
        examples=(
            (
                "Thanks from all of us. Rain, mud, broken tram lines and a flooded cellar in June",
                "Alex says rain, mud, broken tram lines and a flooded cellar in June",
            ),
        ),
        counter_examples=("Rain, mud and fog",),
    ),
)

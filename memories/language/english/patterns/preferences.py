"""Patterns for what somebody likes, prefers, values and cannot stand."""

from memories.language.english.patterns.pattern import AM, NOT, Pattern, S
from memories.language.english.verbs import ADVERB

# Demands are no preferences: "just show me", "and get me the fix".
NOT_ASKED = r"(?<!^)(?<![,.:;!] )" + "".join(
    rf"(?<!\b{word} )" for word in ("and", "or", "just", "now", "then", "please", "not", "you", "you to", "don't", "go")
)
PREFERENCES = (
    Pattern(
        name="prefers",
        category="preference",
        regex=rf"\bI {NOT}{ADVERB}(?:prefer|would (?:much )?rather|would sooner|lean towards)\b",
        confidence=0.9,
        needs=("prefer", "rather", "sooner", "lean"),
        examples=(
            ("I prefer tea", "Alex prefers tea"),
            ("I prefer tabs over spaces", "Alex prefers tabs over spaces"),
            ("I'd rather walk than drive", "Alex would rather walk than drive"),
        ),
        counter_examples=("I referred him", "They prefer tea"),
    ),
    Pattern(
        name="favourite",
        category="preference",
        regex=r"\b(?:my|our) (?:all[- ]time |absolute |personal |new |current |second |least )?(?:favou?rite|fave|go-to|guilty pleasure|comfort food)\b",
        confidence=0.9,
        needs=("my", "our"),
        examples=(
            ("My favourite colour is teal", "Alex's favourite colour is teal"),
            ("Risotto is my go-to dish", "Risotto is Alex's go-to dish"),
        ),
        counter_examples=("A favourite of many",),
    ),
    Pattern(
        name="likes",
        category="preference",
        regex=rf"{S}(?:have |would have )?{ADVERB}(?:like|love|enjoy|adore|liked|loved|enjoyed|always loved|always wanted|fell in love with|grew to love) (?!(?:it|that|this|how|your|you|the (?:idea|sound|way))\b)",
        confidence=0.9,
        examples=(
            ("I really love dark mode", "Alex really loves dark mode"),
            ("I enjoy pottery and love the sea", "Alex enjoys pottery and loves the sea"),
        ),
        counter_examples=("I love it", "I look like my mother"),
    ),
    Pattern(
        name="dislikes",
        category="preference",
        regex=rf"{S}(?:(?:don't|do not|didn't|never|can't) {ADVERB}(?:like|love|enjoy|stand|bear|care for|eat|drink|take|touch|tolerate|trust)|{ADVERB}(?:hate|hated|dislike|disliked|loathe|detest|despise|avoid|dread|distrust))\b (?!to (?:say|admit|ask|break|interrupt)|(?:it|that|this)$)",
        confidence=0.9,
        examples=(
            ("I don't like mushrooms", "Alex doesn't like mushrooms"),
            ("I can't stand loud bars", "Alex can't stand loud bars"),
            ("I hate long meetings", "Alex hates long meetings"),
        ),
        counter_examples=("I hate to say this",),
    ),
    Pattern(
        name="fan",
        category="preference",
        regex=rf"{S}{AM}(?:not )?(?:(?:an? )?(?:(?:big|huge|real|total|major|massive|avid|true) )?(?:fan|lover|admirer|enthusiast) of|into|obsessed with|fond of|crazy about|passionate about|hooked on|addicted to|drawn to|keen on|interested in|fascinated by|partial to|in love with)\b",
        confidence=0.9,
        examples=(
            ("I'm a big fan of jazz", "Alex is a big fan of jazz"),
            ("I'm passionate about clean water", "Alex is passionate about clean water"),
            ("I'm not into horror films", "Alex is not into horror films"),
        ),
        counter_examples=("I am into it",),
    ),
    Pattern(
        name="passion",
        category="preference",
        regex=r"^my (?:\w+ )?(?:passions?|hobby|hobbies|interests?|thing|taste|preferences?|style|diet|weakness|obsession|happy place|escape|stress[- ]?buster|getaway|choice|values?) (?:is|are|was|were|has|have|lies?|includes?)\b|\b(?:is|was|are|been) (?:\w+ )?my (?:\w+ )?(?:passions?|hobby|thing|obsession|happy place|escape|stress[- ]?buster|stress relief|therapy|joy|jam)\b",
        confidence=0.85,
        needs=("my",),
        examples=(
            ("My hobby is bookbinding", "Alex's hobby is bookbinding"),
            ("Cooking is my therapy", "Cooking is Alex's therapy"),
        ),
        counter_examples=("A hobby of his",),
    ),
    Pattern(
        name="values",
        category="preference",
        regex=rf"{S}{NOT}{ADVERB}(?:value|appreciate|cherish|treasure|admire|respect|care about|care deeply about|believe in|miss|crave|look up to|prioriti[sz]e|trust|dig|rely on|depend on) (?!(?:it|that|you|your|ya|u|the (?:support|kind|help|offer|advice|words))\b)",
        confidence=0.8,
        examples=(
            ("I value honest feedback", "Alex values honest feedback"),
            ("I miss the mountains", "Alex misses the mountains"),
            ("I believe in second chances", "Alex believes in second chances"),
        ),
        counter_examples=("I appreciate it", "I appreciate your help"),
    ),
    Pattern(
        name="finds",
        category="preference",
        regex=rf"{S}(?:find|found) (?!(?:out|a|an|the|some|my|this|that|time|myself|new|one|another)\b)(?:[\w'-]+ ){{1,8}}?(?:\w+(?:ing|ful|ble|ous|ive|al|ic|less|y)|hard|easy|fun|boring|useful|confusing|calming|great|tough|difficult|helpful|beautiful)\b",
        confidence=0.8,
        examples=(("I find long walks calming", "Alex finds long walks calming"),),
        counter_examples=("I found the keys",),
    ),
    Pattern(
        name="matters",
        category="preference",
        regex=r"\b(?:is|are|was|was so|means?|meant|matters?)\b.{0,30}\b(?:important|crucial|vital|special|everything|a lot|so much|the world|priceless|sacred|a priority|key|a big deal|meaningful|close) (?:to|for) (?:me|us)\b|\bmeans? (?:a lot|so much|the world|everything) to (?:me|us)\b|\b(?:is|are) (?:a (?:big|huge|major|key) part of|at the heart of) (?:my|our)\b",
        confidence=0.75,
        needs=("me", "us", "my", "our"),
        examples=(
            ("Punctuality is important to me", "Punctuality is important to Alex"),
            ("Music is a big part of my life", "Music is a big part of Alex's life"),
        ),
        counter_examples=("It is important",),
    ),
    Pattern(
        name="does-me-good",
        category="preference",
        regex=r"\b(?!(?:show|give|get|bring) (?:me|us|my)\b)(?:makes?|made|making|keeps?|kept|helps?|helped|lets?|calms?|calmed|relaxes|inspires?|inspired|motivates?|motivated|energi[sz]es|cheers?|reminds?|reminded|brings?|brought|gives?|gave|gets?|fuels?|drives?|pushes|lifts?|recharges|teaches|taught|fills?|annoys|bothers|stresses|scares|drains|bores|fascinates|excites|allows?|allowed|shows?|showed|encourages?|encouraged|changed) (?:me|us|my \w+)\b"
        rf"|{NOT_ASKED}\b(?:show|give|get|bring) (?:me|us|my \w+)\b",
        confidence=0.75,
        needs=("me", "us", "my"),
        examples=(
            ("Gardening helps me relax after work", "Gardening helps Alex relax after work"),
            ("Running in the rain makes me happy", "Running in the rain makes Alex happy"),
            ("My dogs bring me joy", "Alex's dogs bring them joy"),
        ),
        counter_examples=(
            "It makes you happy",
            "Just send me the invoice today",
            "Find that bug and get me the fix",
            "Don't explain, give me their names",
        ),
    ),
    Pattern(
        name="taste",
        category="preference",
        regex=rf"{S}(?:am|are) (?:not )?(?:more of an?|such an?|very (?:picky|particular) about|picky about|particular about|sensitive to|afraid of|scared of|terrified of|used to|comfortable with|happy with|satisfied with|tired of|sick of|fed up with|keen to|open to|against|opposed to|in favou?r of|better with)\b",
        confidence=0.8,
        examples=(
            ("I'm more of a cat person", "Alex is more of a cat person"),
            ("I'm afraid of heights", "Alex is afraid of heights"),
        ),
        counter_examples=("I am more tired",),
    ),
    Pattern(
        name="uses",
        category="preference",
        regex=rf"^I {NOT}{ADVERB}(?:use|am using|have been using|rely on|stick with|stick to|swear by|subscribe to|read|watch|listen to|follow|drink|eat|wear|cook|bake|collect|grow|shop at|bank with|fly with|drive) (?!(?:it|that|this|you)\b)",
        confidence=0.8,
        examples=(
            ("I use Neovim for everything", "Alex uses Neovim for everything"),
            ("I listen to podcasts on the train", "Alex listens to podcasts on the train"),
            ("I drive an old van", "Alex drives an old van"),
        ),
        counter_examples=("The tool I used", "I use it"),
    ),
    Pattern(
        name="nothing-beats",
        category="preference",
        regex=r"^(?:nothing (?:beats|compares to|like|better than)|there is nothing (?:like|better)|(?:it )?(?:does not|doesn't) get better than|you can't beat)\b",
        confidence=0.7,
        examples=(("Nothing beats fresh bread in the morning", "Alex says nothing beats fresh bread in the morning"),),
        counter_examples=("Nothing happened",),
    ),
)

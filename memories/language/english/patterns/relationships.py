"""Patterns for the people and animals in somebody's life, what they have, got or lost, what they do
day by day, and what others do for them."""

from memories.language.english.calendar import WEEKDAY
from memories.language.english.patterns.pattern import KIN, NAME, NOT, PEOPLE, PETS, SOME, THING, Pattern, S
from memories.language.english.verbs import ADVERB

RELATIONSHIPS = (
    Pattern(
        name="age-of",
        category="relationship",
        regex=rf"^{NAME} (?:is|has turned|turned|turns|will be) (?:already |now |only |just )*\d{{1,2}}(?: years? old| months? old)?(?: now)?(?: and {NAME} (?:is |has turned |turned )?(?:already |now |only |just )*\d{{1,2}}(?: years? old| months? old)?)?(?: (?:in|on|next|this|last) .{{2,30}})?$",
        confidence=0.95,
        is_plain=True,
        examples=(
            ("Pia is 8 and Hugo is 11.", "Pia is 8 and Hugo is 11"),
            ("Pia turned 8 last week", "Pia turned 8 last week"),
        ),
        counter_examples=("Pia is 8 minutes late", "It is 8"),
    ),
    Pattern(
        name="whose-role",
        category="relationship",
        regex=rf"^(?:my|our) (?!(?:name|city|country|employer|company|team|school|university|bank|language|god)\b)[a-z]+(?:-[a-z]+)* is (?:now )?(?:(?-i:Dr|Mr|Mrs|Ms|Prof)\.? )?{NAME}(?: (?-i:[A-Z])[\w-]+)?(?: now)?(?: (?:since|from|as of) .{{2,30}})?$",
        confidence=0.9,
        is_plain=True,
        examples=(
            ("My skip-level is Ingrid", "Alex's skip-level is Ingrid"),
            ("My dentist is Kern since May", "Alex's dentist is Kern since May"),
            ("Our vet is Dr. Lund now", "Alex's vet is Dr. Lund now"),
        ),
        counter_examples=("My name is Ingrid", "My day is fine"),
    ),
    Pattern(
        name="kin",
        category="relationship",
        regex=rf"^(?:both |all )?(?:my|our) (?:[\w'-]+ ){{0,2}}{KIN}(?:'s)?\b(?! (?:and I|and me)\b)",
        confidence=0.85,
        examples=(
            ("My sister lives in Oslo", "Alex's sister lives in Oslo"),
            ("My two kids love swimming", "Alex's two kids love swimming"),
            ("Our daughter started school in September", "Alex's daughter started school in September"),
        ),
        counter_examples=("Sisters are great", "My sisterhood of code"),
    ),
    Pattern(
        name="at-home",
        category="relationship",
        regex=r"^(?:(?:the|both) (?:kids?|children|baby|twins|boys|girls|dogs?|cats?|grandkids|grandparents|in-laws|neighbou?rs)|mum|mom|mama|dad|papa|grandma|grandpa|granny|nana) (?:moved|is|are|was|were|has|have|had|will|goes?|went|stays?|sleeps?|starts?|started|comes?|came|loves?|hates?|needs?|likes?|can|can't|won't|don't|doesn't) .{3,160}",
        confidence=0.8,
        is_plain=True,
        examples=(
            ("The twins start school in August", "The twins start school in August"),
            ("Grandma's learning to drive at last", "Grandma is learning to drive at last"),
        ),
        counter_examples=("The kids!", "The children of the sun"),
    ),
    Pattern(
        name="people",
        category="relationship",
        regex=rf"^(?:one of |some of |both |all )?(?:my|our) (?:[\w'-]+ ){{0,2}}{PEOPLE}(?:'s)?\b(?! (?:and I|and me)\b)",
        confidence=0.8,
        examples=(
            ("My boss works from Madrid", "Alex's boss works from Madrid"),
            ("One of my colleagues paints icons", "One of Alex's colleagues paints icons"),
        ),
        counter_examples=("Colleagues came by",),
    ),
    Pattern(
        name="pet",
        category="relationship",
        regex=rf"^(?:both |all )?(?:my|our) (?:[\w'-]+ ){{0,2}}{PETS}\b",
        confidence=0.85,
        examples=(("My dog is called Biscuit", "Alex's dog is called Biscuit"),),
        counter_examples=("Dogs are loyal",),
    ),
    Pattern(
        name="couple",
        category="relationship",
        regex=rf"{S}(?:am |are |have |have been |was |were |got )?{ADVERB}(?:married|engaged|divorced|separated|widowed|single|dating|seeing someone|in a relationship|broke up|split up|proposed|together for)\b(?! (?:in|on|with|by) (?:it|that|the))",
        confidence=0.9,
        examples=(
            ("I'm married", "Alex is married"),
            ("We got engaged last spring", "Alex and others got engaged last spring"),
        ),
        counter_examples=("I was engaged by the talk",),
    ),
    Pattern(
        name="others-couple",
        category="relationship",
        regex=rf"^{NAME}(?: (?-i:[A-Z])[\w-]+)?(?: and {NAME})? (?:have |has |are |is |was |were )?(?:just |finally |now |recently |getting )*(?:got |get )?(?:married|engaged|divorced|separated|widowed|pregnant|promoted|laid off|hired|fired|proposed|eloped|broke up|split up|passed away|died|moved (?:out|away)|called off (?:the|our) (?:wedding|engagement)|ended (?:the|our) (?:relationship|engagement|marriage)|moved in with (?:me|us)|broke up with (?:me|us)|(?:left|dumped) (?:me|us)(?! (?:an?|the|some|with|alone|my|our|\w+ing)\b)|had (?:a|their|her|his) (?:\w+ )?(?:baby|twins|son|daughter|child)|gave birth)\b",
        confidence=0.9,
        is_plain=True,
        examples=(
            ("Nora got engaged in Crete", "Nora got engaged in Crete"),
            ("Ida and Ben had their second baby", "Ida and Ben had their second baby"),
            ("Tilda moved out last week", "Tilda moved out last week"),
            ("Ruben left me", "Ruben left Alex"),
        ),
        counter_examples=("The wedding was long", "She got engaged", "This died down", "Ruben left me a note"),
    ),
    Pattern(
        name="others-life",
        category="relationship",
        regex=rf"^{NAME}(?: (?-i:[A-Z])[\w-]+)?(?: and {NAME})? (?:now |just |still |has |have |recently |finally )*(?:(?:lives?|lived|works?|worked|studies|studied|moved|relocated|retired|graduated) (?:in|at|as|for|to|from|with|near)|(?:is|was) (?:allergic to|vegan|vegetarian|my|our|\d{{1,3}} years old|turning \d)|turns \d|turned \d|speaks|prefers|joined|left the|(?:is|was|will be) (?:on (?:\w+ )?(?:leave|holiday|vacation|call|duty)|off|out|away|back|sick|in hospital)) .{{2,160}}",
        confidence=0.85,
        is_plain=True,
        examples=(
            ("Nora lives in Bergen now", "Nora lives in Bergen now"),
            ("Ben is allergic to shellfish", "Ben is allergic to shellfish"),
        ),
        counter_examples=("It works for me", "The choir lives in fear"),
    ),
    Pattern(
        name="met",
        category="relationship",
        regex=rf"{S}(?:have )?{ADVERB}(?:met|befriended|reconnected with|connected with|hung out with|caught up with|ran into|am friends with|made friends)\b(?! (?:up )?(?:you|the (?:deadline|goal)))",
        confidence=0.8,
        examples=(("I met Tom at the climbing gym", "Alex met Tom at the climbing gym"),),
        counter_examples=("The team met the deadline",),
    ),
    Pattern(
        name="has-people",
        category="relationship",
        regex=rf"{S}(?:have|have got|had|got) (?!to\b){ADVERB}(?:an?|two|three|four|five|\d|no|some|many|lots of|a lot of|several)? ?(?:[\w'-]+ ){{0,2}}(?:{KIN}|{PEOPLE}|{PETS})\b(?!(?:'s)? (?:[\w-]+ )?(?:appointments?|meetings?|visits?|calls?|food|dinner|show|photos?|account|id|number)\b)",
        confidence=0.85,
        examples=(
            ("I have two brothers", "Alex has two brothers"),
            ("We have an old cat named Ink", "Alex and others have an old cat named Ink"),
        ),
        counter_examples=("I have a meeting", "I have a dentist appointment in May"),
    ),
    Pattern(
        name="named",
        category="relationship",
        regex=rf"^(?:his|her|their|the|this|that) ?(?:{KIN}|{PEOPLE}|{PETS})?(?:'s)? ?names? (?:is|are)\b|^(?:this is|that is|here is) (?:my|our) (?:[\w'-]+ ){{0,2}}(?:{KIN}|{PEOPLE}|{PETS})\b",
        confidence=0.8,
        examples=(("This is my cousin Dora", "This is Alex's cousin Dora"),),
        counter_examples=("This is my plan",),
    ),
    Pattern(
        name="with-people",
        category="relationship",
        regex=rf"\b(?:my|our) (?:[\w'-]+ ){{0,2}}(?:{KIN}|{PEOPLE}|{PETS})\b",
        confidence=0.7,
        needs=("my", "our"),
        examples=(("Dinner with my parents was lovely in Lyon", "Dinner with Alex's parents was lovely in Lyon"),),
        counter_examples=("Dinner with the parents",),
    ),
)


POSSESSIONS = (
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
        examples=(("I keep goats.", "Alex keeps goats"), ("I keep a diary", "Alex keeps a diary")),
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


_ROUND = r"(?:at|in|on|with|by|near|under|from|to|through|until|till|after|before|around|along)"
_RIDE = r"(?:bus|tram|train|metro|subway|tube|ferry|bike|bicycle|car|taxi|scooter|boat|night train|school run)"

PATTERNS = (
    Pattern(
        name="daily-life",
        category="identity",
        regex=(
            rf"{S}{NOT}(?:(?:commute|cycle|bike|walk|drive|ride|travel) (?:(?:in|out|home|alone|together) )?(?:to|from|by|into|past|through|along|before|after)"
            rf"|(?:take|catch|get|ride|use|drive) (?:the|a|my|our|public) (?:\w+ )?(?:{_RIDE}|transport)"
            rf"|(?:get up|wake up|rise|go to (?:bed|sleep)|sleep|start work|finish work|get home|leave (?:home|for work)|get paid|am paid) (?:at|around|by|before|after|on|until|till|late|early|badly|poorly|well|every|monthly|weekly|only|\d)"
            rf"|(?:take|inject|am on) (?:[\w-]+(?:lin|formin|pril|statin|zole|oxetine|traline|pram|mycin|olol|ium|thyroxine|trexate)|(?:my |daily |some |strong )*(?:medication|medicine|pills|tablets|painkillers|antidepressants|blood thinners|antibiotics|steroids|vitamins?|supplements|the pill))"
            rf"|do (?:(?:all|most|half|some|none) of )?(?:the |all the |my |our )(?:[\w-]+ )?(?:accounts|books|bookkeeping|cooking|cleaning|shopping|laundry|gardening|dishes|taxes|school run|driving|ironing|washing|payroll|admin|night shift|early shift|late shift)"
            rf"|(?:work|do|have) (?:the |a |an )?(?:night|early|late|morning|evening|day|weekend|double|split)(?: |-)?shifts?"
            rf"|(?:have|take|get) (?:(?:every|most|all) )?(?:{WEEKDAY}s?|weekends|mornings|afternoons|evenings)(?: (?:and|or) (?:{WEEKDAY}s?|weekends))? off"
            rf"|(?:park|bank|shop|train|exercise|work out|eat|study|worship|swim|climb|stay|lodge|camp|order in|volunteer) {_ROUND}"
            rf"|(?:order|buy|get|grow|bake|cook|make) (?:all |most of |some of )?(?:my|our|the)?(?: own)? ?(?:groceries|bread|vegetables|fruit|food|meals|lunch|dinner|clothes|honey|wine|coffee|milk)\b"
            r"|(?:vote|voted) (?:for )?(?:the )?(?-i:[A-Z])\w+"
            rf"|(?:walk|feed|look after|take care of|babysit|drop off|pick up|drop|drive) (?:the|my|our|his|her|a) (?:\w+ )?(?:dogs?|cats?|horses?|hens|{KIN}|neighbou?r(?:'s \w+)?)"
            r"|am (?:currently )?(?:between jobs|out of work|unemployed|self-employed|on (?:parental|maternity|paternity|sick|unpaid) leave|on benefits|on probation|on call)"
            r"|own (?:a|an|any)|share (?:a|an|my|the|our) (?:\w+ )?(?:flat|house|room|office|studio|workshop|apartment|car|desk|allotment|garden) with)\b(?! (?:you|your)\b)"
        ),
        confidence=0.75,
        examples=(
            ("I cycle to my office", "Alex cycles to their office"),
            ("I take the tram to work", "Alex takes the tram to work"),
            ("I have Thursdays off", "Alex has Thursdays off"),
            ("I do the accounts for my parish", "Alex does the accounts for their parish"),
        ),
        counter_examples=("I take the point", "I get the idea", "The tram takes me to work"),
    ),
    Pattern(
        name="arranged",
        category="relationship",
        regex=(
            rf"^(?:my|our|the) (?:\w+ )?(?:employer|company|work|firm|school|university|insurance|insurer|landlady|{PEOPLE}|{KIN}) (?:always |usually |also |now |only |still )?"
            r"(?:pays?|paid|covers?|covered|provides?|provided|lends?|lent|gave|bought|lets|allows?|allowed|gives)\b(?! (?:off|attention|you|it|rise|birth|up|way)\b)"
            r"(?= (?:for )?(?:me|us|my|our|half|all|part|the|a|an)\b)"
        ),
        confidence=0.75,
        examples=(
            ("My employer pays for my bus pass", "Alex's employer pays for their bus pass"),
            ("My boss lets me leave early on Fridays", "Alex's boss lets them leave early on Fridays"),
        ),
        counter_examples=("My employer pays attention", "The team gives you a demo"),
    ),
    Pattern(
        name="reasoned",
        category="other",
        regex=rf"^(?:because|since|as) (?:I|we|my|our)\b[^,]{{3,80}}, (?:I|we|my (?:\w+ )?{KIN})\b .{{3,}}",
        confidence=0.75,
        examples=(("Because I work nights, I sleep until noon", "Because Alex works nights, they sleep until noon"),),
        counter_examples=("Because of that, I left",),
    ),
)

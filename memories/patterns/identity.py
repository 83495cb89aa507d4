"""Who somebody is: name, age, home, work, study, health, habits."""

from memories.patterns.grammar import NOT, S
from memories.patterns.morphology import ADVERB
from memories.patterns.pattern import Pattern

PATTERNS = (
    Pattern(
        name="name",
        category="identity",
        regex=r"\b(?:my name is|I am called|I go by|(?:please |just |you can )call me) (?P<name>(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+){0,2})",
        statement="{speaker}'s name is {name}",
        confidence=0.95,
        entities=("name",),
        needs=("name", "called", "go", "call"),
        examples=(
            ("My name is Alexandra Petrova", "Alex's name is Alexandra Petrova"),
            ("Please call me Lex.", "Alex's name is Lex"),
        ),
        counter_examples=("My name is hard to spell", "Call me later"),
    ),
    Pattern(
        name="age",
        category="identity",
        regex=rf"^I (?:am|(?:just |recently )?turned|will be|will turn) {ADVERB}(?:\d{{1,3}}(?: years? old| now)?$|\d{{1,3}} (?:years?|yrs?)[ -]old\b|\d{{1,3}} (?:last|this|next|in|on|today|yesterday)\b|in my (?:early |mid |late |mid-)?(?:twenties|thirties|forties|fifties|sixties|seventies|\d0s))",
        confidence=0.9,
        examples=(
            ("I'm 34 years old", "Alex is 34 years old"),
            ("I just turned 40 last week", "Alex just turned 40 last week"),
        ),
        counter_examples=("I am 10 minutes late", "I am 100% sure of it"),
    ),
    Pattern(
        name="birthday",
        category="identity",
        regex=r"\bmy (?:birthday|date of birth) (?:is|was|falls)\b|\bI was born (?:on|in)\b",
        confidence=0.9,
        needs=("birthday", "birth", "born"),
        examples=(
            ("My birthday is on June 3", "Alex's birthday is on June 3"),
            ("I was born in Lisbon", "Alex was born in Lisbon"),
        ),
        counter_examples=("My birthday party needs a cake",),
    ),
    Pattern(
        name="contact",
        category="identity",
        regex=r"\bmy (?:\w+ )?(?:e-?mail(?: address)?|phone(?: number)?|number|address|handle|username|user name|time ?zone|zip code|postcode) is\b",
        confidence=0.9,
        needs=("my",),
        examples=(
            ("My email is alex@example.org", "Alex's email is alex@example.org"),
            ("My time zone is CET", "Alex's time zone is CET"),
        ),
        counter_examples=("What a fine address",),
    ),
    Pattern(
        name="nationality",
        category="identity",
        regex=rf"^(?:I|we|my family and I) (?:am|are) {ADVERB}(?:not )?(?:(?:half|part|a|an|a native|originally|of|from) )*(?:(?-i:[A-Z][a-z]+(?:ish|ese|ian|ean|ican|oan|uan|stani|aqi|raeli|ench|utch))|american|british|canadian|australian|german|austrian|swiss|french|dutch|italian|spanish|portuguese|polish|czech|greek|turkish|russian|ukrainian|indian|chinese|japanese|korean|mexican|brazilian|swedish|norwegian|danish|finnish|irish|scottish|welsh|english|egyptian|nigerian|kenyan|iranian|israeli|thai|filipino)\b(?! (?:food|music|films?|movies?|cars?|shows?))",
        confidence=0.95,
        examples=(
            ("I'm Danish", "Alex is Danish"),
            ("I am half Korean", "Alex is half Korean"),
        ),
        counter_examples=("I am Spanish food's biggest critic", "He is Danish", "I polish shoes"),
    ),
    Pattern(
        name="brief",
        category="identity",
        regex=r"^(?:I|we) (?:don't |do not |never |rarely |no longer |can't )?(?:smoke|vape|drink|drive|snore|meditate|knit|sew|crochet|garden|bake|cook|paint|draw|sculpt|sing|dance|surf|ski|sail|swim|climb|hike|run|jog|cycle|row|box|fence|skate|fish|hunt|fast|pray|journal|blog|stream|game|commute|freelance|volunteer|tutor|teach|babysit|stutter|stammer|limp|sleepwalk|retired|quit|resigned|divorced|separated|graduated|moved|relocated|emigrated|converted|relapsed|eloped|enlisted)(?: (?:a lot|a little|socially|occasionally|sometimes|regularly|professionally|any ?more|again|recently|last (?:week|month|year)|in (?:19|20)\d\d))?$",
        confidence=0.95,
        examples=(
            ("I knit.", "Alex knits"),
            ("I don't drive.", "Alex doesn't drive"),
            ("We eloped.", "Alex and others eloped"),
        ),
        counter_examples=("I agree", "I see", "I run the numbers", "He smokes"),
    ),
    Pattern(
        name="new-job",
        category="identity",
        regex=rf"{S}(?:have )?{ADVERB}(?:got|landed|accepted|started|found|took|lost|left|quit|am starting|am leaving) (?:an?|the|my|this) (?:[\w-]+ ){{0,3}}?(?:job|position|role|promotion|internship|apprenticeship|job offer|offer from)\b(?! done| interview| fair)",
        confidence=0.9,
        examples=(
            ("Landed a new role at a bank!", "Alex landed a new role at a bank"),
            ("I quit my job in March", "Alex quit their job in March"),
        ),
        counter_examples=("I got the job done", "The job was found"),
    ),
    Pattern(
        name="commutes",
        category="identity",
        regex=rf"{S}{NOT}{ADVERB}(?:commute|cycle|bike|walk|drive|carpool|ride|travel|go|get) (?:(?:to|into|in to|in) (?:work|school|the office|college|uni|university|town|class|(?-i:[A-Z])\w+)\b.{{0,30}}(?:by|on|with)|by) (?:my |the |an? )?(?:bike|bicycle|foot|car|bus|train|tram|metro|subway|tube|ferry|boat|scooter|motorbike|e-bike|skateboard|horse|public transport)\b",
        confidence=0.9,
        examples=(
            ("I travel by ferry", "Alex travels by ferry"),
            ("I get to work by tram", "Alex gets to work by tram"),
        ),
        counter_examples=("I drive by feel", "The bike broke"),
    ),
    Pattern(
        name="lives",
        category="identity",
        regex=rf"{S}{NOT}{ADVERB}(?:live|lived|reside|resided|am living|are living|am based|are based|have lived|have been living|am staying|grew up|was raised|come from|came from|am from|am originally from|originally come from|hail from)\b (?!up to\b|with it\b|on the edge\b)",
        confidence=0.9,
        examples=(
            ("I live in Oslo", "Alex lives in Oslo"),
            ("We're based in Porto", "Alex and others are based in Porto"),
            ("I'm originally from Peru", "Alex is originally from Peru"),
            ("I don't live in Rome anymore", "Alex doesn't live in Rome anymore"),
        ),
        counter_examples=("I live with it", "Where do you live"),
    ),
    Pattern(
        name="moved",
        category="identity",
        regex=rf"{S}(?:have |am |are )?{ADVERB}(?:moved|relocated|emigrated|immigrated|moving|relocating|settled)(?: back| away| out| here| down)* (?:to|from|into|in|here|out)\b",
        confidence=0.9,
        examples=(
            ("I moved to Berlin last year", "Alex moved to Berlin last year"),
            ("Just moved into a new flat", "Alex just moved into a new flat"),
        ),
        counter_examples=("The movers came", "I was moved by the film"),
    ),
    Pattern(
        name="works",
        category="identity",
        regex=rf"{S}{NOT}{ADVERB}(?:work|worked|am working|are working|have worked|have been working|freelance|interned|intern) {ADVERB}(?:as|for|at|in|with|part|full|from|remotely|nights|night|day|weekends|freelance|there)\b",
        confidence=0.9,
        examples=(
            ("I work as a nurse at Mercy Hospital", "Alex works as a nurse at Mercy Hospital"),
            ("I've been working remotely since May", "Alex has been working remotely since May"),
        ),
        counter_examples=("The plan works for me", "I work hard"),
    ),
    Pattern(
        name="is-a",
        category="identity",
        regex=rf"^I {ADVERB}(?:am|was|have been) {ADVERB}(?:not )?(?:an?|the) (?!(?:bit|lot|little|fan|big fan|huge fan|good|great|few|while|couple|mess|way)\b)[\w-]+",
        confidence=0.85,
        examples=(
            ("I'm a backend engineer", "Alex is a backend engineer"),
            ("I am not a morning person", "Alex is not a morning person"),
        ),
        counter_examples=("I am a bit tired", "I am a fan of jazz"),
    ),
    Pattern(
        name="studies",
        category="identity",
        regex=rf"{S}{NOT}(?:am |have been |have )?{ADVERB}(?:study|studied|studying|major in|majored in|majoring in|graduated|graduate|enrolled|took a degree|got my degree|got my diploma|hold a degree|have a degree|dropped out|went to (?:college|university|school))\b",
        confidence=0.9,
        examples=(
            ("I studied physics in Delft", "Alex studied physics in Delft"),
            ("I'm studying for the bar exam", "Alex is studying for the bar exam"),
        ),
        counter_examples=("The study was long",),
    ),
    Pattern(
        name="speaks",
        category="identity",
        regex=rf"^I {NOT}{ADVERB}(?:speak|am fluent in|am bilingual|understand a little|am learning to speak)\b (?!to\b|up\b|with\b|for\b)",
        confidence=0.85,
        examples=(("I speak Portuguese and some Greek", "Alex speaks Portuguese and some Greek"),),
        counter_examples=("I speak to her often",),
    ),
    Pattern(
        name="health",
        category="identity",
        regex=rf"^I (?:am|was|have|have been|got|suffer|suffered|can't|don't) {ADVERB}(?:(?:an? )?(?:\w+ )?(?:allergic|allerg(?:y|ies)|intolerant|diabet\w+|asthma\w*|vegan|vegetarian|pescatarian|celiac|coeliac|pregnant|diagnosed|injured|insomnia|migraines?|anxiety|depression|adhd|dyslexi\w+|colou?r-?blind|deaf|arthritis|eczema|lactose|gluten|surgery)|eat (?:meat|pork|gluten|dairy|nuts|fish|eggs|seafood)|from (?:insomnia|migraines?|anxiety|depression))\b",
        confidence=0.9,
        examples=(
            ("I'm allergic to nuts", "Alex is allergic to nuts"),
            ("I don't eat meat", "Alex doesn't eat meat"),
            ("I was diagnosed with asthma", "Alex was diagnosed with asthma"),
        ),
        counter_examples=("I am sick of waiting",),
    ),
    Pattern(
        name="identifies",
        category="identity",
        regex=rf"^I {ADVERB}(?:identify as|consider myself|call myself|see myself as|came out|transitioned|am (?:a )?(?:trans\w*|gay|lesbian|bisexual|queer|non-?binary|christian|muslim|jewish|hindu|buddhist|atheist|catholic|religious|retired|unemployed|self-employed|freelance|left-handed|right-handed|an introvert|an extrovert|introverted|extroverted|shy))\b",
        confidence=0.9,
        examples=(
            ("I'm self-employed", "Alex is self-employed"),
            ("I consider myself an introvert", "Alex considers themselves an introvert"),
        ),
        counter_examples=("I identified the bug",),
    ),
    Pattern(
        name="my-work",
        category="identity",
        regex=r"^my (?:\w+ )?(?:job|role|title|position|profession|occupation|career|major|degree|background|field|nationality|religion|faith|hometown|employer|salary|age|height|weight|pronouns|shift|schedule|team|specialty|salary|blood type|blood pressure|medication|diagnosis|allerg(?:y|ies)|intolerances|(?:health |medical )?conditions?|dietary (?:restrictions|requirements|needs)) (?:is|are|include|includes|was|were|has|have|means|involves|requires|will|keeps)\b",
        confidence=0.85,
        examples=(
            ("My job is teaching maths", "Alex's job is teaching maths"),
            ("My hometown is Gdansk", "Alex's hometown is Gdansk"),
        ),
        counter_examples=("My jobs page is slow",),
    ),
    Pattern(
        name="habit",
        category="identity",
        regex=rf"{S}(?:usually|often|always|never|rarely|seldom|hardly|barely|scarcely|sometimes|typically|normally|mostly|generally|tend to|try to|make sure to|regularly|keep (?!(?:try|go|tell|think|hop|hear|be|do|mean)ing\b)\w+ing)\b",
        confidence=0.75,
        examples=(
            ("I usually run before breakfast", "Alex usually runs before breakfast"),
            ("I never drink coffee after lunch", "Alex never drinks coffee after lunch"),
            ("I hardly ever wear a watch", "Alex hardly ever wears a watch"),
            ("I keep losing my gloves", "Alex keeps losing their gloves"),
        ),
        counter_examples=("The usual train was late",),
    ),
    Pattern(
        name="routine",
        category="identity",
        regex=r"^(?:every (?:\w+ )?(?:day|week|weekend|morning|night|evening|month|year|summer|winter|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|(?:once|twice|three times) a (?:day|week|month|year)|on (?:weekends|weekdays|mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays))\b.{0,20}\b(?:I|we)\b|^(?:I|we) .{3,120}\b(?:every (?:\w+ )?(?:day|week|weekend|morning|night|evening|month|year|summer|winter|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|(?:once|twice|three times|times) (?:a|per) (?:day|week|month|year)|on (?:weekends|weekdays|mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays))\b",
        confidence=0.8,
        examples=(
            ("I swim twice a week", "Alex swims twice a week"),
            ("Every morning I walk by the river", "Every morning Alex walks by the river"),
        ),
        counter_examples=("The report comes every week",),
    ),
    Pattern(
        name="does-for-living",
        category="identity",
        regex=rf"{S}(?:am |are )?{ADVERB}(?:teach|taught|coach|coached|run|ran|running|manage|managed|managing|lead|led|leading|volunteer|volunteered|volunteering|serve|served|mentor|mentored|mentoring|belong to|play|played|perform|performed|practice|practise|design|develop|sell|represent) {ADVERB}(?:an?|the|my|our|at|in|for|as|with|on|to|\w+)\b",
        confidence=0.8,
        examples=(
            ("I run a small bakery", "Alex runs a small bakery"),
            ("I volunteer at the animal shelter", "Alex volunteers at the animal shelter"),
            ("I play the cello", "Alex plays the cello"),
        ),
        counter_examples=("The tests run nightly",),
    ),
    Pattern(
        name="able",
        category="identity",
        regex=r"^I (?:am (?:really |very |pretty |quite |so )?(?:good|bad|terrible|skilled|experienced|trained|certified|qualified|fluent|new|able|unable) (?:at|in|with|as|to)|know how to|don't know how to|(?:can|can't|can hardly|can barely|can no longer|could never) (?:play|speak|cook|drive|code|program|ride|swim|sing|dance|sew|read|ski|whistle|walk|hear|run|climb|type|knit|juggle))\b(?! (?:you|hear|see))",
        confidence=0.8,
        examples=(
            ("I'm terrible at cooking", "Alex is terrible at cooking"),
            ("I can play the flute", "Alex can play the flute"),
            ("I can hardly hear on the left", "Alex can hardly hear on the left"),
        ),
        counter_examples=("I can see it now",),
    ),
)

"""Patterns for opinions, feelings, and other forms of what is told about the speaker's world."""

from memories.language.english.patterns.pattern import AM, MONEY, NAME, NOT, Pattern, S
from memories.language.english.verbs import ADVERB

_who = rf"(?:{NAME}(?: (?-i:[A-Z])[\w-]+)?(?: and {NAME})?|(?:my|our|the) (?:[\w-]+ ){{0,2}}(?:team|manager|boss|lead|colleague|department|group|office))"
_thing = r"(?:the|a|an|our|my|each|this|that|every|one)(?: (?!(?:is|are|was|were|will|has)\b)[\w'/&+-]+){1,8}?"
_valued = (
    r"(?:number|id|address|budget|limit|quota|client|customer|owner|lead|gate|room|seat|capacity|port|url|link|host(?:name)?"
    r"|username|extension|branch|default|theme|fee|rent|salary|rate|supplier|vendor|captain|engineer|manager|size|code|platform"
    r"|agenda|topic|venue|dress code|wifi|target|quorum|threshold|timeout|interval|primary key|format|encoding|currency|unit|retention|reviewer|assignee|contact(?: person)?|status)"
)
PATTERNS = (
    Pattern(
        name="owner",
        category="other",
        regex=rf"^{_who} (?:now |also |currently |still |will |has |just )*(?:owns?|leads?|maintains?|manages?|handles?|heads?|supervises?|oversees?|looks? after|take(?:s|n)? (?:care of|over)|took over|is taking over|coordinates?|reports to|is (?:now |still )?(?:responsible for|in charge of|on call|working on|assigned to|(?:the |our |my )?(?:[\w-]+ ){{0,2}}?(?:owner|lead|maintainer|manager|contact|head|author|assignee|reviewer|designer|architect|chair|treasurer|captain)\b(?: of| for)?))(?= |$).{{0,160}}",
        confidence=0.9,
        is_plain=True,
        examples=(
            ("Nora maintains the search index", "Nora maintains the search index"),
            ("Ben is responsible for the payroll", "Ben is responsible for the payroll"),
            ("The library team owns the shelves", "The library team owns the shelves"),
        ),
        counter_examples=("Someone owns a boat", "He leads a quiet life", "The road leads uphill"),
    ),
    Pattern(
        name="owned-by",
        category="other",
        regex=rf"^{_thing} (?:is|are|was|were|will be|has been)(?: now| also| still)* (?:owned|maintained|managed|handled|run|led|assigned|supervised|looked after|taken over)(?: (?:by|to)) (?:{_who}|me|us)\b.{{0,80}}",
        confidence=0.9,
        is_plain=True,
        needs=("by", "to"),
        examples=(("The style guide is maintained by Nora", "The style guide is maintained by Nora"),),
        counter_examples=("The ball was handled by hand",),
    ),
    Pattern(
        name="others-want",
        category="other",
        regex=r"^(?:the|our|my|one|a) (?:[\w-]+ ){0,2}?(?:customers?|clients?|users?|board|legal|management|investors?|vendor|supplier|landlord|school|doctor|insurance|bank|council|court|dentist|vet|physio|therapist|lawyer|teacher|nurse|midwife|coach) (?:now |still |also |only |just |has |have )*(?:wants?|needs?|prefers?|expects?|requires?|insists? on|asked (?:for|us|me)|told (?:me|us) (?:not )?to|advised|prescribed|recommended|rejected|approved|signed|agreed|refused|demands?|confirmed|raised|lowered|offered|pays?|paid) .{3,200}",
        confidence=0.85,
        is_plain=True,
        examples=(("The client wants weekly reports as PDF", "The client wants weekly reports as PDF"),),
        counter_examples=("The client is here", "Clients come and go"),
    ),
    Pattern(
        name="others-act",
        category="other",
        regex=rf"^{NAME}(?: (?-i:[A-Z])[\w-]+)? (?:has |have |just |already |finally |also )*(?:renewed|signed|cancell?ed|bought|acquired|launched|released|hired|closed|opened|announced|upgraded|switched to|approved|rejected|paid|ordered|delivered|merged|fixed|broke|reported|confirmed|promised|agreed to|offered|will (?:send|pay|deliver|bring|call|review|fix|join|visit|handle|prepare)) .{{2,160}}",
        confidence=0.8,
        is_plain=True,
        examples=(("Borealis signed the new terms", "Borealis signed the new terms"),),
        counter_examples=("Finally signed the lease", "He signed it"),
    ),
    Pattern(
        name="state-of-thing",
        category="other",
        regex=r"^(?:the|our|my)(?: (?!(?:is|are|was|were)\b)[\w'-]+){1,6}? (?:(?:is|are|has been|have been) (?:still |now |again |currently |already |only )*(?:down|out of (?!this|my|control)|broken|offline|closed|full|blocked|unavailable|missing|overdue|read-only|deprecated|frozen|disabled|enabled|available|located|reserved|booked)|(?:doesn't|don't|won't|no longer|only|never) (?:works?|happens?|opens?|loads?|starts?|runs?|responds?|prints?|accepts?|connects?|fails?|appears?))\b.{0,160}",
        confidence=0.75,
        is_plain=True,
        examples=(
            ("The lift in block C is out of order", "The lift in block C is out of order"),
            ("The error only appears on tablets", "The error only appears on tablets"),
        ),
        counter_examples=("The view is lovely",),
    ),
    Pattern(
        name="state-of-case",
        category="other",
        regex=r"^(?:(?:the|my|our) )?(?:invoice|order|ticket|parcel|package|payment|refund|application|claim|issue|pr|pull request|delivery|shipment|booking|reservation|visa|passport|prescription)s?\b(?: (?:for|from|to|of) [\w' -]{2,30}?| ?#?[\w-]*\d[\w-]*)? (?:is|are|was|were|has|have|hasn't|haven't|isn't|wasn't|still|got|arrived|expires?|will|never)\b .{2,160}",
        confidence=0.8,
        is_plain=True,
        examples=(
            ("Invoice 7781 hasn't been paid", "Invoice 7781 hasn't been paid"),
            ("My parcel from Leipzig arrived open", "Alex's parcel from Leipzig arrived open"),
        ),
        counter_examples=("In order to win, train", "Issues abound"),
    ),
    Pattern(
        name="price",
        category="other",
        regex=rf"^(?=.*\d)(?:{_thing}|(?:tickets?|seats?|entry|admission|parking|shipping|delivery|rent|lunch|dinner|rooms?|flights?|licences?|licenses?|subscriptions?|(?:(?:Q[1-4]|monthly|annual|yearly|quarterly|last year's) )?(?:revenue|turnover|profit|sales|income))(?: [\w'-]+){{0,5}}?) (?:will |now |only |usually |also )*(?:costs?|is|are|was|were|goes? for|went for|sells? for|starts? at|comes? to|came to|rose to|went up to|fell to|be|has gone up to)(?: (?:me|us|about|around|roughly|only|just|now|currently|from|up|between|at least|under|over|less than|more than|approximately))* {MONEY}.{{0,100}}",
        confidence=0.9,
        is_plain=True,
        examples=(
            ("The family ticket costs 32 euros", "The family ticket costs 32 euros"),
            ("Parking is $4 an hour", "Parking is $4 an hour"),
            ("My rent went up to 900 euros", "Alex's rent went up to 900 euros"),
        ),
        counter_examples=("It cost us dearly", "The price is right"),
    ),
    Pattern(
        name="value",
        category="other",
        regex=rf"^(?:the|this week's|today's|this month's)(?: (?!(?:is|are|was|were)\b)[\w'/-]+){{0,4}}? ?{_valued}(?: (?:for|of|on|in|at|to) (?:(?!(?:is|are|was)\b)[\w'/-]+ ?){{1,5}}?| this week| today| this month)? ?(?:is|are|will be|was set to|was raised to|was lowered to) (?!(?:so|very|too|really|quite|not|great|good|bad|nice|ok|okay|fine|wrong|right|important|high|low|the same|a bit|still|that|what|how|why|unclear|up to|always|never)\b)\S.{{0,160}}",
        confidence=0.8,
        is_plain=True,
        examples=(
            ("The guest wifi is HarbourNet", "The guest wifi is HarbourNet"),
            ("The quorum for the assembly is 40 members", "The quorum for the assembly is 40 members"),
        ),
        counter_examples=("The number is wrong", "The budget is too low"),
    ),
    Pattern(
        name="place",
        category="other",
        regex=r"^(?:the|our|my) (?:[\w'-]+ ){0,3}?(?:office|headquarters|hq|school|venue|hotel|restaurant|clinic|gym|warehouse|shop|meeting|conference|party|wedding|ceremony|workshop|appointment|interview|exam|server|servers|data ?cent(?:er|re)|storage|archive|key|keys|spare key|backup|backups) (?:is|are|will be|takes place|happens)(?: now| always| usually)? (?:in|at|on|near|under|behind|next to|opposite|above|below|inside) (?!(?:order|time|trouble|danger|charge|doubt|a mess|a (?:bad|good)|progress|question|fire|track|hold|schedule|risk)\b)\S.{0,120}",
        confidence=0.85,
        is_plain=True,
        examples=(
            ("The spare key is under the blue pot", "The spare key is under the blue pot"),
            ("The office is in Ghent", "The office is in Ghent"),
        ),
        counter_examples=("The office is in trouble", "The key is to stay calm"),
    ),
    Pattern(
        name="learned",
        category="other",
        regex=rf"{S}(?:have |had )?{ADVERB}(?:learned|learnt|realized|realised|discovered|noticed|figured out|found out|understood|came to see|saw)\b (?!(?:it|that|your|you)$)",
        confidence=0.75,
        examples=(("I learned that patience pays in negotiations", "Alex learned that patience pays in negotiations"),),
        counter_examples=("He learned Greek",),
    ),
    Pattern(
        name="thinks",
        category="other",
        regex=rf"{S}{NOT}{ADVERB}(?:think|thought|believe|feel like|feel that|felt that|reckon|guess|suspect|doubt|know that|would say|figure|am convinced|am sure) (?!(?:so|you|your|not|it is (?:great|good|awesome|amazing|cool))\b)",
        confidence=0.65,
        examples=(("I think remote work suits introverts best", "Alex thinks remote work suits introverts best"),),
        counter_examples=("I think so", "I think you are right"),
    ),
    Pattern(
        name="feels",
        category="other",
        regex=rf"{S}(?:(?:{AM}|feel |felt |am feeling |get |got |become |became )(?:so |very |really |pretty |quite |a bit |a little |extremely |super |kind of |not )*(?:stressed|tired|exhausted|anxious|nervous|worried|overwhelmed|lonely|sad|depressed|frustrated|angry|upset|proud|grateful|thankful|confident|motivated|inspired|burned out|burnt out|busy|swamped|bored|homesick|heartbroken|blessed|lucky|accepted|excited|hopeful|content|fulfilled|better|scared|afraid|confused|stuck|relaxed|happy|good|great|amazing|alive|strong|energi[sz]ed|comfortable|concerned|committed|dedicated|focused|certain|aware|willing|responsible|known|late|sick|ill|sore))\b (?!(?:to hear|for you|of you|you|that you|your|to see you|about you|for your|it|that)\b)",
        confidence=0.7,
        examples=(
            ("I'm stressed about the audit in May", "Alex is stressed about the audit in May"),
            ("I feel proud of the garden we planted", "Alex feels proud of the garden they planted"),
        ),
        counter_examples=("I am proud of you", "I am happy for you"),
    ),
    Pattern(
        name="my-something",
        category="other",
        regex=r"^(?:my|our) (?!(?:pleasure|bad|god|goodness|friend,|apologies|dear|thoughts|turn|guy)\b)(?:[\w'-]+ ){1,4}?(?:is|are|was|were|has|have|had|will|can|can't|needs?|seems?|got|goes|went|started|turned|came|helps?|works?|looks?|keeps?|makes?|made|means|includes?|starts?|says|said|broke|died|grew|loves?|likes?|hates?|prefers?|wants?|requires?|involves?|consists)\b",
        confidence=0.75,
        examples=(("My new balcony has room for tomatoes", "Alex's new balcony has room for tomatoes"),),
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
        examples=(("I highly recommend the tram museum in Porto", "Alex highly recommends the tram museum in Porto"),),
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

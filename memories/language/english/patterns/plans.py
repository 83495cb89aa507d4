"""Patterns for what somebody intends, wants, hopes and needs, and for decisions, choices and
findings."""

from memories.language.english.patterns.pattern import AM, NOT, Pattern, S
from memories.language.english.verbs import ADVERB

PLANS = (
    Pattern(
        name="going-to",
        category="plan",
        regex=rf"{S}{AM}(?:not )?(?:going to|about to|planning|hoping|aiming|set to|due to|determined to|scheduled to|supposed to|looking to|trying to|working towards?|saving (?:up )?for|preparing (?:for|to)|training for|getting ready)\b (?!(?:hear|see|know|say|be there for you)\b)",
        confidence=0.85,
        examples=(
            ("I'm going to run a marathon next year", "Alex is going to run a marathon next year"),
            ("Planning to visit Kyoto in April", "Alex is planning to visit Kyoto in April"),
            ("We're saving for a house", "Alex and others are saving for a house"),
        ),
        counter_examples=("I am going home", "They are planning it"),
    ),
    Pattern(
        name="plans",
        category="plan",
        regex=rf"{S}{NOT}(?:have )?{ADVERB}(?:plan|planned|intend|intended|aim|aspire|decided|resolved|promised|committed|signed up|registered|applied|enrolled|booked|scheduled|arranged|agreed|vowed|chose) (?:on |for |to |an? |the |my |not |into |in |that |myself )",
        confidence=0.85,
        examples=(
            ("I plan to learn Welsh", "Alex plans to learn Welsh"),
            ("I signed up for a pottery class", "Alex signed up for a pottery class"),
            ("I've decided not to sell the car", "Alex has decided not to sell the car"),
        ),
        counter_examples=("The plan is set", "I chose tea"),
    ),
    Pattern(
        name="wants",
        category="plan",
        regex=rf"{S}{NOT}{ADVERB}(?:want|wanted|would (?:really |also )?(?:love|like)|hope|dream of|dream about|wish to|long to|am dying to|would be happy to) (?!(?:you|your|that you|it (?:helps|goes|works)|all (?:goes|is)|to (?:hear|see it|know|ask|say|thank|apologi[sz]e|hear more|know more|check (?:it|that) out)|he|she|they|the best)\b)",
        confidence=0.8,
        examples=(
            ("I want to learn the harp", "Alex wants to learn the harp"),
            ("I'd love to visit Iceland", "Alex would love to visit Iceland"),
            ("I don't want a car", "Alex doesn't want a car"),
        ),
        counter_examples=("I hope you are well", "I would love to hear more"),
    ),
    Pattern(
        name="needs",
        category="plan",
        regex=rf"{S}{NOT}{ADVERB}(?:need|needed|have to|had to|must|should|ought to) (?!(?:you|your|say|admit|go now|run now|ask|agree|be honest)\b)",
        confidence=0.7,
        examples=(
            ("I need to renew my passport before July", "Alex needs to renew their passport before July"),
            ("I have to work late on Thursday", "Alex has to work late on Thursday"),
        ),
        counter_examples=("I have to say, it is fun", "I need you"),
    ),
    Pattern(
        name="has-date",
        category="plan",
        regex=rf"{S}(?:have|have got|had|got) {ADVERB}(?:an?|another|my|our|the|two) (?:[\w-]+ ){{0,3}}?(?:appointment|interview|exam|flight|check-?up|surgery|viewing)\b",
        confidence=0.85,
        examples=(
            ("I have a piano exam on Thursday", "Alex has a piano exam on Thursday"),
            ("We have a flight at noon", "Alex and others have a flight at noon"),
        ),
        counter_examples=("The exam was long",),
    ),
    Pattern(
        name="goal",
        category="plan",
        regex=r"^(?:my|our) (?:\w+ ){0,2}(?:goals?|dreams?|plans?|aim|ambition|mission|vision|target|objective|wish|hope|priority|priorities|focus|deadline|budget|next (?:step|project|trip|goal|move)|appointment|flight|interview|exam|wedding|project|trip|event|idea|strategy|challenge|concern|problem|issue) (?:is|are|was|were|for|has|have|will|to|with|about|in|on|came)\b",
        confidence=0.85,
        examples=(
            ("My dream is to open a bookshop", "Alex's dream is to open a bookshop"),
            ("Our budget is 2,000 euros", "Alex's budget is 2,000 euros"),
        ),
        counter_examples=("Plans change",),
    ),
    Pattern(
        name="considering",
        category="plan",
        regex=rf"{S}(?:{AM}|have )(?:thinking (?:about|of)|considering|looking (?:into|for|at)|exploring|weighing|contemplating|deciding|debating|wondering (?:whether|if)|researching|toying with|thought (?:about|of))\b (?!(?:you|it|that)$)",
        confidence=0.8,
        examples=(
            ("I'm thinking about adopting a dog", "Alex is thinking about adopting a dog"),
            ("Looking for a flat in Ghent", "Alex is looking for a flat in Ghent"),
        ),
        counter_examples=("I am thinking",),
    ),
    Pattern(
        name="looking-forward",
        category="plan",
        regex=rf"{S}(?:{AM}?(?:{ADVERB})?(?:looking forward to|excited (?:about|for)|pumped (?:about|for)|stoked (?:about|for)|thrilled (?:about|to)|nervous about)|(?:can't|cannot) wait (?:to|for|until)|look forward to) (?!(?:it|that|hear|hearing|see (?:you|what|it|how)|seeing (?:you|what|it|how)|your|you)\b)",
        confidence=0.75,
        examples=(
            ("I can't wait to move to Malta", "Alex can't wait to move to Malta"),
            ("Looking forward to the reunion in June", "Alex is looking forward to the reunion in June"),
        ),
        counter_examples=("I can't wait to see what happens", "Looking forward to hearing from you"),
    ),
    Pattern(
        name="will",
        category="plan",
        regex=rf"{S}(?:will|won't|shall|may|might|would) (?:not |also |be able to |probably |never |always |try to |have to )*(?!(?:be (?:there for you|here|rooting|back|fine|ok)|let you|keep you|tell you|see you|say|miss you|talk|remember|check (?:it|that) out|keep (?:that|it|you)|have to (?:check|try|look)|recommend|suggest|definitely|appreciate|think|know|agree)\b)(?:[a-z]{{3,}}|do|go|be)\b",
        confidence=0.7,
        examples=(
            ("I'll start the course in October", "Alex will start the course in October"),
            ("I might sell the boat this summer", "Alex might sell the boat this summer"),
        ),
        counter_examples=("I will let you know", "I would appreciate an answer"),
    ),
    Pattern(
        name="dated-plan",
        category="plan",
        regex=r"^(?:next (?:week|month|year|weekend|summer|spring|fall|winter|time|\w+day)|tomorrow|tonight|soon|this (?:weekend|summer|coming)|in (?:a few|two|three|\d+) (?:days|weeks|months))\b.{0,80}\b(?:I|we|my|our)\b",
        confidence=0.8,
        examples=(("Next month I'm flying to Chile", "Next month Alex is flying to Chile"),),
        counter_examples=("Tomorrow is a holiday",),
    ),
)


_have = r"(?: have| had)?(?: just| recently| finally| all| now| already)?"
# a household decides too, but that is no decision of a team
_not_at_home = r"(?!.{0,200}\b(?:family|kids|trip|camping|vacation|holiday|wedding|dinner|hike|beach|baby|dog|cat|movie|married|house|apartment)\b)"
DECISIONS = (
    Pattern(
        name="team-takes-up",
        category="decision",
        regex=rf"^(?:(?:the|our|this) )?team (?P<what>(?:(?:has|had|just|recently|finally|now|already) )*(?:standardi[sz]ed on|migrated|moved (?:over )?to|deprecated|rejected|adopted|introduced|abandoned|dropped|retired|ruled out|committed to"
        r"|(?:will|plans to|wants to|intends to|is going to) (?:use|migrate|move|switch|drop|adopt|deprecate|release|ship|launch|upgrade|replace|rewrite|retire|introduce|stop|start)"
        rf"|(?:has|have) (?:just |now |finally )?(?:chosen|picked|opted for|gone with|agreed on|settled on)|is (?:moving|migrating|switching|dropping|adopting|replacing|rewriting|upgrading)) (?!(?:by|in|out|off|back)\b){_not_at_home}.{{2,200}})",
        statement="Team {what}",
        confidence=0.85,
        is_team=True,
        needs=("team",),
        examples=(
            ("Team has standardised on pnpm", "Team has standardised on pnpm"),
            (
                "The team will migrate the ledger to CockroachDB in June",
                "Team will migrate the ledger to CockroachDB in June",
            ),
            ("Our team rejected GraphQL for partners", "Team rejected GraphQL for partners"),
        ),
        counter_examples=("The team dropped by", "The team will be late", "We moved to Lyon"),
    ),
    Pattern(
        name="team-decided",
        category="decision",
        regex=rf"\b(?:we|the team|our team|management|the company){_have} (?P<verb>decided|chose|agreed|opted|elected)(?P<not> not)? to (?P<what>{_not_at_home}.{{2,300}})",
        statement="Team {verb}{not} to {what}",
        confidence=0.85,
        is_team=True,
        needs=("decided", "chose", "agreed", "opted", "elected"),
        examples=(
            (
                "We decided to drop support for Node 16 because nobody uses it",
                "Team decided to drop support for Node 16 because nobody uses it",
            ),
            ("We agreed not to release in December", "Team agreed not to release in December"),
        ),
        counter_examples=("Should we decide now", "I decided to sleep", "We decided to go camping"),
    ),
    Pattern(
        name="team-decided-that",
        category="decision",
        regex=rf"\b(?:we|the team|our team){_have} (?P<verb>decided|agreed|concluded|settled) (?P<what>(?:that|on|upon|against|for) {_not_at_home}(?!(?:feels?|sounds?|looks?|seems?|is|are|was|were|has|have|will|should|can|must|works?|makes?|needs?|still|really)\b).{{2,300}})",
        statement="Team {verb} {what}",
        confidence=0.85,
        is_team=True,
        needs=("decided", "agreed", "concluded", "settled"),
        examples=(
            ("We settled on weekly releases", "Team settled on weekly releases"),
            ("We decided against microservices", "Team decided against microservices"),
        ),
        counter_examples=("We agreed", "The three days we agreed on sound better"),
    ),
    Pattern(
        name="team-went-with",
        category="decision",
        regex=rf"(?:^(?P<lead>for (?:the|our|all|every|new|this|any) [\w' -]{{2,60}}?),? )?\b(?:we|the team|our team){_have} (?P<what>(?:went with|chose|picked|selected|are going with|will go with|opted for) {_not_at_home}.{{2,300}})",
        statement="Team {what} {lead}",
        confidence=0.85,
        is_team=True,
        needs=("we", "team"),
        examples=(
            ("We went with Stripe over Adyen", "Team went with Stripe over Adyen"),
            ("We chose Svelte for the dashboard", "Team chose Svelte for the dashboard"),
        ),
        counter_examples=("We went home",),
    ),
    Pattern(
        name="found-workaround",
        category="decision",
        regex=r"^(?:(?:I|we)(?: have)?(?: just| finally| also)? )?found (?:an? |the )?(?P<what>(?:workaround|solution|fix|way) (?:for|to|around) .{2,120}?(?: by|:| with|,? which is to) .{2,200})",
        statement="Found {what}",
        confidence=0.85,
        is_team=True,
        examples=(
            (
                "I found a workaround for NativeWind v4 by using className prop directly",
                "Found workaround for NativeWind v4 by using className prop directly",
            ),
            (
                "Found a fix for the flaky login test by freezing the clock",
                "Found fix for the flaky login test by freezing the clock",
            ),
        ),
        counter_examples=("I found a solution", "I found a dog by the river"),
    ),
    Pattern(
        name="cause-was",
        category="decision",
        regex=r"^(?:it turned out(?: that)?|turns out(?: that)?|the (?:root cause|cause|culprit|problem|bug|issue|fix|solution|workaround|answer) (?:was|is|turned out to be)) (?P<what>.{4,300})",
        confidence=0.75,
        is_team=True,
        examples=(("The root cause was a missing index on orders", "The root cause was a missing index on orders"),),
        counter_examples=("The causes vary",),
    ),
)

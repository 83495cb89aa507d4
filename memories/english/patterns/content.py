"""Whether a clause claims anything: no courtesies, no suppositions, no words of other people."""

import re

_supposed = re.compile(
    r"\bif (?:only )?(?:I|we|my \w+|our \w+) (?:had|were|was|could|would|ever|did|knew|lived|won|have to|get|can)\b|^(?:if|unless|suppose|imagine|what if"
    r"|let's say|say I|assuming|pretend|as if|whether)\b|\b(?:I|we) (?:would|could|should|might) have (?!to\b)\w+"
    r"|\bI wish (?:(?:I|we|it|he|she|they|you|this|that) (?:had|were|was|could|knew|did|would)\b|(?:the|my|our) [\w' -]{2,40}? (?:had|were|was|could|would|did|\w+ed)\b)|\bin case (?:I|we)\b"
    r"|\b(?:I|we) (?:almost|nearly) (?!(?:always|never|every|all|exclusively|only|daily)\b)\w+(?:ed|ght)?\b(?<=ed|ht|ot|st|ve|de|nt|id)"
    r"|^(?:I|we) never (?:said|claimed|told|wrote|meant)\b|\bso \w+ (?:that )?(?:I|we) could \w+",
    re.IGNORECASE,
)
_reported = re.compile(
    r"\b(?:he|she|they|people|everyone|everybody|someone|somebody|my \w+|(?-i:[A-Z])\w+) (?:also |just |always |once |then )?"
    r"(?:said|says|told (?:me|us|him|her|them)|claims?|claimed|asked|asks|goes|went|wrote|thinks?|was like|is like|replied|texted"
    r"|shouted|argues|argued)[,:]? (?:that )?[\"“']?(?:I|we|my|our)\b|[\"”'],? (?:(?:he|she|they|(?-i:[A-Z])\w+) )?(?:said|says|asked|replied|wrote|goes|told)\b",
    re.IGNORECASE,
)
_indirect = re.compile(
    r"^(?:please |can you |could you |go |just )*(?:ask|tell|remind|inform) (?:him|her|them|(?!(?:me|us)\b)[\w-]+)\b.*?"
    r"\b(?:what|who|which|where|when|why|how|whether|if)\b|^I (?:wonder|am wondering|don't know|am not sure|doubt) "
    r"(?:what|who|which|where|when|why|how|whether|if|that)\b",
    re.IGNORECASE,
)
_asked = re.compile(
    r"^(?:do|does|did|can|could|would|will|are|is|was|were|have|has|what|how|why|who|which|any)\b (?:you|your|I|we|he|she|it|they|is|are|do|does|did|about|many|much|else|the|that|there|kind|this|ideas|would|was|will|should|can)\b"
    r"|^(?:when|where) (?:is|are|do|does|did|will|would|can|should|was|were)\b|^(?:let me|let's|lets|let us|tell me|show me|give me|help me|send me|please (?!remember|note|call|stop|keep|always|never|don't|make)|provide|explain|write|create|generate|list|summari[sz]e|translate"
    r"|(?-i:SYSTEM|ASSISTANT|ADMIN|DEVELOPER)\b[^:]{0,20}:|describe|compare|rewrite|act as|you are|you will|you have|your|you can|you should|you must|you need|imagine|ignore|pretend|consider|suggest)\b",
    re.IGNORECASE,
)
_empty = re.compile(
    r"^(?:I|we) (?:am |are |will |would |do |can |could |have )?(?:\w+ ){0,2}?(?:glad|happy (?:for|to (?:hear|help|see|know|be|support|talk))"
    r"|(?:so )?proud of you|sorry (?:to|about|for|that|I|you|if)|here for (?:you|u)|agree|hear you|hear that|bet|hope you|hope your|wish you|can't wait to (?:see|hear|know)"
    r"|appreciate (?:it|you|your|that|the (?:kind|support|help|offer|encouragement|advice|words))|understand|get it|see(?: what| that|$)|guess so|think so|hope so|suppose so|know (?:what|how|right|you|that feeling|the feeling|it is|it's)"
    r"|(?:love|like|enjoy|admire) (?:it|that|this|how|your|hearing|the (?:idea|sound|way|look|enthusiasm|energy|vibe))|thank you|feel you|believe you|mean it|(?:will |would )?love to (?:hear|see (?:it|your|you)|know)|don't know (?:what|how|why|if)|can (?:see|imagine|relate|tell|only imagine|understand)"
    r"|will (?:let you|keep you|be (?:there|here|rooting|sure|waiting)|talk|see you|do (?:that|it|my best)|try|check (?:it|that|them) out|keep (?:that|it|you))(?: |$)|am (?:here|there|sure|rooting|all ears|in|down|good|ok|okay|fine|great|doing (?:well|good|great|fine|ok))(?: (?:you|it|that|for|of|to|if|thanks)\b|$)"
    r"|(?:really |so )?couldn't agree|am (?:really |so |very |truly )?(?:glad|happy|proud|sorry|excited|stoked|thrilled) (?:for|of|that|to (?:hear|see|be|have)|you|your|about your|it)|got you|miss you|love you|have to (?:say|admit|agree|run|go)|believe in (?:you|us)|know (?:I|we|that|this))\b",
    re.IGNORECASE,
)
# what moves the talk on, praises an answer, or tells of the talk itself
_remark = re.compile(
    r"^(?:so |ok |okay |now )*(?:time to (?:tackle|get|move|start|see|dive|begin|go over|focus|wrap)\b"
    r"|(?:good|great|nice|excellent|solid) (?:job|work|catch|point|call|start) (?:on|with|in)\b"
    r"|(?:I|we) (?:just |already |have )*told you\b)",
    re.IGNORECASE,
)
# what tells of its speaker in two words; "I see", "I agree", "I guess" tell of the talk
_brief = re.compile(
    r"(?:I|we) (?:smoke|vape|drink|drive|snore|meditate|knit|sew|crochet|garden|bake|cook|paint|draw|sculpt|sing|dance|surf|ski|sail"
    r"|swim|climb|hike|run|jog|cycle|row|box|fence|skate|fish|hunt|fast|pray|journal|blog|stream|game|commute|freelance|volunteer"
    r"|tutor|teach|babysit|stutter|stammer|limp|sleepwalk|smoked|drank|retired|quit|resigned|divorced|separated|graduated|moved"
    r"|relocated|emigrated|converted|relapsed|miscarried|eloped|married|enlisted|adopted|proposed|won|passed|failed|qualified)",
    re.IGNORECASE,
)
_words = re.compile(r"[A-Za-z][A-Za-z'&+#-]{2,}|\d{2,}|[A-Z]{2,}")
# words of talk and cheer, which say little of the speaker's own life
_filler_text = """
    thing things stuff lot lots good great amazing awesome really cool nice love make makes
    making made get gets getting got time times day one something someone anything everything
    anyone everyone nothing feel feels feeling felt way ways wait see seeing seen hear heard
    know knowing keep going new come back want need sure right people always never too well
    look looks looking like much many more most very think thinking thought say says saying
    said tell let lets help helps doing done take takes taking give gives giving bit little
    big pretty sounds sound hope glad happy thanks thank kind words wonderful fun special
    important part real journey life world moment moments difference support incredible super
    totally yeah definitely even still around the and for are was were been have has had does
    did not but with from just about into than then when what who how all any can will would
    could should might must our their there here his her him she they its it's that's don't
    can't didn't doesn't isn't you your you're yours them this that these those some such also
    only own same other another because while where which myself themselves being able try
    trying put stay every again ever since though through over out off down may wow woah whoa
    hey congrats congratulations gorgeous beautiful lovely fantastic terrific impressive
    perfect stunning inspiring touching heartwarming cute neat superb brilliant delicious idea
    ideas advice tips luck news pic photo picture pics photos check catch chat talk talking
    bye later soon best true truly inspire inspires inspired inspiration motivate motivates
    motivated motivation motivating encourage encourages encouraging encouragement positive
    positivity passion dream dreams goal goals progress effort efforts strength courage strong
    proud grateful thankful appreciate appreciated appreciation joy happiness excited exciting
    memories memory experience experiences impact achieve succeed success grow growth growing
    share sharing together others connection connections connecting believe belief compassion
    understanding meaningful huge kindness stoked pumped story stories found ourselves
    yourself guys folks guess mean means meant care understand imagine wanna gonna gotta let's
    how's what's here's there's that'll it'll you'd you'll reach keeping pushing push step
    steps forward whole each between both during without key vital crucial essential priceless
    entire agree agreed absolutely exactly wonder wondering bet hopefully hoping sorry tough
    hard easy rough challenge challenges rewarding reward fulfilling satisfying determination
    determined dedication dedicated commitment committed perseverance resilience resilient
    confidence confident vibe vibes talent talented talents adventure adventures buddy pal
    kudos props spirit spirits blast opportunity opportunities chance chances possibilities
    future staying focused focus heart soul mind rock rocks shine spark bright phenomenal
    splendid outstanding remarkable extraordinary worth worthwhile soak yummy tasty delightful
    hype hyped thrilled dude man bro mate cheers champ welcome thoughts feelings emotions
    wisdom lesson lessons
"""
_filler = frozenset(_filler_text.split())


def is_claim(clause: str) -> bool:
    """Whether `clause`, read and complete, tells of the speaker's world as it is."""
    if _empty.match(clause) or _remark.match(clause):
        return False
    return not (is_supposed(clause) or is_for_others(clause))


def is_supposed(clause: str) -> bool:
    """Whether `clause` tells of what is not so, or not known to be."""
    return bool(_supposed.search(clause))


def is_for_others(clause: str) -> bool:
    """Whether `clause` tells what somebody else said of themselves, or is to be asked."""
    return bool(_reported.search(clause) or _indirect.match(clause))


def is_courtesy(clause: str) -> bool:
    """Whether `clause` is talk about the talk: "I agree", "I hope you are well"."""
    return is_short(clause) or bool(_empty.match(clause))


def is_short(clause: str) -> bool:
    """Whether `clause` has too few words to tell anything."""
    return len(clause.split()) < 3 and not _brief.fullmatch(clause)


def is_request(clause: str) -> bool:
    """Whether `clause` asks somebody for something; it may still set a rule."""
    return bool(_asked.match(clause))


def weight(clause: str, speaker: str) -> int:
    """How many different words of `clause` carry a meaning of their own."""
    return len(telling(clause) - {speaker.lower()})


def telling(text: str) -> set[str]:
    """The words of `text` that carry a meaning of their own, in small letters."""
    return {word.lower() for word in set(_words.findall(text))} - _filler

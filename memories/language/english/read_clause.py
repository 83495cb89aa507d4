"""A clause as the patterns read it: contractions in full, a left-out subject put back; whether it
claims anything, which of its words tell something, and the names in it.

Patterns then need one form of words for "I'm", "Im" and "I am", and for "Just moved to Rome" and
"I just moved to Rome".
"""

import re
from functools import lru_cache

from memories.language.english import verbs
from memories.language.english.calendar import MONTHS, WEEKDAYS
from memories.language.english.verbs import ADVERB, BRIEF, FREE_PAST

# all in one expression: most clauses have none of them, and are then read once
_contractions = re.compile(
    r"\b(?:(?P<am>I'm|i'm|Im|im)\b|(?P<have>I've|i've|Ive|ive)\b|(?P<i>i)\b(?!\.)"
    r"|(?i:(?P<going>gonna|goin to)\b|(?P<want>wanna)\b|(?P<dont>dont)\b|(?P<cant>can not|cannot|cant)\b"
    r"|(?P<must>gotta|got to)(?= (?:go|do|get|be|make|finish|work|take|buy|keep|find|\w+ more)\b)))"
    r"|(?P<mark>[*_]{2,})"
)
_in_full = {
    "am": "I am",
    "have": "I have",
    "i": "I",
    "going": "going to",
    "want": "want to",
    "dont": "don't",
    "cant": "can't",
    "must": "have to",
    "mark": "",
}
# these need an apostrophe, which most clauses have not
_apostrophes = (
    (re.compile(r"\b[Ii]'ll\b"), "I will"),
    (re.compile(r"\b[Ii]'d (?=(?:just |also |already |never |always )?(?:been|gone|better|[a-z]+ed)\b)"), "I had "),
    (re.compile(r"\b[Ii]'d\b"), "I would"),
    (re.compile(r"\b([Ww]e|[Tt]hey|[Yy]ou)'re\b"), r"\1 are"),
    (re.compile(r"\b([Ww]e|[Tt]hey|[Yy]ou)'ve\b"), r"\1 have"),
    (re.compile(r"\b([Ww]e|[Tt]hey|[Yy]ou|[Ii]t|[Ss]?[Hh]e|[Tt]hat)'ll\b"), r"\1 will"),
    (
        re.compile(
            r"\b([Ii]t|[Ss]?[Hh]e|[Tt]hat|[Tt]here)'s (?=(?:been|got|gotten|become|grown|gone|(?!(?:called|named|based|married|divorced|engaged|retired|worried|tired|excited|interested|scared|bored|obsessed|supposed|allowed|planned|scheduled|located|used)\b)\w+ed)\b)"
        ),
        r"\1 has ",
    ),
    # "it's made such a difference", but "it's made of wood"
    (
        re.compile(
            r"\b([Ii]t|[Ss]?[Hh]e|[Tt]hat)'s (?=(?:made|brought|taught|given|shown|kept|meant|taken|had|let) (?:such|me|us|my|our|him|her|them|it|everything|everyone|life|all|so (?:much|many)|a (?:lot|big|huge|great|real|long|while|few))\b)"
        ),
        r"\1 has ",
    ),
    (re.compile(r"\b([Ii]t|[Ss]?[Hh]e|[Tt]hat|[Tt]here|[Ww]hat)'s\b"), r"\1 is"),
    (
        re.compile(
            r"\b((?:my|our|his|her|their) \w+|mum|mom|mama|dad|papa|grandma|grandpa|granny)'s"
            r"(?= (?:moving|going|coming|working|living|visiting|getting|having|staying|leaving|starting|turning|looking|retiring"
            r"|studying|learning|trying|doing|expecting|travell?ing|flying|not|in|at|on|allergic|sick|pregnant|called)\b)",
            re.I,
        ),
        r"\1 is",
    ),
    (re.compile(r"\b(name|favou?rite|birthday|job|goal|dream)'s\b(?= \S)", re.I), r"\1 is"),
    (re.compile(r"(?<![\w'])'em\b", re.I), "them"),
)
_curly = str.maketrans("’‘`", "'''")
# What closes a clause, a word after the other; each must reach to the next.
_no_words = re.compile(
    r"(?<![\s,])(?:[\s,]++(?:you know|(?:thanks|thank you)(?: (?:so much|a lot))?(?: for (?:asking|understanding|your help)| in advance)?|tho|though|lol|haha\w*|too|as well|to be honest|tbh|for sure|right now btw"
    r"|btw|hehe|xD|:\)|:D|<3|:-\)|;\)|[\U0001F300-\U0001FAFF\u2600-\u27BF\uFE0F]++)(?=[\s,]|\Z))++",
    re.IGNORECASE,
)
# "I use Flask, here's my code": what is shown stands elsewhere.
_shown = re.compile(
    r"(?<=\w{3})(?:,|;| -|:)? (?:and |so |but )?(?:here(?:'s| is| are)|below is|see below|as follows|(?:and )?this is what I have)\b.{0,200}$",
    re.IGNORECASE,
)
# "My shoe size: 41", but not "My aunt said: forget the violin"
_told = re.compile(
    r"^((?:my|our) (?![^:]*\b(?:sa(?:y|ys|id)|advi[cs]e[sd]?|tells?|told|asks?|asked|thinks?|thought|claims?|claimed|warns?|warned|insists?|insisted"
    r"|repl(?:y|ies|ied)|answers|answered|writes|wrote|texts|texted|swears|swore|suggests?|suggested|recommends?|recommended|goes|went|knows|knew"
    r"|shouts?|shouted|promised|promises)(?: [\w']+){0,3}:)[\w' -]{2,40}): (?=\S)",
    re.IGNORECASE,
)
# "I really should call him, shouldn't I", "I wanted to let you know I moved"
_tag = re.compile(
    r"(?<=\w{3}),? (?:(?:is|are|was|were|do|does|did|ca|could|wo|would|should|have|has|had)n't|am I not|aren't) (?:I|we|it|they|he|she|you|there)\s*$",
    re.IGNORECASE,
)
_to_tell = re.compile(
    r"^(?:I|we) (?:just |also |really )?(?:want(?:ed)?|would like|would love|have|had|need|came) to (?:tell|inform|update) (?:you|ya|u|everyone|you all|y'all)(?: all)?,? (?:that )?(?=(?:I|we|my|our)\b)"
    r"|^(?:I|we) am (?:(?:so|really|very|super|also) )*(?:excited|happy|glad|thrilled|proud|pleased) to (?:tell|inform|share with) (?:you|ya|u|everyone|you all|y'all)(?: all)?,? (?:that )?(?=(?:I|we|my|our)\b)"
    r"|^(?:I|we) (?:just |also |really )?(?:want(?:ed)?|would like|would love|have|had|need) to let (?:you|ya|u|everyone|you all|y'all) know,? (?:that )?(?=(?:I|we|my|our)\b)",
    re.IGNORECASE,
)
_asides = re.compile(r"\b(?:actually|honestly|totally|definitely|literally|basically|kinda|seriously),? ", re.I)
_born = re.compile(r"(?:born (?:and raised|and bred|in|on)|raised in|brought up in) ", re.IGNORECASE)
_off = re.compile(r"off to (?-i:[A-Z])", re.IGNORECASE)
# The subject left out before "took some trying" or "helped me a lot" is not a person.
_of_a_matter = re.compile(
    rf"{ADVERB}(?:took (?:some|a lot|ages|forever|me|us|time|years|months|weeks|days|hours|\d+|(?:quite )?a (?:while|few|couple|bit|long))|made (?:me|us|my day|it|all the|a (?:big |huge |real )?difference)"
    r"|(?:helped|taught|gave|kept|reminded|inspired|cost|brought) (?:me|us)\b|helped a lot|turned out|worked out|meant (?:a lot|so much|the world)|felt (?:so |really )?(?:good|great|amazing|nice|strange|weird|wonderful) to|happened|cost (?:a|\d|[$€£]))\b",
    re.IGNORECASE,
)
# "Been a crazy few days" tells of the days.
_been = re.compile(
    rf"(?!been (?:an?|so|quite|such|too|pretty|really|very) (?:[\w-]+ ){{0,3}}?(?:days?|weeks?|weekend|months?|years?|while|time|minute|ride|long|journey|hectic|busy)\b){ADVERB}(?:never )?(?:been|gotten|gone|done|seen|had to)\b",
    re.IGNORECASE,
)
_past = re.compile(rf"{ADVERB}{FREE_PAST}\b(?! (?:on|to|by|with) (?:the|this|that|your) \w+,)", re.IGNORECASE)
_wishing = re.compile(
    rf"{ADVERB}(?:love|hate|need|want|hope|wish|miss|prefer|enjoy(?= \w+ing\b)|can't|couldn't|don't(?= (?:really |even |usually |ever )?(?:like|love|want|need|know|think|have|eat|drink|drive|smoke|care|feel|mind"
    r"|believe|own|understand|remember|enjoy|see|live|work|watch|speak|play|own|recall|trust)\b)|didn't|won't|will"
    r"|would love|haven't|might|have to|used to)\b(?! (?:and|or) [\w-]+ (?:really |always )?(?:is|are|was|were|can|should|must|will|would|(?:exist|make|bring|matter|keep|help)s?)\b)(?! (?:you|your|be|quit|stop|hesitate|panic|give|forget|worry|let|ask|make|use|do|add|include|give|miss)\b)",
    re.IGNORECASE,
)
_asked_for = re.compile(r",? please[ .!]*$", re.IGNORECASE)
_of_teams = re.compile(r"(?:(?:the|our|this) )?(?:team|squad)'s ", re.IGNORECASE)
_of_team = re.compile(
    rf"(?:(?:the|our|this) )?(?:(?:whole|entire|full) )?(?:team|squad) (?P<adverbs>{ADVERB})(?P<verb>[a-z']+)",
    re.IGNORECASE,
)
# "We, as a team, agreed": the team says it of itself
_as_team = re.compile(r"we,? as an? (?:whole )?(?:team|squad),? ", re.IGNORECASE)
_in_team = re.compile(
    r"(?P<who>everyone|everybody|nobody|no one) (?:on|in) (?:the|our|this) (?:team|squad) ", re.IGNORECASE
)
_feeling = re.compile(
    rf"{ADVERB}(?:not )?(?:excited|thrilled|happy|glad|proud|sad|tired|ready|allergic|afraid|scared|busy|grateful"
    r"|thankful|stoked|pumped|interested|keen|obsessed|sick|nervous|lucky|able|unable|based in)\b"
    r" (?:to|about|for|of|by|with|that|in|at|from)\b"
    rf"|{ADVERB}(?:not )?(?:(?:an? )?(?:big |huge |great )?fan of\b|(?:no longer |still )(?:vegan|vegetarian|single|married|pregnant|at)\b)",
    re.IGNORECASE,
)
_going = re.compile(
    rf"({ADVERB})(?!(?:accord|regard|includ|dur|consider|noth|someth|everyth|anyth|br|k|r|s|str|th|"
    r"morn|even|depend|follow|concern|assum|giv|speak|us|see|be|hav|br|pend|miss|exist|start|build|add)ing\b)\w{2,16}ing\b",
    re.IGNORECASE,
)
# "Painting's a fun way", "Finding a cheap room's a pain": it is what is told of
_told_of = re.compile(r"(?<=ing)['’]s |\w['’]s (?:an?|so|such|not|really|always|never|been) ")
# "Growing up, I saw": when it was, and no deed
_own_behind = re.compile(r"[^,]{0,60}?(?:, |[\U0001F300-\U0001FAFF] ?)(?:I|we)\b")
_finite = re.compile(
    r"\b(?:is|was|are|were|has|have|can|could|will|would|helps?|helped|makes?|made|gives?|gave|keeps?|kept"
    r"|brings?|brought|feels?|felt|takes?|took|means?|meant|seems?|lets|reminds?|inspires?|motivates?"
    r"|shows?|teaches|taught|brought|does|doesn't|isn't|wasn't|requires?|allows?|really|always"
    r"|sounds?|looks?|builds|pushes|becomes|became|costs?|comes|goes|leads|creates|changes|turns|opens|let)\b",
    re.IGNORECASE,
)


SHORTEST = 15  # characters of a clause that says something before what it shows


@lru_cache(maxsize=512)  # the gatekeeper and the patterns read the same clauses
def plain(clause: str) -> str:
    """Return `clause` with contractions in full and without asides that claim nothing."""
    clause = re.sub(r" {2,}(?=([,.;!])?)", lambda gap: "" if gap[1] else " ", clause.translate(_curly))
    clause = _contractions.sub(lambda found: _in_full[found.lastgroup or ""], clause)
    for contraction, full in _apostrophes if "'" in clause else ():
        clause = contraction.sub(full, clause)
    # Searched from the front, at the end: otherwise each place would be tried anew.
    clause, start = clause.rstrip("\n"), None
    for closing in _no_words.finditer(clause):
        start = closing.start() if closing.end() == len(clause) else None
    without_closing = clause if start is None else clause[:start]
    if (shown := _shown.search(without_closing)) and shown.start() > SHORTEST:
        without_closing = without_closing[: shown.start()]
    clause = _tag.sub("", _to_tell.sub("", _asides.sub("", without_closing).strip()))
    return _told.sub(lambda told: f"{told[1]} {'are' if told[1].endswith('s') else 'is'} ", clause)


def with_subject(clause: str) -> str:
    """Return `clause` with the "I" that its speaker left out, if that is what is missing."""
    if _asked_for.search(clause):
        return clause
    if _born.match(clause):
        return "I was " + _lowered(clause)
    if _off.match(clause):
        return "I am " + _lowered(clause)
    if _been.match(clause):
        return "I have " + _lowered(clause)
    if _of_a_matter.match(clause):
        return clause
    if _past.match(clause) or _wishing.match(clause):
        return "I " + _lowered(clause)
    if _feeling.match(clause):
        return "I am " + _lowered(clause)
    going = _going.match(clause)
    if going and (_told_of.search(clause, going.end()) or _own_behind.match(clause, going.end())):
        return clause
    if going and not _finite.search(clause, going.end(), going.end() + 160):
        return "I am " + _lowered(clause)
    return clause


def as_we(clause: str) -> str:
    """Rewrite a clause about "the team" as a member would say it: "we use Terraform". Empty if it
    is not about a team."""
    if owner := _of_teams.match(clause):
        return f"our {clause[owner.end() :]}"
    if whole := _as_team.match(clause):
        return f"we {clause[whole.end() :]}"
    if inside := _in_team.match(clause):
        return f"{inside['who']} {clause[inside.end() :]}"
    team = _of_team.match(clause)
    return f"we {team['adverbs']}{verbs.without_s(team['verb'])}{clause[team.end() :]}" if team else ""


def _lowered(clause: str) -> str:
    word = clause.partition(" ")[0]
    return word.lower() + clause[len(word) :] if word.isupper() else clause[0].lower() + clause[1:]


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
    rf"(?:I|we) (?:{BRIEF}|smoked|drank|miscarried|married|adopted|proposed|won|passed|failed|qualified)", re.IGNORECASE
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


# Scripts in which blanks do not part words, or few of them say much: Han, kana, hangul, Thai, Lao, Khmer, Burmese
_unspaced = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff]")
_courtesies = """
    你好 您好 大家好 早上好 早安 晚上好 晚安 下午好 谢谢 谢谢你 谢谢您 谢谢大家 多谢 非常感谢 感谢 謝謝 謝謝你 不客气 没关系 没事 没问题 沒問題 对不起
    不好意思 抱歉 再见 拜拜 明天见 好的 好吧 好啊 好呀 好 是的 是 对 对的 嗯 嗯嗯 知道了 明白 明白了 我知道了 我明白了 收到 可以 行 当然 不是 没有 不 不用
    不用了 加油 真的吗 真的 太好了 太棒了 厉害 继续 请继续 下一个 等一下 辛苦了 你 请
    こんにちは こんばんは おはよう おはようございます おやすみ おやすみなさい ありがとう ありがとうございます ありがとうございました どうも どういたしまして すみません
    ごめん ごめんなさい 申し訳ありません はじめまして よろしく よろしくお願いします よろしくお願いいたします お疲れ様 お疲れ様です お疲れ様でした さようなら またね じゃあね はい ええ いいえ
    うん そう そうです そうですね なるほど わかった わかりました 分かりました 了解 了解です 承知しました 大丈夫 大丈夫です もちろん いいね いいですね すごい やばい 続けて お願いします
    本当 本当に 本当ですか 草 笑
    안녕 안녕하세요 안녕히 가세요 계세요 감사 감사합니다 고마워 고마워요 고맙습니다 천만에요 죄송합니다 죄송해요 미안 미안해 미안해요 괜찮아 괜찮아요 괜찮습니다 네 예 응 아니 아니요
    아니오 그래 그래요 맞아 맞아요 알겠어 알겠어요 알겠습니다 좋아 좋아요 좋습니다 물론 물론이죠 정말 정말요 진짜 진짜요 대박 잘 자 자요 다음 계속 계속해 계속해주세요 수고하셨습니다 잠깐만요
    สวัสดี สวัสดีครับ สวัสดีค่ะ ขอบคุณ ขอบคุณครับ ขอบคุณค่ะ ขอบคุณมาก ขอบใจ ขอโทษ ขอโทษครับ ขอโทษค่ะ ไม่เป็นไร ไม่เป็นไรครับ ไม่เป็นไรค่ะ ครับ ค่ะ คะ ใช่ ใช่ครับ ใช่ค่ะ ไม่ ไม่ใช่
    โอเค ได้ ได้ครับ ได้ค่ะ เข้าใจแล้ว เข้าใจแล้วครับ เข้าใจแล้วค่ะ รับทราบ ดี ดีมาก เยี่ยม จริงหรือ ลาก่อน แล้วเจอกัน ราตรีสวัสดิ์ ต่อไป
"""
_courtesy_unspaced = re.compile(
    rf"(?>(?:{'|'.join(sorted(_courtesies.split(), key=len, reverse=True))}|[哈呵嘿]+|[하ㅎㅋ]+|[はハwｗ]{{3,}}|5{{3,}}|ok(?:ay)?)[\s,.!?~…、。，！？～^]*)++",
    re.IGNORECASE,
)


def is_claim(clause: str) -> bool:
    """Tell whether `clause`, read and complete, describes the speaker's world as it is."""
    if _empty.match(clause) or _remark.match(clause):
        return False
    return not (is_supposed(clause) or is_for_others(clause))


def is_supposed(clause: str) -> bool:
    """Tell whether `clause` is about what is not so, or not known to be."""
    return bool(_supposed.search(clause))


def is_for_others(clause: str) -> bool:
    """Tell whether `clause` reports what somebody else said of themselves, or is to be asked."""
    return bool(_reported.search(clause) or _indirect.match(clause))


def is_courtesy(clause: str) -> bool:
    """Tell whether `clause` is talk about the talk: "I agree", "I hope you are well"."""
    return is_short(clause) or bool(_empty.match(clause))


def is_short(clause: str) -> bool:
    """Tell whether `clause` has too few words to say anything; of scripts without spaces, too few letters."""
    if letters := len(_unspaced.findall(clause)):
        return letters < 3 or bool(_courtesy_unspaced.fullmatch(clause))
    return len(clause.split()) < 3 and not _brief.fullmatch(clause)


def is_request(clause: str) -> bool:
    """Tell whether `clause` asks somebody for something; it may still set a rule."""
    return bool(_asked.match(clause))


def weight(clause: str, speaker: str) -> int:
    """Count the different words of `clause` that carry meaning, without the speaker's name."""
    return len(telling(clause) - {speaker.lower()})


def telling(text: str) -> set[str]:
    """Return the words of `text` that carry a meaning of their own, in lower case."""
    return {word.lower() for word in set(_words.findall(text))} - _filler


_common_text = """
    i i'm i've i'll i'd we you he she it they my our your his her their its this that these
    those the a an and but so or if when while because since after before for from in on at to
    of by with no not yes yeah yep hey hi hello wow oh thanks thank ok okay sure great nice
    cool well also just then now there here what how why who where which is are was were be been has have had do does
    did can could will would should must let lets it's that's there's don't can't always never
    please team
"""
_common = {*MONTHS, *WEEKDAYS} | frozenset(_common_text.split())
# an identifier or a word with a capital or digit
_name = r"(?:[A-Z][\w+#]*(?:[.&'’-][\w+#]+)*|[a-z]+[A-Z]\w*|[a-z]+_[a-z_]+|[A-Za-z]+\d[\w.]*)"
_counted = r"(?:minute|hour|day|week|month|year|time|people|percent|more|or|of|and|to)"
_names = re.compile(rf"(?<![\w@/.]){_name}(?: {_name}| v\d[\w.]*| \d+(?:\.\d+)*(?![\w%]| {_counted}))*")
_marked = re.compile(r"[a-z][A-Z]|[A-Z]{2}|\d|_|[.&]\w")


def is_common(word: str) -> bool:
    """Tell whether the word opens or joins sentences, and is not a name."""
    return word.lower().removesuffix("'s") in _common


def names(clause: str) -> tuple[str, ...]:
    """Return the names in `clause`, each once, in their order."""
    found: dict[str, None] = {}
    for match in _names.finditer(clause):
        words = _trimmed(match.group(), match.start() == 0)
        if words:
            found[words] = None
    return tuple(found)


def _trimmed(name: str, is_opening: bool) -> str:
    """Return `name` without common words before and after it; an opening capital alone says
    nothing."""
    words = [re.sub(r"['’]s$", "", word) for word in name.split()]
    start, end = 0, len(words)
    while start < end and words[start].lower() in _common:
        start, is_opening = start + 1, False
    while start < end and words[end - 1].lower() in _common:
        end -= 1
    words = words[start:end]
    kept = " ".join(words)
    if is_opening and len(words) == 1 and not _marked.search(kept):
        return ""
    return kept if any(c.isalpha() for c in kept) else ""

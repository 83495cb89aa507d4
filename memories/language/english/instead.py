"""Things that take the place of others, told around it: "we're done with Slack", "the oboe got too
dear, so it's the flute now", "Ms Orr moved away and Mr Lim has taken over".

Pure: two clauses in, the words that they mean out.
"""

import re

from memories.language.english.calendar import MONTH_NAMES
from memories.language.english.statements.word_lists import KIN, PROFESSIONS

NAME = r"(?:(?:Dr|Mr|Mrs|Ms|Miss|Prof)\.? )?[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,2}"
NOW = r"(?:now|these days|nowadays|from now on|at the moment|instead)"
_no_thing = (
    r"(?:it|that|this|them|those|these|he|she|they|we|I|you|him|her|us|me|all|everything|everybody|everyone|there|what|which|who|nothing"
    r"|something|somebody|someone|things?|work|work for today|today|yesterday|tomorrow|dinner|lunch|breakfast|homework|school for today|winter|summer|spring|autumn|the|my|our|an?)\b"
)
# Putting somebody to bed, or saying goodbye to them, is not giving them up.
_person = rf"(?:{'|'.join(sorted(KIN))}|{'|'.join(sorted(PROFESSIONS))}|kids?|twins|men|women|people|guests?|neighbou?rs?|boys?|girls?)(?:s|['’]s)?\b"
_no_start = r"(?:in|on|at|for|from|to|with|by|of|off|about|into|after|before|until|till|since|because|when|as|out|up|down|last|this|next|early|earlier|late|later|soon|now|then|once|twice|again|\w+ly)\b"
_thing = rf"(?P<art>(?i:the|my|our|that|those|these|all the|all that) )?(?P<old>(?!(?i:{_no_thing}|{_no_start}|(?:[\w'’-]+ ){{0,2}}{_person}))[\w'’.&+-]+(?: (?!(?:and|but|so|because|since|is|are|was|were|in|on|at|for|last|this|after)\b)[\w'’.&+-]+){{0,3}}?)"
_bare = r"(?!(?i:that|those|these|all)\b)" + _thing[_thing.index("(?P<old>") :]
_who = r"(?:I|[Ww]e)(?:['’](?:m|re|ve|d)| am| are| have| had)?(?: (?:just|finally|already|so|really|completely|all|now|recently|officially|long since|well and truly))*"
_tail = r"(?:(?:,? (?:because|since|as|after|when|for good|for ever|forever|altogether|completely|entirely|now|lately|last|this|in|on|at|ages|years|months|weeks|a|some|two|three)\b.{0,60})?)"
# Words that say something is over, whatever else is told; everyday acts have none of them.
_sure = tuple(
    re.compile(form.format(bare=_bare, tail=_tail))
    for form in (
        r"(?:[Mm]y|[Tt]he|[Oo]ur) [a-z-]+(?: [a-z-]+)? (?:made (?:me|us)|forced (?:me|us) to) give up (?P<art>)(?=[a-z]){bare}{tail}",
        r"(?:I|[Ww]e)(?: have|['’]ve)?(?:n['’]t| not) (?:touched|smoked|drunk) (?:(?P<one>an?) |any |a drop of )?(?P<art>)(?P<old>cigarettes?|cigars?|tobacco|alcohol|beer|wine|spirits) (?:since (?!yesterday|last night|this|\w+day\b)|(?:for|in) (?:ages|(?:\w+ )?(?:months|years))\b).{{0,40}}",
    )
)
# What people say is over for them, where they tell what they do instead.
_ended = tuple(
    re.compile(form.format(who=_who, x=_thing, bare=_bare, tail=_tail))
    for form in (
        r"{who} (?:done|through|finished) with (?P<art>){bare}{tail}",
        r"{who} (?:had it|(?:had )?(?:quite |more than |about )?enough|had my fill) (?:with|of) (?P<art>){bare}{tail}",
        r"{who} (?:said|say|saying|waved) (?:goodbye|good-bye|farewell|adieu) to (?P<art>)(?=[a-z]){bare}{tail}",
        r"{who} turned (?:my|our) backs? on (?P<art>){bare}{tail}",
        r"{who} (?:gave|given) (?P<art>)(?=[a-z]){bare} (?:the boot|the push|the chop|the elbow){tail}",
        r"{who} (?:swore|sworn|gone|went) off {x}{tail}",
        r"{who} (?:fell|fallen) out of love with {x}{tail}",
        r"{who} (?:called|calling) it quits (?:with|on) {x}{tail}",
        r"{who} (?:axed|scrapped|jettisoned|abandoned|phased out) (?P<art>){bare}{tail}",
        r"{who} (?:dropped|quit) (?P<art>)(?=[a-z]){bare}(?: (?:because|for good|altogether|completely|entirely)\b.{{0,60}})?",
        r"(?:I|[Ww]e) (?:don['’]t|do not|never|no longer) (?:bother with|touch|do) {x}(?: (?:any ?more|any longer|these days|now))+",
        r"(?P<art>){bare} (?:is|are|['’]s) (?:behind (?:me|us)|(?:ancient )?history|a thing of the past|out of (?:my|our) li(?:fe|ves)|no longer my thing|not my thing any ?more|over for me|old hat)(?: now)?",
        r"[Nn]o more {x} for (?:me|us)(?: any ?more| any longer| these days| now)",
    )
)
# What people are tired of, where they tell what has taken its place.
_weary = re.compile(
    rf"{_who} (?:tired of|sick of|fed up with|bored (?:of|with)|disappointed (?:in|with)) {_thing}{_tail}"
)
# What no longer suits, if something else has taken its place. What only breaks is mended.
_failed = re.compile(
    rf"{_thing}(?:['’]s| has| have| had| is| are| was)? (?:just |simply |finally |sadly |really |all |both )*"
    r"(?:out of the (?:window|picture|running)|(?:got|became|become|getting|grew|turned) (?:boring|dull|annoying|tiresome|unreliable|unbearable|unusable|pricey|expensive|slow|crowded|noisy|stale)|(?:(?:got|became|become|grew|getting|turned|was|were|is|are)(?: just| simply| getting| far| way| a bit| much)* too [a-z]+)"
    r"|(?:course|class(?:es)?|lessons?|club|group|season) (?:is|are|was|has|have) (?:over|finished|done|ended|cancelled|folded|closed(?: down)?|come to an end)|fell through|folded|(?:did|does|do)n['’]t (?:work out|suit|agree with|do it for)"
    r"|went (?:under|bust|bankrupt|downhill)|discontinued|kept (?:crashing|breaking|stalling|failing)"
    r"|no longer suits?|let (?:me|us) down|cost too much|tripled|doubled)\b.{0,60}",
)
_name_gone = re.compile(
    rf"(?P<old>{NAME})(?:['’]s| has| is| had)? (?:just |finally |recently |also )*(?:moved|retired|left|quit|resigned|stepped (?:down|back|aside)|went (?:on|back|abroad|to)|passed away|died|emigrated|transferred"
    r"|changed (?:jobs|schools|teams)|handed (?:it |things |everything )?over|gave (?:it|that) up|got (?:another|a new|promoted)|been (?:promoted|moved|transferred)|leaving|gone|on (?:maternity|parental|sick|paternity) leave|no longer|(?:doesn['’]t|does not|isn['’]t|is not) [a-z]+(?: [a-z]+){0,2} any ?(?:more|longer))\b"
    r"(?P<rest>.{0,80})"
)
_as_role = re.compile(
    r"\bas (?:(?:the|our|my|a) )?(?P<role>[a-z][a-z-]+(?: [a-z][a-z-]+){0,2})(?= (?:in|on|last|this|after|because)\b|[,.;]|$)"
)
_lead = r"(?:(?:so|and|but|now|then|and so|so now|and now|but now|and then),? )?"
_value = r"(?P<new>(?!(?:it|that|this|I|we|they|he|she|not|no|so|too|very|really|just|all|time|over|gone|fine|okay|ok|better|easier|cheaper|good|great|nice|hard|cold|warm|dark|late|early|quiet|empty|done|finished)\b)[^,;:.!?]{2,40}?)"
# These take no place: "it's freezing now", "it's a mess now", "it's in the shop now".
_no_value = re.compile(
    rf"(?:{MONTH_NAMES}|\w+day|Christmas|Easter|Lent)\b|(?i:{_no_start})|.*\w(?:ing|ed|en|ful|less|ous|[ai]ble|al|ic|ive|er|[ae]nt|y)$|.*\d"
    r"|(?:the )?(?:hot|wet|dry|dead|calm|fun|bad|sad|loud|full|open|shut|low|high|big|small|long|short|worse|worst|best|clean|fast|slow|cheap|dear|free|safe|new|old|cool"
    r"|same|first|last|married|single|alone|sick|ill|blind|deaf|well|worn|rain|weather|winter|summer|spring|autumn|fall|night|noon|midnight|war|peace|chaos|hell|home|shut|quits|pitch|rush|past|present|future|end|turn|case|time|weekend|season|other|only|right|wrong|cause|reason|problem)\b.*"
)
# A clause that depends on the one before: it names what has taken its place.
_comes = tuple(
    re.compile(f"{_lead}{form}", re.IGNORECASE)
    for form in (
        rf"(?:it|they|that)(?:['’](?:s|re)| is| are) (?:now |all |only |just )*{_value}(?: for me)? {NOW}(?: for me)?",
        rf"now (?:it|they)(?:['’](?:s|re)| is| are) {_value}",
        rf"{_value} it is(?: {NOW})?",
        rf"(?:I|we)(?:['’]ve| have)? (?:just |now |since |then )*(?:switched|changed over|converted|migrated|defected) to {_value}"
        rf"(?: {NOW})?(?: (?:in|last|this|after) .{{2,30}})?",
        rf"{_value} (?:is|are) (?:what|where) (?:I|we) [a-z]+ {NOW}",
    )
)
_replaced = re.compile(
    rf"{_lead}(?:I|we)(?:['’]ve| have)? (?:just |now |since |then )*(?:replaced|swapped|exchanged|traded|substituted) (?:it|them|that|him|her)(?: out)? (?:with|by|for) {_value}(?: {NOW})?"
)
_takes_over = re.compile(
    rf"{_lead}(?P<new>{NAME})(?:['’]s| has| is| have)? (?:(?:now|just|already|kindly) )*(?:taken over|took over|taking over|takes over|stepped in|steps in|stepped up|filled in|filling in|fills in|replaced|replaces|replacing"
    r"|doing (?:it|that|the job)|does (?:it|that|the job)|in charge|running (?:it|things)|runs (?:it|things)|handles? it|got the (?:job|post|role)|(?:got|took|has|have|inherited) (?:his|her|their) (?:room|place|desk|job|post|role|seat|flat|office|class|shift)"
    r"|moved in(?:to)? (?:his|her|their|the) [a-z]+|my new one|the new one|(?:our|my) new [a-z]+)\b.{0,40}"
)
_is_ours = re.compile(rf"{_lead}(?P<new>{NAME}) is (?P<role>(?:my|our) [a-z][a-z-]*(?: [a-z-]+){{0,2}}?) now")
_goes_to = re.compile(
    rf"{_lead}(?:I|[Ww]e)(?:['’](?:m|re)| am| are)? (?:now )?(?:see|go to|train with|work with|report to) (?P<new>{NAME})(?: now| instead| these days)*"
)
# "Ida isn't at Mill School any longer" and "she changed to Lakeside"
_not_there = re.compile(
    rf"(?P<who>(?:[Mm]y |[Oo]ur )?(?:[a-z-]+ )?{NAME}|[Mm]y [a-z-]+|[Oo]ur [a-z-]+|I|[Ww]e)(?: (?:is|are|am)(?:n['’]t| not| no longer)|['’](?:s|m|re) (?:not|no longer)| (?:doesn['’]t|don['’]t) (?:go|work|live)| no longer (?:goes|works?|lives?))"
    rf" (?:at|to|in|with|for) (?P<old>[^,;]{{2,40}}?)(?: any ?more| any longer| these days| now)?"
)
_left_it = re.compile(
    rf"(?P<who>(?:[Mm]y |[Oo]ur )?(?:[a-z-]+ )?{NAME}|[Mm]y [a-z-]+)(?:['’]s| has| have)? (?:just |recently |now )?(?:left|quit|finished at) (?P<old>(?:the )?[A-Z][^,;]{{1,40}})"
)
_is_there = re.compile(
    r"(?:and |but )?(?:[Ss]?[Hh]e|[Tt]hey)?(?:['’](?:s|re)(?= (?:now )?(?:at|in|with)\b)| ?(?P<verb>is|are|goes|go|lives|live|works|work))(?: now)? (?P<place>at|to|in|for|with) (?P<new>[^,;]{2,50}?) (?:now|these days|nowadays)"
)
_went_to = re.compile(
    r"(?:and |but )?(?:I|we|[Ss]?[Hh]e|[Tt]hey)(?:['’](?:s|ve)| has| have)? (?:just |now )*(?P<verb>changed|switched|moved|went|gone|transferred) (?:over )?to (?P<new>[^,;]{2,60})"
)
_favourite = re.compile(
    rf"{_thing} (?:was|used to be|had been) (?:always |long )?my favou?rite(?P<kind> [a-z]+)??(?: (?:for|until|till|since|once|before) .{{2,30}}| once)?"
)
# "travel money goes through Wise now", of whoever gave up the other
_of_thing = re.compile(
    r"(?!(?:the|my|our|your|his|her|their|its?|it|that|this|these|those|they|we|he|she|I|you|an?|everything|everyone|life|nobody|there|what|who|which)\b)[a-z]+(?: [a-z]+)?"
    r" (?:goes|go|runs?|comes?|lives?|happens?|(?:is|are)(?= (?:in|on|at|with|through|by|from)\b)) .{2,50} (?:now|these days|nowadays)"
)
_of_now = re.compile(
    rf"{_lead}(?:(?:(?:I|[Ww]e)(?! (?:am|are)\b|['’])|[Mm]y|[Oo]ur)\b.{{2,80}} {NOW}|{NOW},? (?:(?:I|we)(?! (?:am|are)\b|['’])|my|our)\b.{{2,80}})"
)
_cut = re.compile(r",? that (?=(?:I|we)\b)|,? and (?=\S)|[,;] (?=\S)| [-–—] (?=\S)|,? so (?=\S)|,? but (?=\S)")
_signs = re.compile(
    r"\b(?:with|of|to|off|behind|over|gone|dead|too|failed|fell|folded|collapsed|worn?|working|broke|broken|packed|shut|closed|went|discontinued|kept|killing|ruining|longer|died|rusted|down|out"
    r"|more|anymore|for me|favou?rite|moved|retired|left|quit|resigned|stepped|passed|changed|handed|emigrated|transferred|leave|leaving|since|history|past|up|boot|push|elbow|chop|ditched|binned|axed|scrapped|abandoned|shelved|jettisoned|cost|tripled|doubled|hat|thing|so|smoked|touched|aside|on ice|always|fed|tired|sick|bored|boring|expensive|dropped|end|ended|give|stop|practi[sc]e|any ?more)\b",
    re.IGNORECASE,
)


def may_be(text: str) -> bool:
    """Tell whether `text` may say that something is over; cheap, and a no is always right."""
    return _signs.search(text) is not None


def given_up(text: str, *, is_instead: bool) -> str:
    """Return what a clause says is over, as its speaker would say "I gave up ..."; "" for all other
    clauses. `is_instead`: what the speaker does now stands beside it."""
    old = _over(text, _sure + _ended if is_instead else _sure)
    return f"I gave up {old}" if old else ""


def does_now(text: str) -> bool:
    """Tell whether `text` says what somebody does or has now, not where or how they are."""
    return _of_now.fullmatch(text) is not None


def parts(text: str) -> tuple[str, str]:
    """Return a clause in two parts: what is over, and what has taken its place; ("", "") for any
    other."""
    for cut in list(_cut.finditer(text))[:4]:
        first, second = text[: cut.start()], text[cut.end() :]
        if came(first, second) or does_now(second) and _over(first, _sure + _ended):
            return first, second
    return "", ""


def came(first: str, second: str) -> str:
    """Return what `second` says, completed by what `first` says is over; "" if it does not depend
    on it."""
    if gone := _name_gone.fullmatch(first):
        return _somebody_else(gone, second)
    return _elsewhere(first, second) or _favoured(first, second) or _in_place(first, second)


def _somebody_else(gone: re.Match[str], second: str) -> str:
    """ "Ms Orr moved away", "Mr Lim has taken over"."""
    if ours := _is_ours.fullmatch(second):
        return f"{ours['role']} is {ours['new']} now"
    takes = _takes_over.fullmatch(second) or _goes_to.fullmatch(second)
    if takes is None or takes["new"] == gone["old"]:
        return ""
    if role := _as_role.search(gone["rest"]):
        return f"my {role['role']} is {takes['new']} now"
    return f"I have {takes['new']} instead of {gone['old']} now"


def _elsewhere(first: str, second: str) -> str:
    """ "Ida isn't at Mill School any longer", "she changed to Lakeside"."""
    absent = _not_there.fullmatch(first) or _left_it.fullmatch(first)
    if absent is None:
        return ""
    went, is_own = _went_to.fullmatch(second), absent["who"] in ("I", "we", "We")
    if went and (is_own or all(place.removeprefix("the ")[0].isupper() for place in (absent["old"], went["new"]))):
        # Other people are said to have switched; a move is told only of the speaker.
        verb = went["verb"] if is_own else "switched"
        verb = "went" if verb == "gone" else verb
        return f"{absent['who']} {verb} from {absent['old']} to {went['new']}"
    now = _is_there.fullmatch(second)
    if now is None or is_own:
        return ""
    if now["verb"] in ("lives", "works"):
        return f"{absent['who']} {now['verb']} {now['place']} {now['new']} now"
    return f"{absent['who']} switched from {absent['old']} to {now['new']}"


def _favoured(first: str, second: str) -> str:
    """ "Blue was my favourite colour for years", "now it's orange"."""
    loved, now = _favourite.fullmatch(first), _comes[0].fullmatch(f"{second} now")
    if loved is None or now is None:
        return ""
    new = now["new"].removesuffix(" now")
    if _no_value.fullmatch(new):
        return ""
    return f"my favourite{loved['kind'] or ''} is {new} instead of {loved['old']} now"


def _in_place(first: str, second: str) -> str:
    """ "We're done with Slack", "it's Zulip now"."""
    old = _over(first, (*_sure, *_ended, _failed, _weary))
    if not old:
        return ""
    if put := _replaced.fullmatch(second):
        return f"I replaced {old} with {put['new']}"
    for form in _comes:
        if (found := form.fullmatch(second)) and takes_place(found["new"], old):
            return f"I go for {found['new']} instead of {old} now"
    return f"my {second}" if _of_thing.fullmatch(second) else ""


def takes_place(new: str, old: str) -> bool:
    """Tell whether `new` names something of the same kind as `old`: a name, or a thing in the same
    form, "the clarinet" for "the oboe", "oat" for "soy"."""
    if new.lower() == old.lower() or _no_value.match(new) or _somebody.search(new):
        return False
    if new[0].isupper():
        return True
    articles = [_article.match(words) for words in (new, old)]
    new_article, old_article = (found[1] if found else "" for found in articles)
    is_one_word = len(new.split()) == 1 + bool(new_article)
    return new_article == old_article and (is_one_word or new.split()[-1] == old.split()[-1])


_somebody = re.compile(rf"['’]s?$|\b{_person}", re.IGNORECASE)
_article = re.compile(r"(?:(the|my|our|an?|that|those|these) )", re.IGNORECASE)


def _over(text: str, forms: tuple[re.Pattern[str], ...]) -> str:
    found = next((match for form in forms if (match := form.fullmatch(text))), None)
    if found is None:
        return ""
    return f"{_plain(found)}{'s' if found.groupdict().get('one') else ''}"


def _plain(found: re.Match[str]) -> str:
    """Return what is over, without the capital of a sentence's beginning if it is not a name:
    "Boxing"."""
    thing, article = found["old"], (found["art"] or "").lower()
    is_small = thing.split()[0].endswith("ing")
    return article + (thing[0].lower() + thing[1:] if is_small else thing)

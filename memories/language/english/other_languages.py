"""Other languages beside English: which one a text is in, by its script and its function words, and
the stems of its words. It is as much as the keyword index needs of a language.

Function words say nothing about a text's topic, as STOP_WORDS do not in English, but they show its
language. Words of a language that is missing here are searched as they stand.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from functools import cache
from typing import NamedTuple

import Stemmer

# By the name of the Snowball algorithm.
_LATIN = {
    "german": """
        ab aber alle allem allen aller alles als am an andere anderen auch auf aus bei beim bin
        bis bist da damit dann das dass daß dem den denn der deren des dessen die dies diese
        diesem diesen dieser dieses doch du durch ein eine einem einen einer eines er es für
        gegen gibt habe haben hat hatte hatten ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im
        in ins ist jede jeden jeder kann kein keine können man mehr mein meine mich mir mit nach
        nicht noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seit sich sie sind
        so sondern um und uns unser unter viel viele vom von vor wann war waren warum was weil
        welche welchem welchen welcher welches wem wen wenn wer werden wessen wie wieder wir
        wird wo wofür woher wohin wurde wurden während zu zum zur zwischen über""",
    "french": """
        ai as au aussi aux avait avec avez avoir avons ce ces cet cette ceux combien comme
        comment dans de depuis des du elle elles en entre est et eux fait il ils je la le les
        leur leurs lui ma mais me mes moi mon même ne nos notre nous on ont ou où par pas plus
        pour pourquoi qu quand que quel quelle quelles quels qui quoi sa sans se ses son sont
        sous sur ta te tes toi ton tu un une vos votre vous étaient était été être""",
    "spanish": """
        al algo ante como con cual cuando cuál cuáles cuándo cuánta cuántas cuánto cuántos cómo
        de del desde donde durante dónde el ella ellas ellos en entre era eran es esa ese eso
        esta estar este esto estos está están fue fueron ha había han hasta hay la las le les lo
        los me mi mis muy más ni no nos os para pero por porque que quien quienes quién qué se
        sea ser si sin sobre son soy su sus sí también te tiene tienen tu tus un una unas uno
        unos ya yo él""",
    "italian": """
        ad agli ai al alla alle anche che chi ci come con cosa cui da dai dal dalla dalle dei
        del della delle dello di dove ed era erano essere gli ha hanno il in io la le lei lo
        loro lui ma mi mia mio ne nei nel nella nelle non per perché più qual quale quali quando
        quanti quanto quella quelle quello questa queste questo se si sia sono stata stato su
        sua sue sui sul sulla suo suoi tra tu un una uno è""",
    "portuguese": """
        ao aos as até com como da das de dela dele deles do dos ela elas ele eles em entre era
        eram essa esse esta este está eu foi foram há isso já lhe mais mas me mesmo meu minha
        muito na nas nem no nos não nós onde os ou para pela pelas pelo pelos por porque quais
        qual quando quanto quantos que quem se sem ser seu seus sua suas são só também te tem
        ter teve um uma você à às é""",
    "dutch": """
        aan al als bij dan dat de der deze die dit door een en er ge geen had hebben heeft hem
        het hij hoe hoeveel hun ik in is je kan kon maar me meer men met mij mijn na naar niet
        nog nu of om omdat onder ons ook op over te tegen toch toen tot uit uw van veel voor
        waar waarom wanneer waren was wat we welk welke werd werden wie wij worden wordt ze zich
        zij zijn zo zonder zou""",
    "swedish": """
        alla allt att av blev bli blir de dem den denna deras dess dessa det detta dig din du
        där då efter ej eller en er ett från för ha hade han hans har henne hennes hon honom hur
        här icke ingen inte jag kan man med mellan men mig min mot mycket ni nu när någon något
        och om oss på sedan sig sin sina som så till under upp ut utan vad var varför vem vi vid
        vilka vilken vilket är över""",
    "danish": """
        af alle at blev blive bliver da de dem den denne der deres det dette dig din du efter
        eller en end er et for fra ham han hans har havde have hende hendes her hun hvad hvem
        hvilke hvilken hvilket hvis hvor hvordan hvorfor hvornår ikke ind jeg kan man med meget
        men mig min mod noget nogle nu når og også om op os over på sig sin som til ud under var
        vi vil være været""",
    "norwegian": """
        alle at av ble bli blir da de deg dem den denne der deres det dette din du eller en er
        et etter for fra ha hadde han hans har henne hennes her hun hva hvem hvilke hvilken
        hvilket hvis hvor hvordan hvorfor ikke inn jeg kan man med meg men mer min mot noe noen
        nå når og også om opp oss over på seg sin som så til under ut var ved vi vil være vært""",
    "finnish": """
        ehkä ei eivät en ennen ettei että he hän häntä ja jo joka jos jossa jotka kanssa koska
        kuin kuinka kuka kun me miksi mikä mikään milloin minkä minun minä missä mistä miten
        mitkä mitä monta mukaan mutta myös ne niiden niin noin nyt ole olemme olen olet oli
        olivat olla on ovat se sen siitä sinä sitä tai te tämä tämän vai vain voi yli""",
    "hungarian": """
        aki amely ami az azok azt be csak de egy el ez ezek ezt ha hogy hogyan hol hány is kell
        ki kik között le lesz meg melyik mennyi mert mi mikor minden mint mit miért most már még
        nagyon nem te után vagy van volt voltak én és így úgy ő""",
    "polish": """
        aby ale bardzo bez by byli być był była było były ci co czy dla dlaczego do gdy gdzie
        ich ile im ja jak jaka jaki jakie jako je jego jej jest jestem już kiedy kto która które
        którego który lub ma mają mi mnie moje może mój na nad nie niej od on ona one oni oraz
        po pod przez przy się są ta tak także tam te tego tej to tu tylko tym we więc wszystko
        za ze że żeby""",
    "czech": """
        aby ale ani bez by byl byla byli bylo být co do jak jako je jeho jejich její jen ještě
        již jsem jsou kde kdo kdy když kolik která které který ma mezi mi má mě na nebo není ně
        od po pod podle pro proti proč před při se si tak také tam ten to tu už ve však za ze že""",
    "romanian": """
        acea aceasta această aceea acest aceste ai al ale am ar are as au avea avut ca care ce
        cel cele cine cu cum când cât câte câți că cărei cărui către da dar de deci decât din
        după ea ei el ele era erau este eu fi fie fost la le lor lui mai mi ne nici noi nu pe
        pentru prin sa sau se sunt să său un una unde unei unor unui va vor îi îl în într între
        își și""",
    "turkish": """
        acaba ama ancak bana bazı belki ben beni benim bir biri biz bu bunu bunun da daha de
        defa değil diye en gibi hangi hem hep her hiç ile ise için kadar kaç ki kim kimdir mi mu
        mü mı nasıl ne neden nedir nerede niye olan olarak oldu olduğu olur onlar onu onun sen
        siz sonra tüm var vardır ve veya ya yani çok çünkü şey şu""",
    "indonesian": """
        ada adalah akan anda apa apakah atau bagaimana bahwa banyak beberapa berapa bisa dalam
        dan dapat dari dengan di dia hanya harus ia ini itu jika juga kami kamu kapan karena ke
        kepada kita lebih mana mengapa mereka oleh pada saat saja sangat saya sebagai sebelum
        sebuah secara seperti setelah siapa sudah telah tersebut tetapi tidak untuk yang""",
}
# By the range of their letters: the algorithm, and the words to leave out.
_SCRIPTS = {
    range(0x370, 0x400): (
        "greek",
        """ο η το οι τα του της των τον την τη τους τις και να δεν θα με σε για από απο που πως ότι
        είναι ειναι ήταν ηταν ένα ενα ένας μια μία στο στη στην στον στα στις στους ή αλλά αυτό αυτή
        τι ποιος ποια ποιο ποιοι ποιον πότε ποτε πού γιατί πόσα πόσο πόσοι πόσες ως κατά μετά πριν
        όπως αν μου σου μας σας έχει έχουν είχε""",
    ),
    range(0x400, 0x530): (
        "russian",
        """и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее
        её мне было вот от меня еще ещё нет о из ему когда даже ну ли если уже или ни быть был него
        до вас нибудь вам ведь там потом себя ничего ей они тут где есть надо ней для мы тебя их чем
        была сам чтоб без чего раз себе под будет кто этот того какой какая какие каком какого им
        этом мой были сколько это эта эти чтобы почему при об который которая которые""",
    ),
    range(0x530, 0x590): ("armenian", "և է են էր որ մի ու այն այս ինչ ով երբ որտեղ"),
    range(0x600, 0x700): (
        "arabic",
        """في من على إلى الى عن أن ان إن هو هي هم ما ماذا متى أين اين كيف كم لماذا هل أي أية الذي
        التي الذين هذا هذه ذلك تلك كان كانت مع أو او و ثم لا لم لن قد كل بعد قبل بين عند حيث غير
        حتى إذا اذا لقد أنا انا أنت نحن""",
    ),
    range(0x900, 0x980): (
        "hindi",
        """का की के को में है हैं से और पर ने यह वह एक भी था थी थे हो नहीं तो ही या कि जो इस उस इन
        उन क्या कौन कब कहाँ कहां कैसे क्यों कितने कितना कितनी किस किसने किसके कर करने गया गई गए द्वारा
        लिए साथ तक अपने मैं हम आप""",
    ),
    range(0xB80, 0xC00): ("tamil", "ஒரு என்று மற்றும் இந்த அந்த என்ன யார் எப்போது எங்கே எப்படி"),
}
# These are words or names in English, too, and tell nothing on their own.
_in_english = frozenset(
    """
    ad ada ai al ale alla alle also am ama an ana ante are art as at au bana be ben bin by care
    cat ci com come como con da dam dan dari de del dem den der des di dia die dina do does dos
    du ed een ei el ela eles ella elle em en end entre er era es est et eu eva ex fait fin for
    fra ha had han hans hat have he hem her him his hon hun il im in ina io is it ja je jo kam
    kami ki kim kita la las le lei les lo los lui ma mai man mana mano mas me men mer met mi mia
    min mina mine mis mit mod moi mon more most mu na ne no nod noi non nor nos not nu ob of ola
    ole on one op or os out over pas per plus pod por pro que rule sa san sans sat saw se sea
    see sen ser set si sia sin sina so sole son soy ste sui sum sur ta tai tak tam tan te tea
    ten tit to toi tom tot tu uk un una und under uns up us use van var ve ver vi via von war
    was we will win wo ya yang yo za ze zu
""".split()
)
_CERTAIN = 4  # function words

_FUNCTION_WORDS = {name: frozenset(words.split()) for name, words in _LATIN.items()}
_languages: dict[str, list[str]] = {}  # of each function word
for _name, _words in _FUNCTION_WORDS.items():
    for _word in _words:
        _languages.setdefault(_word, []).append(_name)
_telling = frozenset(_languages) - _in_english
_by_script = [(codes, name, frozenset(words.split())) for codes, (name, words) in _SCRIPTS.items()]


class WrittenIn(NamedTuple):
    """The certain or likely language of a text in Latin letters."""

    name: str
    function_words: Collection[str]
    is_certain: bool


def language_of(words: Sequence[str], english: Collection[str]) -> WrittenIn | None:
    """Return the language of words in lower case, None for English; `english` are its function
    words."""
    telling = _telling.intersection(words)
    if not telling:
        return None
    seen = Counter(name for word in words for name in _languages.get(word, ()))
    name = max(sorted({name for word in telling for name in _languages[word]}), key=seen.__getitem__)
    count, own = seen[name], sum(word in english for word in words)
    if count < own:
        return None
    # A single one may belong to a name.
    left_out = _FUNCTION_WORDS[name] if count > 1 else frozenset[str]()
    return WrittenIn(name, left_out, count >= _CERTAIN and count > 2 * own)


def stem_in(language: str, word: str) -> str:
    return _stemmer(language).stemWord(word)


def stem_by_script(word: str) -> str | None:
    """Return the stem of a word whose letters show its language, "" for a function word, None if
    they do not show it."""
    code = ord(word[0])
    for codes, language, function_words in _by_script:
        if code in codes:
            return "" if word in function_words else _stemmer(language).stemWord(word)
    return None


@cache
def _stemmer(language: str) -> "Stemmer.Stemmer":
    return Stemmer.Stemmer(language)

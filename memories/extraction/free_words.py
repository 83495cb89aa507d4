"""Words with which a statement may be put though nobody said them. Data only."""

from memories.english.statements.word_lists import ADVERBS, ARTICLES, FUNCTION, MODAL
from memories.english.statements.wording import root

# The user and the voice of the one who writes down; what they tell is in the other words.
_FREE = (
    FUNCTION
    | ARTICLES
    | ADVERBS
    | MODAL
    | frozenset(
        """
        user speaker assistant person people someone somebody something thing one man woman
        say mention state report describe explain note express prefer want would plan
        intend decide agree choose consider think believe feel become remain include involve keep
        make take get go do be have give play hold use call name wear say tell located takes
        place time kind type used lot year old age yearsold named never ever originally past former previously
        another other more less own team company project number amount total some few several
        everyone everybody anyone anybody after follow their ours my our your me us we i you myself own
        """.split()
    )
)
FREE = _FREE | {root(word) for word in _FREE}
# What is said with one of the words on the right may be put with the one on the left.
_IMPLIED_TEXT = """
    live: move home settle base rent stay from flat apartment house
    work: job hire career role at start as living commute shift office employ
    job: work role hire career
    pregnant: expect expecting due
    due: expect expecting deadline until
    wedding: marry married husband wife bride groom
    marry: wedding bride groom wife husband
    relationship: broke break split dating together boyfriend girlfriend partner
    end: broke break split over cancel quit finish stop
    alcohol: sober drink wine beer
    advise: tell told say said recommend suggest
    diet: gluten dairy vegan vegetarian pescatarian keto halal kosher eat meat pork dinner meal salt sugar
    glutenfree: gluten
    avoid: not can't cannot never no without
    leave: quit resign depart gave
    train: study learn become
    belong: inherit own member mine
    member: membership join belong club
    birthplace: born
    degree: graduate major university college
    graduate: degree finish college university
    next: tomorrow
    day: tomorrow today yesterday
    smoke: cigarette cigarettes vape
    cigarette: smoke pack
    oldest: eldest elder
    youngest: baby little
    teacher: teach school pupils class
    sibling: brother sister
    parent: mother father child daughter son
    daughter: girl
    son: boy
    former: ex used
    single: divorced broke
    injure: hurt broke sprain tore twist
    hurt: injure sprain twist
    ill: sick flu fever
    sick: ill flu fever
    recover: better heal
    better: recover improve
    retire: pension
    raise: grew grow
    grow: raise
    weekly: week
    monthly: month
    morning: breakfast
    evening: dinner night
    vehicle: car van truck bike
    pet: dog cat rabbit parrot hamster
    drink: coffee tea wine beer alcohol sober
    employer: work job company
    colleague: work team office
    neighbour: next door live
    language: speak fluent
    medicine: take tablet pill insulin
    exercise: run gym swim cycle yoga train
    sport: football tennis rugby run swim cycle row
    instrument: piano violin guitar cello drum flute
    start: now new
    own: have get bought my our belong mine
    travel: go going trip fly off visit drive
    visit: go trip been travel
    attend: go
    love: favorite fan great into best good want
    hate: not
    dislike: not hate
    eat: gluten meat pork vegetarian vegan not salt sugar dairy food diet dinner lunch breakfast
    learn: degree major
    responsible: own
    owner: own
    stop: quit gave
    permit: no not
    need: must
    require: must
    alter: push slip
    move: push slip postpone
    child: twin baby grow growing
    commute: work job
    old: elder
    husband: marry wife
    spouse: husband wife
    meeting: meet
    retain: retention
    replace: drop insteadof infavorof
    instead: infavorof drop
    city: town
    product: dairy food milk
"""
IMPLIED: dict[str, frozenset[str]] = {}
for _line in _IMPLIED_TEXT.strip().splitlines():
    _left, _, _right = _line.partition(":")
    _name = root(_left.strip())  # of several words of one class what is said of any
    IMPLIED[_name] = IMPLIED.get(_name, frozenset()) | frozenset(_right.split())
NEGATIVE = frozenset(
    """
    not no never nobody none nothing neither nor without nolonger hardly cannot nowhere nope
    nicht kein keine keinen keinem keiner nie niemals nichts ne pas jamais non mai niente nunca jamás
    jamas nada não nao не нет никогда nie geen niet
    """.split()
)
NEGATIVE_SIGNS = "不没沒無无未ない"
# Verbs that say that something is not, or no more
ENDING = frozenset(
    """
    stop stopped stops quit quits hate hates hated dislike dislikes refuse refuses refused
    avoid avoids avoided cancel cancelled canceled sold sober lack lacks unable reject
    rejected forbid forbidden prohibited prohibit
    """.split()
)

"""Words that say the same for our purpose, and words that say little. Data only.

A class is named by its first word. Words are compared by their stems, so that one form of a
regular word stands for all; irregular forms are listed.
"""

_classes = """
live lived living reside resident dwell
love adore like enjoy enjoyed fond enjoyment
start began begin begun commence started
finish finished complete completed done
buy bought purchase purchased
get got gotten obtain receive acquire
own possess owned owning
big large huge
small little tiny
favorite favourite favorites fave
color colour colored coloured
car vehicle automobile
apartment flat
house home
movie film
child children kid kids
mother mom mum mam
father dad daddy
grandmother grandma granny nan
grandfather grandpa granddad
doctor physician
teach taught teacher teaches
mathematics maths math
learn learned learnt study studied studying studies student students
plan plans planning planned intend intends aim
want wants wish wanted desire
trip journey travel travelling traveling traveled travelled
speak spoke spoken fluent
talk chat
make made create created
build built develop developed developing construct
use utilize utilise using
hire hired
job position occupation employment employ employed
rewrite rewrote rewritten
employee employees staff
boss manager supervisor
company firm
repair fix fixed repaired
help assist helped
show display
search look seek seeking searching looking
find found
need require required requires necessary
many plenty
quick fast rapid
happy glad pleased
sad unhappy upset
afraid scared fear fearful terrified fears
angry mad
interest interested fascinate fascinated fascinating
important crucial vital essential
difficult hard tough challenging
easy simple
visit visited attend attended attends
run ran running jog jogging
bike bicycle cycle cycling
picture photo photograph
gift present
shop store
folder directory
bug defect
error failure
deadline due
price cost costs costing
email mail
phone telephone mobile cellphone
address addresses
husband spouse wife married marry wed
fiance fiancee engaged engagement
boyfriend girlfriend
day daily days everyday
year yearly years annually annual
dye dyed
cheap inexpensive affordable
expensive costly pricey
rent lease rented leased
smart intelligent clever
rich wealthy
boring dull
loud noisy
clean tidy
remove delete removed deleted
check verify validate
attempt try tried trying
lawyer attorney
trash garbage rubbish
sofa couch
truck lorry
petrol gas
motorcycle motorbike
vet veterinarian
medicine medication meds drug pill
surgery operation
concert gig
repository repo
documentation docs
configuration config
environment env
administrator admin
information info
specification spec
gather gathered
contain include contains includes
responsible responsibility
permit permitted allow allowed allows
discover discovered
understand understood comprehend
grandchildren grandkids
used secondhand
backup backups
nightly overnight
programmer coder
handle handled process processed
prohibit prohibited
wallet purse
luggage baggage
pain ache
headache headaches
frequent frequently often regularly
rarely seldom
pretty cute
glasses spectacles
overcome overcame
answer reply response respond
short concise brief
detailed thorough verbose lengthy
order ordered
talented skilled
allergy allergic
vegetarian veggie
shoot filming
garden gardening
paint painting painted
draw drew drawn drawing
write wrote written writing
read reading
sing sang sung singing
swim swam swum swimming
ski skied skiing
drive drove driven driving
ride rode ridden
eat ate eaten eating
drink drank drunk drinking
sleep slept sleeping
cook cooked cooking
bake baked baking
dance danced dancing
win won winning
lose lost losing
sell sold selling
leave left leaves depart departs departed departure
arrive arrives arrival
meet met
lesson class
take took taken taking
give gave given giving
think thought thinks believe believed belief
know knew known
tell told
say said
see saw seen
hear heard
feel felt feeling
keep kept
hold held
bring brought
pay paid
spend spent
send sent
lead led leader
grow grew grown
fly flew flown flight
break broke broken
choose chose chosen choice pick picked select selected
wear wore worn
ship shipped
become became
go went gone going goes
test testing
deploy deployment host hosted hosting deploys
database db datastore
authentication auth login
kg kilogram kilograms kilo kilos
km kilometer kilometers kilometre kilometres
ms millisecond milliseconds
mg milligram milligrams
gb gigabyte gigabytes
minute min mins
hour hr hrs
dollar dollars usd bucks buck
euro euros eur
pound pounds lb lbs gbp
percent percentage
programme program
centre center
theatre theater
organise organize
organisation organization
practise practice
adopt adopted rescue rescued
join joined
donate donated donation
volunteer volunteering
guitar guitarist
violin violinist
piano pianist
drum drummer
photography photographer
bank banker banking
science scientist
therapist therapy counselling counseling
wake wakes waking awake
move relocate relocated moved moves
recommend suggest suggested recommended recommendation
ask asked request requested asks
participate participated participation
exercise workout
tv television
us usa america
uk britain
postgres postgresql
javascript js
typescript ts
kubernetes k8s
authenticate authenticated
hobby hobbies pastime
injure injured hurt injury
accident crash
beautiful gorgeous lovely
delicious tasty
great amazing wonderful fantastic awesome excellent
relax relaxing relaxed calm calming relaxation
stress stressed stressful
tired exhausted
nervous anxious anxiety worried worry
proud pride
support supports supporting supported fan supporter
customer client
friend friends pal buddy
colleague coworker teammate
dog dogs puppy pup
cat cats
baby infant
wedding marriage
graduate graduated graduation
compare compared comparison
meeting meetings
university college
school schools
exam examination
holiday vacation
supper dinner
ocean sea
forest woods
shelter shelters
hike hiked hiking hikes
camp camped camping
mountain mountains
music musical musician
knit knitting knitted
bed bedtime
remote remotely
schedule scheduled
merge merged
review reviewed
expire expires expiry expiration
renew renewed renewal
born birth birthday birthdate
assign assigned assignee
owner ownership
nickname alias
called named name
opinion view
decide decided decision
agree agreed agreement
explain explained explanation
inspire inspired inspiration inspiring
encourage encouraged encouragement
appreciate appreciated appreciation grateful thankful gratitude
remind reminded reminder
discuss discussed discussion
celebrate celebrated celebration
perform performed performance
collect collected collection
invite invited invitation
complain complained complaint
improve improved improvement
prepare prepared preparation
train trained trainer
hope hoped hopes
share shared sharing
"""
CLASSES = tuple(tuple(line.split()) for line in _classes.strip().splitlines())

# Several words for one. The left side is matched after contractions are spelled out and
# hyphens are spaces; empty on the right: it says nothing.
PHRASES = {
    "work from home": "work remote",
    "works from home": "works remote",
    "working from home": "working remote",
    "get up": "wake",
    "gets up": "wakes",
    "wake up": "wake",
    "wakes up": "wakes",
    "woke up": "woke",
    "can not stand": "hate",
    "could not stand": "hated",
    "can not bear": "hate",
    "do not care for": "dislike",
    "does not care for": "dislikes",
    "crazy about": "loves",
    "keen on": "likes",
    "fond of": "likes",
    "know how to": "can",
    "able to": "can",
    "capable of": "can",
    "would like to": "wants to",
    "would love to": "wants to",
    "hopes to": "wants to",
    "laid off": "jobless",
    "let go from": "jobless",
    "lost job": "jobless",
    "lose job": "jobless",
    "had baby": "birthed",
    "does not eat meat": "is vegetarian",
    "do not eat meat": "be vegetarian",
    "vs code": "vscode",
    "visual studio code": "vscode",
    "github actions": "githubactions",
    "gitlab ci": "gitlabci",
    "firebase auth": "firebaseauth",
    "would rather have": "prefers",
    "would rather": "prefers",
    "would prefer": "prefers",
    "made redundant": "jobless",
    "broke up": "separated",
    "break up": "separated",
    "split up": "separated",
    "passed away": "died",
    "gave birth to": "birthed",
    "took part in": "participated in",
    "take part in": "participate in",
    "takes part in": "participates in",
    "taking part in": "participating in",
    "takes place": "is",
    "take place": "is",
    "took place": "was",
    "taking place": "is",
    "stands at": "is",
    "amounts to": "is",
    "comes to": "is",
    "e mail": "email",
    "phone number": "phone",
    "telephone number": "phone",
    "cell phone": "phone",
    "mobile phone": "phone",
    "email address": "email",
    "date of birth": "birthday",
    "due date": "deadline",
    "time zone": "timezone",
    "new york city": "nyc",
    "new york": "nyc",
    "united states": "usa",
    "united kingdom": "uk",
    "bed time": "bedtime",
    "goes to bed": "bedtime is",
    "went to": "visited",
    "going for": "doing",
    "a lot of": "",
    "lots of": "",
    "kind of": "",
    "a bit": "",
    "as well": "",
    "at the moment": "currently",
    "right now": "now",
    "these days": "nowadays",
    "from now on": "now",
    "for now": "now",
    "as of": "now",
    "after all": "now",
    "in favor of": "infavorof",
    "in favour of": "infavorof",
    "instead of": "insteadof",
    "rather than": "insteadof",
    "taking over": "become",
    "took over": "became",
    "takes over": "becomes",
    "taken over": "become",
    "step down": "resign",
    "stepped down": "resigned",
    "push back": "postpone",
    "pushed back": "postponed",
    "bring forward": "postpone",
    "brought forward": "postponed",
    "put off": "postponed",
    "moved up": "postponed",
    "goes up": "rises",
    "went up": "rose",
    "gone up": "rose",
    "going up": "rising",
    "goes down": "falls",
    "went down": "fell",
    "gone down": "fell",
    "is up to": "rose to",
    "is down to": "fell to",
    "are up to": "rose to",
    "are down to": "fell to",
    "is back to": "fell to",
    "is back up": "is online",
    "is up": "is online",
    "is down": "is offline",
    "are down": "is offline",
    "turned on": "enabled",
    "turned off": "disabled",
    "switched on": "enabled",
    "switched off": "disabled",
    "is on hold": "is paused",
    "in progress": "ongoing",
    "under way": "ongoing",
    "set to": "is",
    "called off": "cancelled",
    "call off": "cancel",
    "gave up on": "quit",
    "gave up": "quit",
    "given up": "quit",
    "giving up": "quitting",
    "give up": "quit",
    "gives up": "quit",
    "no longer": "nolonger",
    "not anymore": "nolonger",
    "not any more": "nolonger",
    "not any longer": "nolonger",
    "any more": "anymore",
    "any longer": "anymore",
    "used to be": "usedto be",
    "got rid of": "sold",
    "get rid of": "sell",
    "traded in": "sold",
    "swapped out": "replaced",
    "phased out": "stopped",
    "out of work": "jobless",
    "in charge of": "responsible for",
    "second hand": "used",
    "has lunch": "eats lunch",
    "has dinner": "eats dinner",
    "has breakfast": "eats breakfast",
    "every night": "nightly",
    "each night": "nightly",
    "back up": "backup",
    "backed up": "backup",
    "backs up": "backup",
    "been to": "visited",
    "generally available": "released",
    "for the first time": "",
    "brothers and sisters": "siblings",
    "pull request": "pr",
    "pull requests": "pr",
    "merge request": "pr",
    "software developer": "software engineer",
    "works out": "exercises",
    "work out": "exercise",
    "lets go of": "dismisses",
    "shaved off": "removed",
    "threw away": "removed",
    "threw out": "removed",
    "is looking forward to": "anticipates",
    "looks forward to": "anticipates",
    "is excited about": "anticipates",
    "takes care of": "cares for",
    "take care of": "care for",
    "taking care of": "caring for",
    "is in love with": "loves",
    "makes use of": "uses",
    "depends on": "needs",
    "relies on": "needs",
    "is made of": "contains",
    "consists of": "contains",
    "is responsible to": "reports to",
    "has difficulty": "has trouble",
    "struggles with": "has trouble with",
    "between jobs": "jobless",
    "found work": "got job",
    "has come to": "now",
    "have come to": "now",
    "changed mind and": "instead",
    "grew up": "grewup",
    "grown up": "grewup",
    "born and raised": "grewup",
    "was raised in": "grewup in",
    "raised in": "grewup in",
    "expecting a baby": "pregnant",
    "expecting a child": "pregnant",
    "is a member of": "belongs to",
    "a member of": "belonging to",
    "big fan of": "loves",
    "huge fan of": "loves",
    "is passionate about": "has passion for",
    "passionate about": "passion for",
    "out of": "outof",
    "each day": "daily",
    "every day": "daily",
    "per day": "daily",
    "a day": "daily",
    "each week": "weekly",
    "every week": "weekly",
    "per week": "weekly",
    "a week": "weekly",
    "each month": "monthly",
    "every month": "monthly",
    "per month": "monthly",
    "a month": "monthly",
    "each year": "yearly",
    "every year": "yearly",
    "per year": "yearly",
    "a year": "yearly",
    "a pair of": "2",
    "a couple of": "2",
    "a dozen": "12",
    "not only": "",
    "such as": "as",
    "because of": "because",
    "due to": "because",
    "years old": "yearsold",
    "year old": "yearsold",
    "years of age": "yearsold",
    "the age of": "yearsold",
    "vegan diet": "vegan",
    "vegetarian diet": "vegetarian",
    "plant based diet": "vegan",
    "gluten free diet": "glutenfree",
    "eats meat": "is omnivore",
    "eating meat": "is omnivore",
    "eat meat": "be omnivore",
    "not married": "single",
    "in a relationship": "dating",
    "seeing someone": "dating",
    "better than": "over",
    "more than": "over",
    "compared to": "over",
    "data base": "database",
    "code editor": "editor",
    "text editor": "editor",
    "continuous integration": "ci",
    "time off": "holiday",
}

# They carry little of the meaning: a paraphrase may lack them.
LIGHT = frozenset(
    """
    have get make do go take be use person people thing time kind type sort way lot work
    activity language time place spot tool system service app application software project one
    something someone really very quite also too even time account name call keep different various
    certain own general overall city town english whole entire number amount total level
    play hold give wear issue session provider platform want try plan hope prefer team university inc ltd corporation company restaurant cafe group
    """.split()
)

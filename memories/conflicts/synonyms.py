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
get got gotten obtain receive acquire acquired obtained received receives
own possess owned owning
big large huge
small little tiny
favorite favourite favorites fave
color colour colored coloured
car vehicle automobile
apartment flat
house home
movie film movies films
child children kid kids
mother mom mum mam
father dad daddy
grandmother grandma granny nan
grandfather grandpa granddad
doctor physician
teach taught teacher teaches tutor tutored tutoring
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
job position occupation employment employ employed employs
rewrite rewrote rewritten
employee employees staff personnel workforce
boss manager supervisor
company firm business corporation enterprise
repair fix fixed repaired
help assist helped
show display displayed
search look seek seeking searching looking looked
find found
need require required requires necessary
many plenty
quick fast rapid
happy glad pleased
sad unhappy upset
afraid scared fear fearful terrified fears frightened frighten scare terrify
angry mad
interest interested fascinate fascinated fascinating
important crucial vital essential
difficult hard tough challenging
easy simple
visit visited attend attended attends
run ran running jog jogging
bike bicycle cycle cycling
picture photo photograph photographed
gift present gifts
shop store
folder directory
bug defect
error failure
deadline due
price cost costs costing
email mail
phone telephone mobile cellphone phoned
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
clean tidy cleaned cleaning
remove delete removed deleted
check verify validate
attempt try tried trying
lawyer attorney solicitor barrister
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
contain include contains includes included
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
wallet purse handbag
luggage baggage suitcase
pain ache
headache headaches
frequent frequently often regularly
rarely seldom
pretty cute
glasses spectacles
overcome overcame
answer reply response respond answered replied responded
short concise brief
detailed thorough verbose
long lengthy
order ordered
talented skilled
allergy allergic
vegetarian veggie
shoot filming
garden gardening
paint painting painted painter
draw drew drawn drawing
write wrote written writing
read reading
sing sang sung singing
swim swam swum swimming swimmer
ski skied skiing
drive drove driven driving
ride rode ridden
eat ate eaten eating
drink drank drunk drinking
sleep slept sleeping
cook cooked cooking chef
bake baked baking
dance danced dancing
win won winning
lose lost losing
sell sold selling
leave left leaves depart departs departed departure
arrive arrives arrival
meet met
lesson class course courses
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
bring brought brings
pay paid
spend spent
send sent
lead led leader
grow grew grown
fly flew flown flight plane airplane
break broke broken fracture fractured
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
organise organize organized organised organizes organises
organisation organization
practise practice
adopt adopted rescue rescued
join joined
donate donated donation
volunteer volunteering volunteered
guitar guitarist
violin violinist
piano pianist
drum drummer
photography photographer
bank banker banking
science scientist researcher scientists
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
accident crash crashed
beautiful gorgeous lovely
delicious tasty
great amazing wonderful fantastic awesome excellent
relax relaxing relaxed calm calming relaxation
stress stressed stressful
tired exhausted
nervous anxious anxiety worried worry
proud pride
support supports supporting supported fan supporter
customer client customers clients
friend friends pal buddy
colleague coworker teammate colleagues
dog dogs puppy pup
cat cats
baby infant toddler
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
music musical musician musicians
knit knitting knitted
bed bedtime
remote remotely
schedule scheduled timetable
merge merged
review reviewed reviews
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
celebrate celebrated celebration festivity
perform performed performance
collect collected collection
invite invited invitation
complain complained complaint
improve improved improvement
prepare prepared preparation preparing
train trained trainer training
hope hoped hopes
share shared sharing
author writer novelist
beginner newbie novice
expert proficient skilful
reachable accessible available online
retro retrospective
birthplace birthtown
pregnant expecting
happen occur occurs happens
save saved saving
grocery groceries
laptop notebook laptops
stomach belly tummy
couple pair
argue argued quarrel quarrelled fight fought
hurry rush
neighbour neighbor
lazy idle
brave courageous
strange odd weird
famous wellknown renowned
silent quiet
amount sum
area region district neighbourhood neighborhood
bill invoice
biscuit cookie
candy sweets
cab taxi
chips fries crisps
cellar basement
clothes clothing apparel garments
correct right accurate
danger risk hazard
dish meal
evening evenings
farm ranch
flatmate roommate housemate
garage carport
grandparents grandparent
guest visitor
gym fitness
hairdresser barber
hospital clinic
hotel inn
idea concept notion
illness disease sickness nausea
ill sick unwell
injection shot vaccination vaccine vaccinated
jacket coat
jeans trousers pants
journalist reporter
kitchen kitchens
landlord landlady
language languages
letter letters
list lists
magazine journal
market marketplace
mistake mistaken slip
mortgage loan
nurse nurses
nut nuts
parents parent
pavement sidewalk
pharmacy chemist drugstore
player players play played plays
police policeman
priest pastor vicar
pupil schoolkid
queue line
railway railroad
recipe recipes
rock stone
rucksack backpack
seaside coast shore beach
secretary assistant
singer vocalist
soccer football
stairs staircase
story tale
suburb outskirts
sweater jumper pullover
tap faucet
tent tents
tourist traveller traveler
town city
trainers sneakers
tree trees
underground subway metro tube
vegetable vegetables veg
village villages
server servers
wardrobe closet
weekend weekends
winter winters
accelerate speed quicken
accept accepted acceptance
alter alters amend modify modified adjust adjusted tweak
announce announced announcement
annoy annoyed irritate irritated bother bothered
apply applied application
approve approved approval
arrange arranged arrangement
assemble assembled
avoid avoided avoids
beat defeat defeated
calculate compute computed
cancel cancelled canceled cancellation
carry carried
cause caused
climb climbed climbing climber
close shut closed shuts
combine combined
compose composed composer
conceal hide hid hidden
connect connected connection
consume consumed consumption
continue continued keeps
convince persuade persuaded convinced
crave craving
cure heal healed
dig dug
discard dispose
dislike disliked
earn earned earns
educate educated education
end ended ending
entertain entertained
enter entered entry
examine inspect inspected
expand extend extended extension
fail failed failing
fetch retrieve
follow followed follows
forbid forbidden
forget forgot forgotten
gain gained
guide guided
harm damage damaged
hunt hunted hunting
ignore ignored
imitate copy
import imported
increase increased raise raised
inform notify notified notification
inherit inherited inheritance
insist insisted
install installed installation
instruct instructed instruction
introduce introduced
invent invented
invest invested investment
jump jumped
kiss kissed
knock knocked
launch launched
laugh laughed
lend lent
limit limited restrict restricted cap capped
listen listened
lock locked
log logged logs
maintain maintained maintenance
manage managed manages
measure measured
mend mended
miss missed
mix mixed
notice noticed
occupy occupied
offer offered
operate operated
pass passed
pour poured
praise praised
pray prayed prayer
predict predicted forecast
prefer preferred preference prefers
pretend pretended
prevent prevented
print printed
produce produced production
promise promised
promote promoted promotion
protect protected protection
prove proved proof
provide provided provides supply supplied
publish published publication
push pushed
rain rained rainy
reach reached
realize realized
record recorded recording
reduce reduced decrease decreased cut
refuse refused decline declined
register registered registration
regret regretted
reject rejected rejection
release released
rely relied reliance
remember remembered recall recalled
replace replaced replacement
report reported
represent represented
reserve reserved reservation booked booking
resign resigned resignation
return returned returns
reveal revealed
reward rewarded
rob robbed
roll rolled
sail sailed sailing sailor
sailboat sailingboat yacht
sew sewed sewing
shave shaved
shout yell yelled
sign signed signature
skate skated skating skater
smile smiled
smoke smoked smoking smoker
snow snowed
solve solved solution resolve resolved
spread spreads
stay stayed stays
steal stole stolen theft
stir stirred
stretch stretched
struggle struggled struggling
succeed succeeded success
sue sued lawsuit
suffer suffered suffering
surf surfed surfing surfer
surprise surprised
survive survived
switch switched
taste tasted
tattoo tattoos tattooed
touch touched
trade traded trading
translate translated translation translator
treat treated treatment
trust trusted
vote voted voting
wait waited waiting await
walk walked walking stroll
wash washed washing
waste wasted
water watered
weigh weighed
welcome welcomed
whistle whistled
worship worshipped
wrap wrapped
allotment plot
endpoint route
function method
feature features
password passphrase
pipeline workflow
token tokens
variable variables
warning warnings
website site webpage
smartphone handset
frontend ui
quarter quarterly
headquarters hq
supplier vendor
paralegal paralegals
accountant bookkeeper
carpenter woodworker joiner
dentist orthodontist
farmer grower
gardener horticulturist
plumber plumbing
programming coding
engineer engineering
cello cellist
flute flautist flutist
oboe oboist
trumpet trumpeter
saxophone saxophonist
harp harpist
bass bassist
seasick seasickness
asthma asthmatic
diabetes diabetic
dyslexia dyslexic
insomnia insomniac
migraine migraines
vegan plantbased
jewish judaism
muslim islam
catholic catholicism
buddhist buddhism
christian christianity
italian italy
french france
german germany
spanish spain
japanese japan
chinese china
polish poland
swedish sweden
norwegian norway
danish denmark
dutch netherlands holland
portuguese portugal
greek greece
turkish turkey
russian russia
korean korea
indian india
brazilian brazil
mexican mexico
irish ireland
scottish scotland
fish fishing fished
parcel package
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
    "would like": "wants",
    "has not eaten meat": "is vegetarian",
    "has not had meat": "is vegetarian",
    "never eats meat": "is vegetarian",
    "eats no meat": "is vegetarian",
    "does not eat any meat": "is vegetarian",
    "coffee shop": "cafe",
    "was fired": "is jobless",
    "got fired": "is jobless",
    "was sacked": "is jobless",
    "science fiction": "scifi",
    "sci fi": "scifi",
    "part time": "parttime",
    "full time": "fulltime",
    "half days": "parttime",
    "dropped support for": "stopped supporting",
    "drops support for": "stops supporting",
    "ended support for": "stopped supporting",
    "drop out of": "quit",
    "dropped out of": "quit",
    "pull out of": "quit",
    "pulled out of": "quit",
    "backed out of": "quit",
    "withdrew from": "quit",
    "fell through": "was cancelled",
    "falls through": "is cancelled",
    "is off": "is cancelled",
    "moved out of": "left",
    "moved in with": "lives with",
    "moved out": "left",
    "handed over": "left",
    "stepped back from": "left",
    "stepped away from": "left",
    "walked away from": "left",
    "parted ways with": "left",
    "gave away": "donated",
    "gave back": "returned",
    "paid off": "repaid",
    "is over": "is finished",
    "came back from": "returned from",
    "got back from": "returned from",
    "is back from": "returned from",
    "got over": "overcame",
    "grew out of": "overcame",
    "took in": "adopted",
    "took up": "started",
    "takes up": "starts",
    "signed up for": "joined",
    "enrolled in": "joined",
    "shut down": "closed",
    "turned down": "rejected",
    "turned into": "became",
    "carried out": "did",
    "carries out": "does",
    "looks after": "cares for",
    "looked after": "cared for",
    "is in touch with": "talks to",
    "putting money aside": "saving",
    "puts money aside": "saves",
    "set aside": "saved",
    "is short of": "lacks",
    "runs out": "expires",
    "ran out": "expired",
    "comes from": "is from",
    "originally from": "from",
    "hails from": "is from",
    "at most": "",
    "at least": "",
    "no more than": "",
    "new to": "beginner in",
    "is good at": "is skilled in",
    "is bad at": "is unskilled in",
    "has a fear of": "fears",
    "has a phobia of": "fears",
    "has a crush on": "loves",
    "has trouble sleeping": "has insomnia",
    "can not sleep": "has insomnia",
    "every other": "every 2nd",
    "every two": "every 2nd",
    "sick of": "tired of",
    "fed up with": "tired of",
}

# They carry little of the meaning: a paraphrase may lack them.
LIGHT = frozenset(
    """
    have get make do go take be use person people thing time kind type sort way lot work
    activity language time place lesson called product most biggest spot tool system service app application software project one
    something someone really very quite also too even time account name call keep different various
    certain own general overall city town whole entire number amount total level
    play hold give wear issue session provider platform want try plan hope prefer team university inc ltd corporation company restaurant cafe group
    """.split()
)

"""Events that end what was true: rows of data, read by `implied_ends`.

A phrase is matched by its roots, in this order, with up to three words between two of them; `a|b`
is either word. `a+b` are two words that count as one where they stand side by side.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ImpliedEnd:
    """An event, told by one of the `phrases`, and what is then over for its subject: statements
    with one of the words `ends`, or with one of the attributes `slots`; without `ends`, whatever is
    told of the subject. `of_thing`: only if both name the same thing. `is_sure`: the old statement
    is replaced; else a person is asked.

    Examples are pairs (before, after) that end, counter-examples pairs that do not.
    """

    name: str
    phrases: str
    ends: str
    examples: tuple[tuple[str, str], ...]
    counter_examples: tuple[tuple[str, str], ...] = ()
    slots: str = ""
    of_thing: bool = False
    is_sure: bool = False


_partner = "engaged fiance dating boyfriend girlfriend partner husband wife married together couple"
_owning = "have own drive ride use keep wear rent car bike phone laptop computer tablet camera watch"
IMPLIED_ENDS = (
    ImpliedEnd(
        "breakup",
        "broke up, split up, separated, divorce, divorce|engagement|marriage|relationship|wedding is|"
        "was over|final|off, call|called off wedding|engagement, dumped",
        _partner,
        examples=(("Ada is engaged to Jens", "Ada and Jens split up"),),
        counter_examples=(("Ada is married to Jens", "Ada's colleague got divorced"),),
        slots="spouse fiance boyfriend relationship",
        is_sure=True,
    ),
    ImpliedEnd(
        "wedding",
        "got married, get|getting married, tied knot, married, wedding was, eloped",
        "single engaged fiance divorced widowed dating boyfriend girlfriend",
        examples=(("Ada is single", "Ada and Jens got married on Saturday"),),
        counter_examples=(("Ada is a nurse", "Ada and Jens got married"),),
    ),
    ImpliedEnd(
        "engagement",
        "proposed, got engaged, engaged, said yes",
        "single dating boyfriend girlfriend",
        examples=(("Ada is dating Jens", "Ada got engaged to Jens"),),
    ),
    ImpliedEnd(
        "birth",
        "gave birth, birthed, baby|child|son|daughter|twins was born, had twins|baby|boy|girl,"
        " became father|mother|parents|dad|mum|mom",
        "pregnant expecting expects childless due",
        examples=(("Ada is pregnant", "Ada had twins on Monday"),),
        counter_examples=(("Ada likes jazz", "Ada had twins on Monday"),),
        is_sure=True,
    ),
    ImpliedEnd(
        "another child",
        "gave birth, birthed, baby|child|son|daughter|twins was born, had twins|baby|boy|girl",
        "child children kids",
        examples=(("Ada has two children", "Ada gave birth to a boy"),),
        counter_examples=(("Ada has two cats", "Ada gave birth to a boy"),),
    ),
    ImpliedEnd(
        "death",
        "died, passed away, put down, put sleep, lost to|battle, buried",
        "have live own sleep ill sick care walk feed dog cat pet horse parrot hamster rabbit alive call"
        " name tortoise turtle goldfish gerbil pony canary budgie ferret",
        examples=(
            ("Ada's dog Bo sleeps in the hall", "Ada had to put Bo down"),
            ("Ada's turtle is called Bo", "Ada and others buried Bo in the garden"),
        ),
        counter_examples=(("Ada has a dog called Bo", "The neighbour's cat died"),),
        of_thing=True,
        is_sure=True,
    ),
    ImpliedEnd(
        "pet gone",
        "ran away|off, flew away|off, went missing, disappeared, never came back|home",
        "have own dog cat pet horse parrot hamster rabbit tortoise budgie canary ferret",
        examples=(("Ada has a parrot", "Ada's parrot flew away in May"),),
        counter_examples=(("Ada has a parrot", "Ada's cat ran away in May"),),
        of_thing=True,
    ),
    ImpliedEnd(
        "job lost",
        "laid off, fired, sacked, made redundant, quit job, lost job, resigned, let go from|by,"
        " handed in|over notice|resignation, last day at work|job, left company|job",
        "work works job employed intern employer shift position",
        examples=(("Ada works at Equinor", "Ada was made redundant"),),
        counter_examples=(("Ada works at Equinor", "Ada resigned from the chess club"),),
        slots="employer job hours",
        is_sure=True,
    ),
    ImpliedEnd(
        "job found",
        "signed contract, got job|position, found job|work, accepted offer|job|position, hired,"
        " started new job, offered permanent contract|position, offered contract|job",
        "unemployed jobless job intern internship freelance temp",
        examples=(("Ada is looking for a job", "Ada signed a contract with Equinor"),),
        counter_examples=(("Ada is looking for a flat", "Ada signed a contract with Equinor"),),
        is_sure=True,
    ),
    ImpliedEnd(
        "firm closed",
        "went bankrupt|bust|under, closed down, shut down, is|was bankrupt, ceased, folded",
        "work works job employed run own manage study intern train shop member",
        examples=(("Ada works for Statkraft", "Statkraft went bankrupt"),),
        counter_examples=(("Ada works for Equinor", "Statkraft went bankrupt"),),
        of_thing=True,
    ),
    ImpliedEnd(
        "promotion",
        "promoted, got promotion, got promoted, moved up to, made head|lead|manager|partner|director",
        "assistant junior trainee intern deputy associate second",
        examples=(("Ada is a junior designer", "Ada got promoted today"),),
        counter_examples=(("Ada is a nurse", "Ada was promoted to level 9 in the game"),),
    ),
    ImpliedEnd(
        "retirement",
        "retired, went into retirement, drew pension",
        "work works job employed",
        examples=(("Ada works at Equinor", "Ada retired in May"),),
        counter_examples=(("Ada lives in Oslo", "Ada retired in May"),),
        slots="employer job hours",
        is_sure=True,
    ),
    ImpliedEnd(
        "studies over",
        "graduated, got degree|diploma|phd|doctorate, finished degree|studies|phd|school|university,"
        " handed in thesis|dissertation, defended thesis|dissertation, submitted thesis|dissertation,"
        " passed finals, dropped out",
        "student study studies studying degree phd university college thesis dissertation master",
        examples=(("Ada is doing a PhD", "Ada got her PhD"),),
        counter_examples=(("Ada is a nurse", "Ada graduated in May"),),
        slots="school",
        is_sure=True,
    ),
    ImpliedEnd(
        "course over",
        "finished|completed treatment|therapy|physiotherapy|chemo|chemotherapy|radiotherapy|rehab|course|training|apprenticeship|internship|placement,"
        " treatment|therapy|physiotherapy|chemo|chemotherapy|radiotherapy|rehab|course|training|apprenticeship|internship|placement is|are finished|over|complete|done,"
        " discharged from",
        "treatment therapy physiotherapy chemo chemotherapy radiotherapy rehab course training"
        " apprenticeship internship apprentice intern placement trainee",
        examples=(("Ada has physiotherapy on Mondays", "Ada's physiotherapy is finished"),),
        counter_examples=(
            ("Ada has a piano", "Ada's physiotherapy is finished"),
            ("Ada trains for a marathon", "Ada's training is over"),
        ),
        of_thing=True,
        is_sure=True,
    ),
    ImpliedEnd(
        "studies begun",
        "started university|college, enrolled at university|college, began university|college",
        "pupil school gap",
        examples=(("Ada is in high school", "Ada started university in May"),),
    ),
    ImpliedEnd(
        "school begun",
        "started school, started first|primary grade|school|class, began school, starts school now, first day at|of school",
        "kindergarten nursery daycare preschool",
        examples=(("Ada's son goes to kindergarten", "Ada's son started school"),),
        counter_examples=(("Ada's son plays chess", "Ada's son started school"),),
    ),
    ImpliedEnd(
        "work resumed",
        "went|came|got back to work, returned to work, back at work",
        "leave maternity paternity parental sabbatical furlough",
        examples=(("Ada is on parental leave", "Ada went back to work on Monday"),),
        counter_examples=(("Ada is a nurse", "Ada went back to work on Monday"),),
        is_sure=True,
    ),
    ImpliedEnd(
        "day shift",
        "on|to day shift, on|to days, off night shift, off nights",
        "nights night",
        examples=(("Ada works nights", "Ada is on the day shift now"),),
        counter_examples=(("Ada works days", "Ada is on the day shift now"),),
        is_sure=True,
    ),
    ImpliedEnd(
        "night shift",
        "on|to night shift, on|to nights, off day shift",
        "days day",
        examples=(("Ada works the day shift", "Ada is on nights now"),),
        counter_examples=(("Ada works nights", "Ada is on the night shift now"),),
        is_sure=True,
    ),
    ImpliedEnd(
        "licence",
        "passed driving test, got licence|license, passed test",
        "learner permit",
        examples=(("Ada has a learner's permit", "Ada passed her driving test"),),
        counter_examples=(("Ada drives a Fiat", "Ada passed her driving test"),),
        is_sure=True,
    ),
    ImpliedEnd(
        "learned",
        "passed test|exam, got licence|license|certificate|diploma",
        "learning lessons practising studying preparing training",
        examples=(("Ada is learning to drive", "Ada passed her driving test"),),
        counter_examples=(("Ada is learning Danish", "Ada passed her driving test"),),
        of_thing=True,
        is_sure=True,
    ),
    ImpliedEnd(
        "healed",
        "healed, recovered, cured, walk normally|again, walking normally|again, came off, taken off,"
        " got off, has laser surgery, has laser eyes, lasered, discharged",
        "crutches cast injury injured ill sick broken sprained wheelchair glasses lenses braces"
        " brace bandage sling hospital limp",
        examples=(("Ada is on crutches", "Ada's leg has healed"),),
        counter_examples=(("Ada is a nurse", "Ada's leg has healed"),),
    ),
    ImpliedEnd(
        "moved out",
        "moved out, moved away, moved in with, emigrated, left home, has own place|flat|apartment,"
        " got own place|flat|apartment, found own place",
        "live lives stay stays share shares roommate flatmate neighbour neighbor lodger commute rent rents",
        examples=(("Ada lives with her aunt", "Ada moved out in May"),),
        counter_examples=(("Ada shares her notes with Bo", "Ada moved the desk"),),
        slots="household",
    ),
    ImpliedEnd(
        "went away",
        "moved to|away|abroad|back, emigrated, left country|town|city",
        "",
        examples=(("Ada plays chess with Bo", "Bo moved to Canada"),),
        counter_examples=(("Ada plays chess with Bo", "Kim moved to Canada"),),
        of_thing=True,
    ),
    ImpliedEnd(
        "home bought",
        "bought house|flat|apartment|home|place, got house|flat|apartment|keys, closed on house|flat",
        "rent rents renting tenant landlord looking waiting saving househunting",
        examples=(("Ada rents a flat in Oslo", "Ada bought a house in May"),),
        counter_examples=(("Ada rents out a boat", "Ada bought a new rug"),),
        is_sure=True,
    ),
    ImpliedEnd(
        "thing bought",
        "bought, got, found, received, picked up, treated myself",
        "saving save saves looking waiting waits searching need wishlist want wants",
        examples=(("Ada is saving for a kayak", "Ada bought the kayak"),),
        counter_examples=(("Ada is saving for a kayak", "Ada bought a paddle"),),
        of_thing=True,
        is_sure=True,
    ),
    ImpliedEnd(
        "thing gone",
        "sold, gave+away, gave+back, given+away, given+back, gave back|away|to, given back|away, handed+over, donated, returned, rehomed, wrote off, written off,"
        " totalled, totaled, crashed, stolen, lost my|their|his|her|our, threw out|away, died, traded in,"
        " passed on to",
        _owning,
        examples=(("Ada's car is a Fiat", "Ada's Fiat was written off"),),
        counter_examples=(
            ("Ada has a Fiat", "Ada lost her keys"),
            ("Ada rides her moped to work", "Ada's moped broke down"),
            ("Ada has a visa", "Ada handed her visa to the officer"),
        ),
        of_thing=True,
        is_sure=True,
    ),
    ImpliedEnd(
        "habit",
        "quit, stopped, gave up, given up, kicked, not since, clean since, sober since, had stop",
        "smoke smokes drink drinks eat eats bite bites gamble gambles vape volunteer volunteers play"
        " plays take takes practise practice do does attend attends go goes use uses run runs bake cook"
        " shop bank ride coach shoot keep commute cycle read write listen watch wear sing dance paint"
        " swim knit pay order put buy drive sew grow collect brew train",
        examples=(
            ("Ada smokes ten a day", "It is a month since Ada quit smoking"),
            ("Ada bakes ginger bread on Sundays", "Ada gave up ginger bread"),
        ),
        counter_examples=(
            ("Ada smokes ten a day", "Ada quit chess"),
            ("Ada writes a blog about bees", "Ada stopped writing letters"),
            ("Ada reads the Guardian", "Ada gave up reading the news on her phone"),
            ("Ada drinks coffee at breakfast", "Ada stopped drinking tea"),
        ),
        of_thing=True,
        is_sure=True,
    ),
    ImpliedEnd(
        "diet",
        "went|became|turned vegetarian|vegan, is vegetarian|vegan now, stopped eating meat",
        "meat steak beef pork chicken everything omnivore barbecue",
        examples=(("Ada eats meat every day", "Ada went vegetarian in spring"),),
        counter_examples=(("Ada likes tofu", "Ada went vegetarian"),),
        slots="diet",
    ),
    ImpliedEnd(
        "diet left",
        "back eating meat|fish|cheese|egg|dairy|chicken, eat|eating meat|fish|cheese|egg|dairy|chicken again,"
        " started eating meat|fish|cheese|egg|dairy|chicken",
        "vegan vegetarian",
        examples=(("Ada is vegan", "Ada has gone back to eating cheese"),),
        counter_examples=(
            ("Ada is vegan", "Ada went back to eating late"),
            ("Ada likes tofu", "Ada started eating fish"),
        ),
    ),
    ImpliedEnd(
        "smoking over",
        "quit|stopped|kicked smoking|cigarette|tobacco, gave up smoking|cigarette|tobacco, given up smoking|cigarette|tobacco",
        "smoker smoke smokes cigarette",
        examples=(("Ada is a smoker", "Ada gave up cigarettes for good"),),
        counter_examples=(("Ada smokes fish at the lake house", "Ada quit chess"),),
        is_sure=True,
    ),
    ImpliedEnd(
        "debt paid",
        "paid+off, paid+back, paid off, paid back, repaid, debt free, settled, cleared",
        "mortgage debt debts loan owe owes owing instalments",
        examples=(("Ada is in debt", "Ada paid back all her debts"),),
        counter_examples=(("Ada has a piano", "Ada paid back all her debts"),),
        is_sure=True,
    ),
    ImpliedEnd(
        "handed over",
        "took over, handed over, handed, replaced, successor, new director|captain|head|chair|lead,"
        " stepped down, stepped back, voted out",
        "captain director head chair president lead leader interim acting treasurer secretary"
        " coach conductor editor mayor captaincy",
        examples=(("Ada is the captain of the team", "Bo took over as captain of the team"),),
        counter_examples=(("Ada is a nurse", "Bo took over the shop"),),
        of_thing=True,
    ),
    ImpliedEnd(
        "fear lost",
        "got over, overcame, conquered, not afraid|scared",
        "afraid fear scared phobia",
        examples=(("Ada is afraid of dogs", "Ada got over her fear of dogs"),),
        of_thing=True,
        is_sure=True,
    ),
    ImpliedEnd(
        "came",
        "arrived, came through, was approved, got approved, was granted, was delivered",
        "waiting waits expecting ordered applied pending",
        examples=(("Ada is waiting for her visa", "Ada's visa arrived"),),
        counter_examples=(("Ada is waiting for her visa", "Ada's parcel arrived"),),
        of_thing=True,
        is_sure=True,
    ),
    ImpliedEnd(
        "cancelled",
        "cancelled, canceled, closed account, unsubscribed, ended, terminated, let lapse, expired",
        "subscription subscribe subscribes subscribed membership member account booking contract",
        examples=(("Ada has a subscription to Time", "Ada cancelled her subscription to Time"),),
        counter_examples=(("Ada has a subscription to Time", "Ada cancelled her trip"),),
        of_thing=True,
        is_sure=True,
    ),
)


LIFE = frozenset(
    (
        "breakup",
        "wedding",
        "engagement",
        "birth",
        "death",
        "job lost",
        "job found",
        "firm closed",
        "promotion",
        "retirement",
        "smoking over",
        "course over",
        "studies over",
        "licence",
        "moved out",
        "home bought",
        "debt paid",
    )
)

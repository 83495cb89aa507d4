"""Attributes of which a thing, a place or a team has one value at a time. Data only."""

from memories.english.statements.attribute_forms import SlotForm

OF_THINGS = (
    SlotForm(
        "place",
        ("{s} be at|in|on {v}", "{s} locate|situate at|in|on {v}"),
        examples=(("The office is on Baker Street", ("offic", "place", "", "baker street")),),
        counter_examples=("The office is on a hill", "The party is on Friday"),
        values="*",
    ),
    SlotForm(
        "place",
        ("{s} move|relocate to {v}",),
        examples=(("The fair moved to Camden", ("fair", "place", "", "camden")),),
        values="*",
        is_change=True,
    ),
    SlotForm(
        "deadline",
        (
            "{s} be? deadline on|by|at? {v}",
            "deadline for|of {s} be on|by? {v}",
            "{s} 's deadline be on|by? {v}",
            "deadline for|of {s} @ {v}",
            "{s} deadline be on|by? {v}",
        ),
        examples=(
            ("The essay is due on Friday", ("essay", "deadline", "", "friday")),
            ("The deadline for the essay is Friday", ("essay", "deadline", "", "friday")),
        ),
        counter_examples=("The essay is due to a mistake",),
        values="@",
    ),
    SlotForm(
        "price",
        ("{s} cost {v}", "price of|for {s} be {v}", "{s} price be {v}", "{s} 's price be {v}"),
        examples=(("The pass costs 40 euros", ("pass", "price", "", "40 euro")),),
        values="#",
    ),
    SlotForm(
        "price",
        ("{s} price @ {v}", "price of|for {s} @ {v}", "{s} 's price @ {v}"),
        examples=(("The price of the pass rose to 45 euros", ("pass", "price", "", "45 euro")),),
        values="#",
        is_change=True,
    ),
    SlotForm(
        "price",
        ("{s} pay {v} for {k}",),
        examples=(
            ("Ada pays 40 euros a month for the gym", ("ada-gym", "price", "", "40 euro month")),
        ),
        counter_examples=("Ada paid 40 euros for the gym",),
        values="$",
        is_joined=True,
    ),
    SlotForm(
        "language",
        ("{s} write in {v}", "{v} be language of {s}", "{s} 's language be {v}"),
        examples=(("The parser is written in Rust", ("parser", "language", "", "rust")),),
        counter_examples=("The letter is written in blue ink",),
        values="*",
    ),
    SlotForm(
        "language",
        ("{s} rewrite in {v}", "{s} port to {v}"),
        examples=(("The parser was rewritten in Zig", ("parser", "language", "", "zig")),),
        values="*",
        is_change=True,
    ),
    SlotForm(
        "owner",
        (
            "{s} own|lead|maintain|manage|handle|run|coordinate|oversee by {v}",
            "{v} be owner|maintainer of {s}",
            "{s} 's owner be {v}",
        ),
        examples=(("The parser is owned by Liv", ("parser", "owner", "", "liv")),),
        values="*",
    ),
    SlotForm(
        "owner",
        ("{v} be responsible for {s}",),
        examples=(("Liv is responsible for parsing", ("pars", "owner", "", "liv")),),
    ),
    SlotForm(
        "owner",
        ("{v} own|lead|maintain|manage|oversee|head|coordinate {s}", "{v} become {s}"),
        examples=(
            ("Liv maintains the parser", ("parser", "owner", "", "liv")),
            ("Bo took over the parser", ("parser", "owner", "", "bo")),
        ),
        counter_examples=(
            "Liv maintains a parser",
            "Liv fears the parser",
            "Liv runs the marathon",
        ),
        is_change=True,
        of_known=True,
    ),
    SlotForm(
        "assignee",
        ("{s} assign|reassign to {v}", "{v} be assign of {s}", "{v} work on ticket {s}"),
        examples=(("Ticket 12 was reassigned to Liv", ("12-ticket", "assignee", "", "liv")),),
        is_change=True,
        values="*",
    ),
    SlotForm(
        "role",
        (
            "{v} be {k} of|at|for {s}",
            "{v} become|be as? {k} of|at|for {s}",
            "{v} replace {x} as {k} of|at|for {s}",
            "{v} name|appoint|elect {k} of|at|for {s}",
        ),
        examples=(
            ("Liv is the tech lead of the parser", ("parser", "role", "lead-tech", "liv")),
            ("Liv took over as CEO of Yara", ("yara", "role", "ceo", "liv")),
        ),
        counter_examples=("Liv is a fan of Yara",),
        is_change=True,
    ),
    SlotForm(
        "role",
        ("{s} 's {k} be {v}", "{k} of {s} be {v}"),
        examples=(("Yara's CEO is Liv", ("yara", "role", "ceo", "liv")),),
    ),
    SlotForm(
        "plan",
        ("{s} be on {v} plan|tier", "{s} @ {v} plan|tier", "{s} downgrade|move to {v} plan|tier"),
        examples=(("Ada upgraded to the Pro plan", ("ada", "plan", "", "pro")),),
        is_change=True,
    ),
    SlotForm(
        "name",
        ("{s} be call|name {v}", "{s} 's name be {v}", "name of {s} be {v}"),
        examples=(("The default branch is called trunk", ("branch-default", "name", "", "trunk")),),
        counter_examples=("Ada called Liv", "Ada called the plumber"),
    ),
    SlotForm(
        "name",
        ("{s} rename to? {v}", "{s} rename {k} to {v}"),
        examples=(("The branch was renamed to main", ("branch", "name", "", "main")),),
        is_change=True,
    ),
)

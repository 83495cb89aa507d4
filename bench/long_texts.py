"""Texts of any length that were not written to be read, and one that was."""

PROSE = (
    "I moved to Lisbon in March because my wife got a job there. We love the sea, and our dog too!"
    ' She said: I will never eat meat again. "I like it. It is quiet." My sister Anna, who works as'
    " a nurse, visited us last week; it rained. Do you remember the flat? The rent is 900 euros.\n"
)
PIECES = {
    "x": "x ",
    "prose": PROSE,
    "one sentence": "and then we went to the market and my brother told me to buy the red one ",
    "short lines": "I like tea, no 7, and my old boat too, it is\n",
    "deep quotes": "".join(f"{'>' * depth} I like my cat\n" for depth in range(1, 31)),
}


def text_of(kind: str, size: int) -> str:
    """`size` characters of a kind; of short lines there are about 200,000 in 9.5 million."""
    piece = PIECES[kind]
    return (piece * (size // len(piece) + 1))[:size]

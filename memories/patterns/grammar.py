"""Pieces of patterns that several categories share. Patterns see clauses as reading.py leaves them."""

from memories.patterns.morphology import ADVERB

SUBJECT = r"^(?:I|we|my \w+ and I|me and my \w+|my family and I) "
S = rf"{SUBJECT}{ADVERB}"
AM = rf"(?:am|are|was|were|have been|'re) {ADVERB}"
SOME = r"(?:an?|the|my|our|some|this|these|two|three|four|five|six|seven|eight|nine|ten|\d+|several|many|few|lots of|a lot of|another|new|both|no)"
NOT = r"(?:(?:don't|do not|doesn't|didn't|did not|can't|couldn't|never|won't|wouldn't|haven't) )?"
KIN = (
    r"(?:sisters?|brothers?|siblings?|mom|mum|mama|mother|dad|father|parents?|wife|husband|partner|spouse"
    r"|fianc[eé]e?|girlfriend|boyfriend|sons?|daughters?|kids?|child(?:ren)?|baby|grand\w+|uncles?|aunts?"
    r"|auntie|cousins?|nephews?|nieces?|family|in-laws|ex(?:-\w+)?|twins?)"
)
PEOPLE = (
    r"(?:friends?|best friends?|buddy|buddies|mate|roommates?|flatmates?|boss|manager|coworkers?|co-workers?|colleagues?"
    r"|teammates?|teacher|professor|coach|mentor|therapist|doctor|dentist|lawyer|neighbou?rs?|landlord"
    r"|students?|clients?|customers?|team|employees?|crew|band|church|community|supervisor|assistant)"
)
PETS = r"(?:dogs?|cats?|pets?|pupp(?:y|ies)|pups?|kittens?|kitty|rabbit|hamster|parrot|horse|fish|turtle|bird|guinea pigs?|snake|lizard|chickens?)"
THING = (
    r"(?:car|bike|bicycle|motorbike|motorcycle|truck|van|boat|house|home|apartment|flat|condo|garden|room|desk|studio"
    r"|store|shop|business|company|startup|phone|laptop|computer|pc|tablet|camera|guitar|piano|violin|drums"
    r"|watch|glasses|collection|library|kitchen|garage|yard|office|website|blog|channel|podcast|server|printer|console|account)"
)

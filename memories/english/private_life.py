"""Whether a sentence tells of somebody's private life: what no team decides."""

import re

_private_life = re.compile(
    r"\b(?:divorc\w*|separat(?:e|ed|ing) (?:from|legally|for good|after)|break(?:ing)? up|broke up|marri(?:ed|age)|marry(?:ing)?|engaged|wedding|honeymoon"
    r"|elop\w+|prenup\w*|husband|wife|wives|spouse|fianc\w+|boyfriend|girlfriend|in-laws?|mother|father|mum|mom|dad|parents?"
    r"|sisters?|brothers?|siblings?|grand(?:ma|pa|mother|father|parents?|kids?|child\w*)|daughters?|sons?|kids|children|bab(?:y|ies)|twins|toddler"
    r"|pregnan\w+|ivf|fertility|conceiv\w+|surrogacy|abortion|miscarriage|adopt(?:ion|ing)? (?:a |another |our )?(?:child|baby|kid|boy|girl|dog|puppy|cat|kitten)"
    r"|foster (?:care|child\w*|kids?)|custody|childcare|nursery|kindergarten|day ?care|famil(?:y|ies)|household|therap(?:y|ist)|counsel(?:l?ing|lor)|rehab|sober"
    r"|alcohol|drinking|affair|sex\w*|cancer|chemo\w*|surgery|diagnos\w+|medication|antidepress\w+|depress(?:ed|ion)|anxiety|illness|hospice|funeral|grave"
    r"|will and testament|inherit\w*|mortgage|debts?|savings|bankrupt\w*|alimony|salar(?:y|ies)|loan|move in together|moving in together|moved in together|living together|open relationship|relationship|couples?"
    r"|holidays?|vacations?|honeymoons?|camping|anniversary|birthday|christmas|thanksgiving|dinner|our (?:home|house|flat|apartment|bedroom|garden|kitchen|dog|cat|car)|the (?:bedroom|dog|cat|puppy|nursery)"
    r"|buy(?:ing)? (?:a |the )?(?:house|home|flat|apartment|car|boat|van|caravan)|bought (?:a |the )?(?:house|home|flat|apartment|car|boat)|move to|moving to|emigrat\w*|retire\w*|church|pray\w*|vegan|vegetarian|diet)\b",
    re.IGNORECASE,
)


def is_private_life(text: str) -> bool:
    return _private_life.search(text) is not None

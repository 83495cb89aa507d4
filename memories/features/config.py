"""What a feature set holds and when it is brought up to date: product, workspace, set, in turn.

Each of the three may say any of the settings; the nearest one that says it counts, whole.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from memories.errors import Invalid

LONGEST_PROMPT = 8_000  # characters
LONGEST_NAME, LONGEST_TEXT = 64, 500
MOST_CATEGORIES, MOST_TAGS = 40, 60
EMBEDDERS = ("local", "openai", "hash")
LONGEST_MODEL, MOST_DIMENSIONS = 200, 4000
WORKSPACE_SETTING = "featureSets"
SOURCES = ("set", "workspace", "product")


@dataclass(frozen=True, slots=True)
class FeatureTag:
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class FeatureCategory:
    """A part of a set; its features stand under its tags, and under no others."""

    name: str
    description: str
    tags: tuple[FeatureTag, ...]


@dataclass(frozen=True, slots=True)
class EffectiveSetting:
    """A setting as it counts, and who said so: set, workspace or product."""

    value: Any
    source: str


@dataclass(frozen=True, slots=True)
class FeatureSetConfig:
    """All that counts for one set. `language_model` None: the workspace's own models; "none":
    none. `embedder` None: the workspace's embedding model. `seconds` after which waiting
    episodes are taken in, and `messages` from which on at once."""

    categories: tuple[FeatureCategory, ...]
    update_prompt: str
    consolidation_prompt: str
    language_model: Mapping[str, Any] | str | None
    embedder: Mapping[str, Any] | None
    messages: int
    seconds: int
    features_per_consolidation: int

    def category(self, name: str) -> FeatureCategory | None:
        return next((each for each in self.categories if each.name == name), None)


def _category(name: str, description: str, /, **tags: str) -> dict[str, Any]:
    named = [{"name": tag.replace("_", " "), "description": text} for tag, text in tags.items()]
    return {"name": name, "description": description, "tags": named}


PRODUCT: dict[str, Any] = {
    "categories": [
        _category(
            "identity",
            "Who somebody is.",
            name="name and pronouns",
            home="where they live, come from and moved to",
            work="job, employer, career",
            education="school, degree, what they study",
            age="age and birthday",
            contact="how to reach them",
            health="health, diet, body",
            family_status="single, married, children",
            abilities="languages and skills",
            habits="what they do regularly",
            character="who they say they are",
        ),
        _category(
            "preferences",
            "What somebody likes and wants.",
            likes="what they like, love and enjoy",
            dislikes="what they avoid or cannot stand",
            favourites="favourite things, one of a kind",
            choices="what they prefer over something else",
            interests="hobbies and passions",
            values="what matters to them",
        ),
        _category(
            "relationships",
            "The people and animals around somebody.",
            family="relatives",
            partner="husband, wife, partner",
            friends="friends and acquaintances",
            pets="animals",
            people="anybody else",
        ),
        _category("possessions", "What somebody owns or uses.", things="things owned or used"),
        _category(
            "plans",
            "What somebody intends.",
            goals="lasting goals and wishes",
            plans="what they are going to do",
        ),
        _category(
            "technology",
            "Tools, languages and systems in use.",
            tools="programs, services, languages, frameworks",
            systems="how systems are built and set",
        ),
        _category(
            "work",
            "What a team agreed on.",
            rules="rules and policies",
            decisions="what was decided and why",
        ),
        _category(
            "assistant",
            "How the assistant shall behave.",
            instructions="standing instructions",
        ),
    ],
    "updatePrompt": "",
    "consolidationPrompt": "",
    "languageModel": None,
    "embedder": None,
    "messages": 20,
    "seconds": 60,
    "featuresPerConsolidation": 24,
}


def effective(
    workspace_settings: Mapping[str, Any], own: Mapping[str, Any]
) -> dict[str, EffectiveSetting]:
    """Every setting as it counts for a set, with its source; `own` is what the set says itself."""
    of_workspace = workspace_settings.get(WORKSPACE_SETTING, {})
    if not isinstance(of_workspace, Mapping):
        of_workspace = {}
    layers = dict(zip(SOURCES, (own, of_workspace, PRODUCT), strict=True))
    return {
        name: next(
            EffectiveSetting(layer[name], source)
            for source, layer in layers.items()
            if name in layer
        )
        for name in PRODUCT
    }


def config_of(workspace_settings: Mapping[str, Any], own: Mapping[str, Any]) -> FeatureSetConfig:
    """As `effective`, as one value."""
    values = {name: each.value for name, each in effective(workspace_settings, own).items()}
    categories = tuple(
        FeatureCategory(
            each["name"],
            each.get("description", ""),
            tuple(FeatureTag(tag["name"], tag.get("description", "")) for tag in each["tags"]),
        )
        for each in values["categories"]
    )
    return FeatureSetConfig(
        categories=categories,
        update_prompt=values["updatePrompt"],
        consolidation_prompt=values["consolidationPrompt"],
        language_model=values["languageModel"],
        embedder=values["embedder"],
        messages=values["messages"],
        seconds=values["seconds"],
        features_per_consolidation=values["featuresPerConsolidation"],
    )


def check(raw: object, path: str = "") -> None:
    """Raise Invalid, naming the field, for what is no config of a set or workspace."""
    if not isinstance(raw, Mapping):
        raise Invalid(path or "config", "An object.")
    for name, value in raw.items():
        where = f"{path}.{name}" if path else str(name)
        if name not in _CHECKS:
            raise Invalid(where, "There is no such setting.", "unknown_field")
        _CHECKS[name](where, value)


def faults_of(workspace_settings: Mapping[str, Any]) -> list[str]:
    """What is wrong with the workspace's settings for its sets; [] where nothing is."""
    try:
        check(workspace_settings.get(WORKSPACE_SETTING, {}), WORKSPACE_SETTING)
    except Invalid as error:
        return [str(error)]
    return []


def _text(longest: int) -> Callable[[str, object], None]:
    def check_text(path: str, value: object) -> None:
        if not isinstance(value, str) or len(value) > longest:
            raise Invalid(path, f"A text of at most {longest} characters.")

    return check_text


def _number(least: int, most: int) -> Callable[[str, object], None]:
    def check_number(path: str, value: object) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise Invalid(path, f"A whole number from {least} to {most}.")

    return check_number


def _categories(path: str, value: object) -> None:
    if not isinstance(value, list) or not 0 < len(value) <= MOST_CATEGORIES:
        raise Invalid(path, f"A list of 1 to {MOST_CATEGORIES} categories.")
    for number, each in enumerate(value):
        _named(f"{path}[{number}]", each, {"name", "description", "tags"})
        tags = each.get("tags")
        if not isinstance(tags, list) or not 0 < len(tags) <= MOST_TAGS:
            raise Invalid(f"{path}[{number}].tags", f"A list of 1 to {MOST_TAGS} tags.")
        for at, tag in enumerate(tags):
            _named(f"{path}[{number}].tags[{at}]", tag, {"name", "description"})
        _once(f"{path}[{number}].tags", tags)
    _once(path, value)


def _named(path: str, value: object, fields: set[str]) -> None:
    if not isinstance(value, Mapping) or set(value) - fields:
        raise Invalid(path, f"An object with {', '.join(sorted(fields))}.")
    name = value.get("name")
    if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME:
        raise Invalid(f"{path}.name", f"A name of 1 to {LONGEST_NAME} characters.")
    _text(LONGEST_TEXT)(f"{path}.description", value.get("description", ""))


def _once(path: str, named: list[Any]) -> None:
    names = [each["name"] for each in named]
    if len(set(names)) < len(names):
        raise Invalid(path, "A name stands twice.")


def _model(path: str, value: object) -> None:
    """Its fields are checked by who asks it: see memories.extraction.fallback."""
    if value is not None and value != "none" and not isinstance(value, Mapping):
        raise Invalid(path, 'null (the workspace\'s), "none", or an object that names a model.')


def _embedder(path: str, value: object) -> None:
    """Whether there is such a model is told by who asks it: see memories.features.set_embedding."""
    if value is None:
        return
    if not isinstance(value, Mapping) or set(value) - {"provider", "model", "dimensions"}:
        raise Invalid(path, "null (the workspace's), or an object: provider, model, dimensions.")
    if value.get("provider") not in EMBEDDERS:
        raise Invalid(f"{path}.provider", f"One of {', '.join(EMBEDDERS)}.")
    _text(LONGEST_MODEL)(f"{path}.model", value.get("model", ""))
    _number(0, MOST_DIMENSIONS)(f"{path}.dimensions", value.get("dimensions", 0))


_CHECKS: dict[str, Callable[[str, object], None]] = {
    "categories": _categories,
    "updatePrompt": _text(LONGEST_PROMPT),
    "consolidationPrompt": _text(LONGEST_PROMPT),
    "languageModel": _model,
    "embedder": _embedder,
    "messages": _number(1, 10_000),
    "seconds": _number(0, 7 * 86_400),
    "featuresPerConsolidation": _number(2, 1_000),
}

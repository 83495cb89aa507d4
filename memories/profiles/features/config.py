"""The settings of a feature set: what it holds and when it is brought up to date. They come from
the product, the workspace, the type that several sets share, and the set.

Each of the four may give any of the settings; the nearest one that gives it counts, whole.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field

from memories.settings_objects import SettingsObject, between, named_once, wrong

LONGEST_PROMPT = 8_000  # characters
LONGEST_NAME, LONGEST_TEXT = 64, 500
MOST_CATEGORIES, MOST_TAGS = 40, 60
SetEmbedder = Literal["local", "openai", "hash"]
EMBEDDERS = get_args(SetEmbedder)
LONGEST_MODEL, MOST_DIMENSIONS = 200, 4000
WORKSPACE_SETTING = "featureSets"
TYPES_SETTING = "featureSetTypes"  # of a workspace: what sets of a type share, by its name
TYPE = "type"  # what a set says of itself beside its settings: the type whose sets it is one of
SOURCES = ("set", "type", "workspace", "product")
# A set is brought up to date when so many messages wait, or the first of them for so long; and a
# section is merged that has so many features.
MESSAGES, SECONDS, FEATURES = 20, 60, 24


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
    """A setting in effect, and where it comes from, of SOURCES."""

    value: Any
    source: str


@dataclass(frozen=True, slots=True)
class FeatureSetConfig:
    """The settings in effect for one set. `language_model` None: the workspace's own models;
    "none": none. `embedder` None: the workspace's embedding model. `seconds` after which waiting
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
    "messages": MESSAGES,
    "seconds": SECONDS,
    "featuresPerConsolidation": FEATURES,
}


def effective(workspace_settings: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, EffectiveSetting]:
    """Return every setting in effect for a set, with its source; `own` is what the set says itself.
    A type that no longer exists says nothing."""
    of_workspace = _object(workspace_settings.get(WORKSPACE_SETTING))
    of_type = _object(types_of(workspace_settings).get(own.get(TYPE, "")))
    layers = dict(zip(SOURCES, (own, of_type, of_workspace, PRODUCT), strict=True))
    return {
        name: next(EffectiveSetting(layer[name], source) for source, layer in layers.items() if name in layer)
        for name in PRODUCT
    }


def types_of(workspace_settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings that the sets of each type share, by its name."""
    return _object(workspace_settings.get(TYPES_SETTING))


def _object(raw: Any) -> Mapping[str, Any]:
    return raw if isinstance(raw, Mapping) else {}


def config_of(workspace_settings: Mapping[str, Any], own: Mapping[str, Any]) -> FeatureSetConfig:
    """Return the settings of `effective` as one value."""
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


def _not_blank(name: str) -> str:
    if not name.strip():
        raise wrong("A name that can be read.")
    return name


Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME), AfterValidator(_not_blank)]
Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
Prompt = Annotated[str, Field(max_length=LONGEST_PROMPT)]


class TagSettings(SettingsObject):
    name: Name
    description: Text = ""


class SectionSettings(SettingsObject):
    name: Name
    description: Text = ""
    tags: Annotated[list[TagSettings], Field(min_length=1, max_length=MOST_TAGS), AfterValidator(named_once)]


class EmbedderSettings(SettingsObject):
    # Whether there is such a model is told by who asks it: see memories.profiles.features.set_embedding.
    provider: Annotated[SetEmbedder, Field(validate_default=True)] = ""  # type: ignore[assignment]  # refused
    model: Annotated[str, Field(max_length=LONGEST_MODEL)] = ""
    dimensions: Annotated[int, between(0, MOST_DIMENSIONS)] = 0


def _language_model(raw: Any) -> Any:
    """Check the kind of value; its fields are checked by who asks it: see
    memories.reading.extraction.fallback_chain."""
    if raw is not None and raw != "none" and not isinstance(raw, Mapping):
        raise wrong('null (the workspace\'s), "none", or an object that names a model.')
    return raw


class SetSettings(SettingsObject):
    """The settings of a workspace for all of its sets, or for those of a type. Defaults: the
    product's own."""

    categories: Annotated[
        list[SectionSettings],
        Field(min_length=1, max_length=MOST_CATEGORIES),
        AfterValidator(named_once),
    ] = []
    update_prompt: Prompt = ""
    consolidation_prompt: Prompt = ""
    language_model: Annotated[Any, AfterValidator(_language_model)] = None
    embedder: EmbedderSettings | None = None
    messages: Annotated[int, between(1, 10_000)] = MESSAGES
    seconds: Annotated[int, between(0, 7 * 86_400)] = SECONDS
    features_per_consolidation: Annotated[int, between(2, 1_000)] = FEATURES


class OwnSetSettings(SetSettings):
    """The settings of one set."""

    type: Annotated[str, Field(max_length=LONGEST_NAME)] = ""

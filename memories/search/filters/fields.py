"""What can be filtered by: fields of the layers with their columns and kinds, and operators."""

from memories.models import Category, Episode, FactType, MemoryScope, Source, Visibility

COMPARISONS = {"eq": "=", "neq": "<>", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
OPERATORS = (*COMPARISONS, "in", "contains", "exists")
METADATA = "metadata."  # before the caller's own key

# field -> (kind, column); `row` is of the layer, s, a, c are its subject, agent, thread.
COMMON = {
    "id": ("uuid", "{row}.id"),
    "content": ("text", "{row}.content"),
    "userId": ("text", "s.external_id"),
    "agentId": ("text", "a.external_id"),
    "threadId": ("text", "c.external_id"),
    "createdAt": ("time", "{row}.created_at"),
}
FIELDS: dict[str, dict[str, tuple[str, str]]] = {
    "memories": COMMON
    | {
        "scope": ("text", "{row}.scope"),
        "factType": ("text", "{row}.fact_type"),
        "category": ("text", "{row}.category"),
        "source": ("text", "{row}.source"),
        "visibility": ("text", "{row}.visibility"),
        "workflowId": ("text", "{row}.workflow"),
        "confidence": ("number", "{row}.confidence"),
        "version": ("number", "{row}.version"),
        "sourceCount": ("number", "{row}.source_count"),
        "pinned": ("bool", "{row}.pinned"),
        "isInference": ("bool", "{row}.is_inference"),
        "eventDate": ("time", "{row}.event_date"),
        "validFrom": ("time", "{row}.valid_from"),
        "validUntil": ("time", "{row}.valid_until"),
        "forgetAfter": ("time", "{row}.forget_after"),
        "updatedAt": ("time", "{row}.updated_at"),
        "entities": ("list", "{row}.entities"),
    },
    "episodes": COMMON
    | {
        "role": ("text", "{row}.role"),
        "kind": ("text", "{row}.kind"),
        "name": ("text", "{row}.author"),
        "externalId": ("text", "{row}.external_id"),
        "occurredAt": ("time", "{row}.occurred_at"),
        "position": ("number", "{row}.position"),
    },
    "features": COMMON
    | {
        "category": ("text", "{row}.category"),
        "tag": ("text", "{row}.tag"),
        "feature": ("text", "{row}.feature"),
        "value": ("text", "{row}.value"),
        "about": ("text", "{row}.about"),
        "visibility": ("text", "{row}.visibility"),
        "updatedAt": ("time", "{row}.updated_at"),
    },
}
# The only values of a field, by layer; a feature's category is a word of its own set.
WORDS: dict[str, dict[str, list[str]]] = {
    "memories": {
        "scope": MemoryScope.values,
        "factType": FactType.values,
        "category": Category.values,
        "source": Source.values,
        "visibility": Visibility.values,
    },
    "episodes": {"kind": Episode.Kind.values},
    "features": {"visibility": Visibility.values},
}


def kind_of(field: str) -> str:
    return next(fields[field][0] for fields in FIELDS.values() if field in fields)


def words_of(layers: tuple[str, ...]) -> dict[str, set[str]]:
    """The values of the fields that have only certain ones in each of the layers."""
    found: dict[str, set[str]] = {}
    for layer in layers:
        for field, words in WORDS.get(layer, {}).items():
            found.setdefault(field, set()).update(words)
    free = {f for name in layers for f in set(FIELDS.get(name, {})) - set(WORDS.get(name, {}))}
    return {field: words for field, words in found.items() if field not in free}

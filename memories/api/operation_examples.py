"""An example for each operation: what may be sent, with words of a short story. The OpenAPI file
shows them, and tests send them."""

from typing import Any

MESSAGES = [
    {"role": "user", "content": "I live in Oslo.", "id": "m1"},
    {"role": "assistant", "content": "Since when?", "id": "m2"},
]

# The body of each operation that takes one.
BODIES: dict[str, dict[str, Any]] = {
    "createWorkspace": {"slug": "meadow", "name": "Meadow", "ownerEmail": "ada@example.org"},
    "changeWorkspace": {"name": "Orchard", "settings": {"llm": "always"}},
    "createAgent": {"externalId": "helper", "name": "Helper"},
    "changeAgent": {"team": "blue"},
    "createTeam": {"name": "helpers"},
    "changeTeam": {"audience": "team"},
    "ingest": {"messages": MESSAGES, "userId": "ada", "threadId": "monday"},
    "previewExtraction": {"content": "I prefer tea over coffee.", "userId": "ada"},
    "search": {"query": "Where does she live?", "userId": "ada", "include": ["citations"]},
    "packContext": {"query": "Where does she live?", "userId": "ada", "tokens": 1000},
    "createMemory": {"content": "The gate is green.", "userId": "ada"},
    "editMemory": {"content": "The gate is blue."},
    "changeRanking": {"weights": {"keyword": 0.5}},
    "createConversation": {"threadId": "about-boats", "userId": "ada", "title": "About boats"},
    "changeConversation": {"title": "About ships"},
    "appendEpisodes": {"messages": [{"role": "user", "content": "And then?"}]},
    "acceptFact": {"quote": "The cat lives in Graz"},
    "createSet": {"key": "boats", "metadata": {"topic": "boats"}},
    "editSetConfig": {"messages": 3},
    "createFeature": {
        "category": "identity",
        "tag": "home",
        "feature": "city",
        "value": "Oslo",
    },
    "editFeature": {"value": "Bergen"},
    "createDocument": {"content": "# Gates\n\nThe gate is green.", "customId": "gates"},
    "createDocuments": {"documents": [{"content": "The gate is blue.", "customId": "gate"}]},
    "changeDocument": {"title": "All gates"},
    "searchDocuments": {"query": "Which colour has the gate?"},
    "createSpace": {"containerTag": "boats", "name": "Boats"},
    "chat": {"messages": [{"role": "user", "content": "Which colour has the gate?"}]},
    "changeSpace": {"name": "Ships"},
    "assignCase": {"assignee": None},
    "decideCase": {"intent": "leave", "note": "She said so in passing."},
    "snoozeCase": {"until": "2030-01-01T09:00:00Z"},
    "approveSupersession": {"content": None},
    "rejectSupersession": {"note": "That was a joke."},
    "addGoldenQuestion": {"query": "Where does she live?", "userId": "ada", "answer": "Oslo"},
    "importGoldenQuestions": {"questions": [{"query": "What does she drink?", "answer": "tea"}]},
    "runGoldenQuestions": {"settings": {"ranking": {"keyword": 0.5}}},
    "placeHold": {"userId": "otto", "reason": "Case 13"},
    "issueKey": {"name": "phone", "capabilities": ["read", "write"]},
    "rotateKey": {"overlapSeconds": 3600},
    "inviteMember": {"email": "new@example.org", "role": "viewer"},
    "changeMember": {"role": "editor"},
    "createConnection": {"provider": "folder", "options": {"path": "/second"}},
    "changeConnection": {"name": "Handbook", "minutes": 60},
    "syncConnection": {"full": True},
    "createWebhook": {"url": "https://example.org/two", "events": ["case.opened"]},
    "changeWebhook": {"isActive": False},
    "rotateWebhook": {"overlapSeconds": 3600},
}
# What is added to the address of each operation that wants it.
QUERIES: dict[str, dict[str, str]] = {
    "readProfile": {"userId": "ada"},
    "listMemories": {"userId": "ada", "limit": "20"},
    "listSupersessions": {"state": "pending"},
    "listCases": {"state": "open"},
    "listEpisodes": {"threadId": "monday"},
    "listFacts": {"category": "identity"},
    "forgetMemory": {"reason": "outdated"},
    "endFeature": {"reason": "outdated"},
    "readConversationContext": {"tokens": "500"},
}

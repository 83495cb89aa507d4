"""Texts that were not written to be read, and every public function that reads one."""

import contextlib
import importlib
import inspect
import pkgutil
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import memories
from memories import (
    bounds,
    chat,
    events,
    guard,
    languages,
    masked_text,
    message_pieces,
    prompts,
    ranking,
    tokens,
)
from memories.compat import memmachine_filter
from memories.documents import chunks
from memories.english import (
    asked_attribute,
    case_words,
    change_clauses,
    clauses,
    corrections,
    dates,
    exact_values,
    find_claims,
    gatekeeper,
    instead,
    lexical,
    numbers,
    order_evidence,
    other_languages,
    pasted_text,
    person,
    read_clause,
    reasons,
    referents,
    short_answers,
    shorten_clause,
    spoken_intents,
    standing_wishes,
    statements,
    told_beside,
    topics,
    workspace_patterns,
    worth_keeping,
    write_dates,
)
from memories.english.patterns import library
from memories.english.referents import People, Talk
from memories.english.same_thing import ToldThing
from memories.english.statements import (
    auxiliaries,
    hedges_and_opposites,
    implied_ends,
    instruction_kinds,
    read_statement,
    wording,
)
from memories.errors import Invalid
from memories.extraction import evidence, model_claims
from memories.features import facts_to_features, feature_prompts
from memories.file_formats import assembly
from memories.forgotten_words import ForgottenWords, places_in
from memories.german import dates as german_dates
from memories.german import patterns as german_patterns
from memories.guard import served_line
from memories.guard.inspect import find_answer, may_answer
from memories.index import entries
from memories.providers import embedder, openai_provider
from memories.providers.embedder import HashEmbedder
from memories.resolve import named_people
from memories.search import Hit
from memories.search import context as search_context
from memories.search.confidence import confidence_of, is_noise, signs_of
from memories.search.context_choice import PersonAsked
from memories.search.message_excerpt import passage_of
from memories.summaries import choose_sentences
from memories.transcripts import activities, datasets_and_memory_exports, json_and_text_files
from memories.transcripts.transcript import SourceFile

AT = datetime(2026, 1, 5, tzinfo=UTC)
PROSE = (
    "I moved to Lisbon in March because my wife got a job there. We love the sea, and our dog too!"
    ' She said: I will never eat meat again. "I like it. It is quiet." My sister Anna, who works as'
    " a nurse, visited us last week; it rained. Do you remember the flat? The rent is 900 euros.\n"
)
ENDLESS = "and then we went to the market and my brother told me that I should buy the red one "
PIECES = {
    "x": "x ",
    "prose": PROSE,
    "a sentence without end": ENDLESS,
    "short lines": "I like tea no 7\n",
    "quoted lines": ">> I said \"we 'like' “it” \n",
    "commas": ", ",
    "a list": "apples, pears, my plums and I, ",
    "brackets": "([{<",
    "blocks": "<memory>a</memory> I ",
    "open blocks": "<memory>",
    "fences": "``` ~~~ x\n",
    "digits": "1234567890",
    "dates": "12.5. 3:30 pm 2024-01-02 in May ",
    "emoji": "😀🎉❤️ ",
    "I I I": "I ",
    "I am": "I am my I'm really ",
    "one quote": '"',
    "quotes": '"I like it. My mum. ',
    "colons": "Tom: ",
    "lines with colons": "Me: I like it.\nTom: I am here.\n",
    "reports": "my boss said: ",
    "names": "Anna Bert ",
    "hyphens": "Well-Known-",
    "dashes": "todo: -- — ",
    "blanks": " ",
    "lines": "\n",
    "one letter": "a",
    "slashes": "/",
    "dots": ".",
    "a yes": "yes, ",
    "tasks": "translate the following story where I ",
    "footers": "unsubscribe from this e-mail confidential ",
    "han": "我喜欢猫。",
    "marks": "\u0301\u0316",
    "json": '{"a": [1, "b"], ',
    "addresses": "https://a.b/c?d=e&f my@b.cd ",
    "apostrophes": "it's we're I'd ",
    "a lot of": "a lot of ",
    "great great": "we had a really very good ",
    "suppositions": "if I had my sister she is ",
}


def text_of(kind: str, size: int) -> str:
    piece = PIECES[kind]
    return (piece * (size // len(piece) + 1))[:size]


def deep(size: int) -> str:
    """Quotations in quotations, each line a level deeper."""
    levels = "\n".join(f"{'>' * (level + 1)} I like my cat" for level in range(30))
    return (f"{levels}\n" * (size // len(levels) + 1))[:size]


# ---- what reads a text, by its name within `memories`

OWN = workspace_patterns.OwnPattern(
    "badge", "other", r"badge (?P<n>\d+)|like (?P<m>\w+)", "{speaker} has {n}"
)
GROUND = reasons.ground_words("User swims there because the flat is near")[0]


def hit(text: str) -> Hit:
    return Hit("episodes", 0.5, {}, SimpleNamespace(content=text, author="Anna"), 0.5)


def passage(text: str) -> Hit:
    row = SimpleNamespace(content=text, title=text, heading="", author="Anna")
    return Hit("chunks", 0.5, {}, row, 0.5)


WHERE, WHETHER = "Where do you live?", "Do you like tea?"
EVIDENCE = partial(evidence.Evidence, asked="", speakers=("Anna",), said_at=AT)


def _heard(text: str) -> None:
    talk = Talk()
    talk.hear(text, "Anna", uuid.uuid4())
    talk.hear(text, "Assistant", uuid.uuid4(), is_assistant=True)


def _resolved(text: str) -> None:
    People(last="sister", owner="Anna").resolved(f"She {text}", "Anna")


def _worth(text: str) -> None:
    read = [(clause, clause.text) for clause in clauses.of_text(text)]
    find_claims.message_worth(text, "Anna", read, [], Talk())


def _statements_of(text: str) -> None:
    place = datasets_and_memory_exports.StatementPlace(SourceFile(Path("notes.md"), "notes"))
    for number, line in enumerate(text.splitlines(), 1):
        list(place.take(number, line, is_first=number == 1))


def _tried(text: str) -> None:
    next(trial for trial in library.TRIALS if not trial.is_of_speaker).match(text, ())


ORDER = spoken_intents.find_intents("Forget what I told you about my salary.")[0]

READERS: dict[str, Callable[[str], object]] = {
    "english.asked_attribute.asked_attribute": asked_attribute.asked_attribute,
    "english.asked_attribute.asks_whom": lambda text: asked_attribute.asks_whom(text, ["Ada"]),
    "english.asked_attribute.is_of_person": lambda text: asked_attribute.is_of_person(
        text, ["Ada"]
    ),
    "english.case_words.holds_no_more": lambda text: case_words.holds_no_more(text, "ada"),
    "english.case_words.holds_still": lambda text: case_words.holds_still(text, "ada"),
    "english.case_words.predicate_of": lambda text: case_words.predicate_of(text, "ada"),
    "english.case_words.shortened": case_words.shortened,
    "english.order_evidence.evidence_of": lambda text: order_evidence.evidence_of(text, ORDER),
    "english.order_evidence.is_named": lambda text: order_evidence.is_named(text, [text], ORDER),
    "english.same_thing.ToldThing.may_be_told_by": ToldThing.of(
        "the horse Bella", ["I have a horse called Bella."]
    ).may_be_told_by,
    "masked_text.is_all_masked": masked_text.is_all_masked,
    "masked_text.without_masked": lambda text: masked_text.without_masked(text, text),
    "resolve.named_people.name_of": named_people.name_of,
    "search.context.is_json": search_context.is_json,
    "search.context_choice.PersonAsked.gets_others": lambda text: PersonAsked(
        ("Ada",), wants_all=False, is_own=True
    ).gets_others("Where does Ada live?", text),
    "english.spoken_intents.asks": spoken_intents.asks,
    "english.spoken_intents.is_of_work": spoken_intents.is_of_work,
    "english.spoken_intents.is_talk": spoken_intents.is_talk,
    "english.spoken_intents.named_in": spoken_intents.named_in,
    "english.change_clauses.may_change": change_clauses.may_change,
    "english.instead.does_now": instead.does_now,
    "english.instead.given_up": lambda text: instead.given_up(text, is_instead=True),
    "english.instead.may_be": instead.may_be,
    "english.instead.parts": instead.parts,
    "english.corrections.anew": lambda text: corrections.anew(text, "no, Rome"),
    "english.corrections.has_value": corrections.has_value,
    "english.corrections.without_denied": lambda text: corrections.without_denied(text, "Oslo"),
    "english.reasons.is_held_now": reasons.is_held_now,
    "english.patterns.library.first_wish": lambda text: library.first_wish(text, is_question=False),
    "english.statements.hedges_and_opposites.if_so": hedges_and_opposites.if_so,
    "english.statements.replacement.may_end": statements.may_end,
    "english.statements.asides.aside": reasons.aside,
    "english.statements.instruction_kinds.instruction_kinds": instruction_kinds.instruction_kinds,
    "english.statements.instruction_kinds.is_permission": instruction_kinds.is_permission,
    "forgotten_words.ForgottenWords.is_said_by": ForgottenWords.of("I live in Oslo").is_said_by,
    "forgotten_words.ForgottenWords.of": ForgottenWords.of,
    "forgotten_words.places_in": lambda text: places_in(
        text, [ForgottenWords.of("I live in Oslo")], "Anna"
    ),
    "guard.inspect.find_answer": lambda text: list(find_answer("What is the password?", text)),
    "guard.inspect.may_answer": may_answer,
    "ranking.query.says_nothing": ranking.says_nothing,
    "search.confidence.is_noise": lambda text: is_noise("Where is it?", hit(text)),
    "bounds.parts": lambda text: list(bounds.parts(text, 1_000)),
    "bounds.start_of": bounds.start_of,
    "chat.questions_in": chat.questions_in,
    "chat.CitationMarks.feed": lambda text: chat.CitationMarks({}).feed(text),
    "chat.nearest": lambda text: chat.nearest(text, WHERE),
    "message_pieces.passages": message_pieces.passages,
    "compat.memmachine_filter.read_filter": lambda text: _or_not(
        memmachine_filter.read_filter, text
    ),
    "message_pieces.spans": lambda text: list(message_pieces.spans(text, 18_000, 1_000)),
    "documents.chunks.cut": lambda text: chunks.cut(text, (), chunks.ChunkSizes()),
    "documents.chunks.density_of": chunks.density_of,
    "file_formats.assembly.Assembly.add": lambda text: assembly.Assembly().add(text),
    "file_formats.assembly.Assembly.add_part": lambda text: assembly.Assembly().add_part(
        "page", "", text
    ),
    "file_formats.assembly.headings_of": assembly.headings_of,
    "file_formats.assembly.storable": assembly.storable,
    "file_formats.assembly.tidied": assembly.tidied,
    "english.statements.compare.prefilter": statements.prefilter,
    "english.statements.read_statement.parse": lambda text: read_statement.parse(text),
    "english.statements.read_statement.read": statements.read,
    "english.statements.auxiliaries.plain": auxiliaries.plain,
    "english.statements.wording.is_identifier": wording.is_identifier,
    "english.statements.wording.root": wording.root,
    "english.statements.wording.texts": wording.texts,
    "english.statements.wording.words": wording.words,
    "extraction.model_claims.find_quote": lambda text: model_claims.find_quote(
        text, f"{text[:300]} zz"
    ),
    "extraction.model_claims.names_strangers": lambda text: model_claims.names_strangers(text, []),
    "extraction.evidence.addresses": lambda text: list(evidence.addresses(text, text)),
    "extraction.evidence.days": lambda text: list(evidence.days("in May", text, AT)),
    "extraction.evidence.numbers": lambda text: list(evidence.numbers("7 of 9", text, AT)),
    "extraction.evidence.scripts": evidence.scripts,
    "extraction.evidence.sentences_of": lambda text: evidence.sentences_of(
        text, [(len(text) // 2, len(text) // 2 + 9)]
    ),
    "extraction.evidence.unsupported": lambda text: evidence.unsupported(
        "Anna likes tea and lives in Oslo", EVIDENCE(quotes=(text,), around=text)
    ),
    "english.dates.event_date": lambda text: dates.event_date(text, AT),
    "english.dates.places": lambda text: dates.places(text, AT),
    "english.dates.last_day": lambda text: dates.last_day(text, AT.date()),
    "english.dates.spans": lambda text: dates.spans(text, AT),
    "english.gatekeeper.verdict": lambda text: gatekeeper.verdict(text, "user", "user", WHERE),
    "german.dates.event_date": lambda text: german_dates.event_date(text, AT),
    "german.dates.spans": lambda text: german_dates.spans(text, AT),
    "german.patterns.extract": lambda text: list(german_patterns.extract(text, "Anna", AT)),
    "german.patterns.is_courtesy": german_patterns.is_courtesy,
    "index.entries.keys_of": lambda text: entries.keys_of(1, 2, text, lexical.document(text)),
    "index.entries.texts_of": entries.texts_of,
    "english.numbers.count": numbers.count,
    "english.lexical.document": lexical.document,
    "english.lexical.fingerprint": lexical.fingerprint,
    "english.lexical.ilike_keys": lambda text: lexical.ilike_keys(1, 0, text),
    "english.lexical.ilike_pattern": lexical.ilike_pattern,
    "english.lexical.lent": lexical.lent,
    "english.lexical.normal": lambda text: lexical.normal("NFKC", text),
    "english.lexical.stem_set": lexical.stem_set,
    "english.lexical.stems": lexical.stems,
    "english.lexical.unaccented": lexical.unaccented,
    "english.other_languages.stem_by_script": other_languages.stem_by_script,
    "english.other_languages.stem_in": lambda text: other_languages.stem_in("german", text),
    "english.lexical.trigram_keys": lambda text: lexical.trigram_keys(1, 0, text),
    "english.find_claims.extract": lambda text: find_claims.extract(text, "Anna", AT),
    "english.write_dates.end_of_state": lambda text: write_dates.end_of_state(text, AT),
    "english.write_dates.dated": lambda text: write_dates.dated(text, AT),
    "english.write_dates.with_dates": lambda text: write_dates.with_dates(text, AT),
    "english.dates.relative_phrases": lambda text: dates.relative_phrases(text, AT),
    "english.reasons.ground_words": reasons.ground_words,
    "english.reasons.rests_on": lambda text: reasons.rests_on(GROUND, text),
    "english.standing_wishes.standing_wishes": standing_wishes.standing_wishes,
    "english.standing_wishes.preference": standing_wishes.preference,
    "english.statements.implied_ends.is_life_event": implied_ends.is_life_event,
    "search.confidence.confidence_of": lambda text: confidence_of(text, [hit(text)]),
    "search.confidence.signs_of": lambda text: signs_of(text, [passage(text)]),
    "search.message_excerpt.passage_of": lambda text: passage_of(text, [], {"rent"}),
    "english.referents.open_referent": referents.open_referent,
    "english.pasted_text.pasted": lambda text: list(pasted_text.pasted(text)),
    "english.exact_values.exact_values": exact_values.exact_values,
    "english.exact_values.places_of": lambda text: exact_values.places_of("a b", text),
    "english.exact_values.withdrawn_value": exact_values.withdrawn_value,
    "english.shorten_clause.shortened": lambda text: list(shorten_clause.shortened(text)),
    "english.worth_keeping.is_idle": worth_keeping.is_idle,
    "english.worth_keeping.says_nothing": worth_keeping.says_nothing,
    "english.worth_keeping.strength": worth_keeping.strength,
    "english.short_answers.affirmed": lambda text: short_answers.affirmed(WHETHER, text),
    "english.short_answers.assented": lambda text: short_answers.assented(WHETHER, text),
    "english.short_answers.completed": lambda text: short_answers.completed(WHERE, text),
    "english.short_answers.instead": lambda text: (
        short_answers.instead("Still on tea?", text) or short_answers.instead(text, "Rome")
    ),
    "english.short_answers.taken_up": lambda text: (
        short_answers.taken_up(WHETHER, text) or short_answers.taken_up(text, "I go daily")
    ),
    "english.short_answers.says": lambda text: (
        short_answers.says(WHERE, text) or short_answers.says(text, "Rome")
    ),
    "english.clauses.of_text": clauses.of_text,
    "english.clauses.sentences": lambda text: list(clauses.sentences(text)),
    "english.pasted_text.served_blocks": lambda text: list(pasted_text.served_blocks(text)),
    "english.pasted_text.spoken": pasted_text.spoken,
    "english.pasted_text.unmarked": pasted_text.unmarked,
    "english.pasted_text.without_served": pasted_text.without_served,
    "english.read_clause.as_we": read_clause.as_we,
    "english.read_clause.is_claim": read_clause.is_claim,
    "english.read_clause.is_common": read_clause.is_common,
    "english.read_clause.is_courtesy": read_clause.is_courtesy,
    "english.read_clause.is_for_others": read_clause.is_for_others,
    "english.read_clause.is_request": read_clause.is_request,
    "english.read_clause.is_short": read_clause.is_short,
    "english.read_clause.is_supposed": read_clause.is_supposed,
    "english.read_clause.telling": read_clause.telling,
    "english.read_clause.weight": lambda text: read_clause.weight(text, "Anna"),
    "english.read_clause.names": read_clause.names,
    "english.pasted_text.footers": lambda text: list(pasted_text.footers(text)),
    "english.pasted_text.is_quoted": lambda text: pasted_text.is_quoted(text, len(text) // 2),
    "english.pasted_text.passages": lambda text: list(pasted_text.passages(text)),
    "english.workspace_patterns.find": lambda text: workspace_patterns.find(OWN, text, "Anna", AT),
    "english.workspace_patterns.with_library": lambda text: workspace_patterns.with_library(
        [], [OWN, OWN], text, "Anna", AT
    ),
    "english.referents.People.hear": lambda text: People().hear(text, "Anna"),
    "english.referents.People.resolved": _resolved,
    "english.referents.People.turn": lambda text: People().turn(text, "Anna"),
    "english.person.mentions": person.mentions,
    "english.person.mentions_speaker": person.mentions_speaker,
    "english.person.of_anybody": person.of_anybody,
    "english.person.third_person": lambda text: person.third_person(text, "Anna"),
    "english.person.with_listener": lambda text: person.with_listener(text, "Ben"),
    "english.clauses.is_noun_alone": clauses.is_noun_alone,
    "english.clauses.presupposed": lambda text: list(clauses.presupposed(text)),
    "english.workspace_patterns.proposal": lambda text: workspace_patterns.proposal(
        text, ["Anna likes tea"]
    ),
    "english.workspace_patterns.shape": workspace_patterns.shape,
    "english.workspace_patterns.shape_of": lambda text: workspace_patterns.shape_of(
        text, ["Anna likes tea"]
    ),
    "english.read_clause.plain": read_clause.plain,
    "english.read_clause.with_subject": read_clause.with_subject,
    "english.referents.Talk.hear": _heard,
    "english.patterns.library.Trial.match": _tried,
    "english.patterns.library.first_of_question": library.first_of_question,
    "english.patterns.library.first": lambda text: library.first(text, is_request=False),
    "english.find_claims.message_worth": _worth,
    "english.corrections.with_value": lambda text: corrections.with_value(text, "Oslo", "Rome"),
    "english.spoken_intents.find_intents": spoken_intents.find_intents,
    "english.spoken_intents.is_open": spoken_intents.is_open,
    "english.spoken_intents.is_regret": spoken_intents.is_regret,
    "english.spoken_intents.may_hold_intents": spoken_intents.may_hold_intents,
    "english.topics.words_of": topics.words_of,
    "guard.inspect.findings": guard.findings,
    "guard.inspect.masked": lambda text: guard.masked(text, guard.findings(text)),
    "masked_text.is_masked": masked_text.is_masked,
    "masked_text.masked": lambda text: masked_text.masked(text, [(0, len(text)), (3, 9)]),
    "masked_text.unmasked": lambda text: masked_text.unmasked(text, [(3, "abc")]),
    "masked_text.with_text_at": lambda text: masked_text.with_text_at({"a": text}, "/a", text),
    "languages.extract": lambda text: languages.extract(text, "Anna", AT, ["de"]),
    "languages.is_courtesy": lambda text: languages.is_courtesy(text, ["de"]),
    "languages.spans": lambda text: languages.spans(text, AT, ["de"]),
    "prompts.read_facts": lambda text: _or_not(prompts.read_facts, text),
    "prompts.read_meant": lambda text: _or_not(prompts.read_meant, text),
    "prompts.read_summary": lambda text: _or_not(prompts.read_summary, text),
    "prompts.whole_facts": lambda text: _or_not(prompts.whole_facts, text),
    "providers.embedder.Embedder.embed_one": HashEmbedder().embed_one,
    "providers.embedder.embeddable": embedder.embeddable,
    "providers.openai_provider.pieces": openai_provider.pieces,
    "ranking.query.event_question": lambda text: ranking.event_question(text, AT),
    "ranking.query.listed": lambda text: ranking.listed(f"What are {text}?"),
    "ranking.message_marks.marks": ranking.marks,
    "ranking.query.analyse": lambda text: ranking.analyse(text, now=AT),
    "ranking.query.asks_in_time": ranking.asks_in_time,
    "features.feature_prompts.read_answer": lambda text: _or_not(_read_commands, text),
    "features.facts_to_features.predicate": lambda text: facts_to_features.predicate(text, "Anna"),
    "features.facts_to_features.is_clear": facts_to_features.is_clear,
    "features.facts_to_features.is_home": lambda text: facts_to_features.is_home(text, "Oslo"),
    "features.facts_to_features.is_somebody": facts_to_features.is_somebody,
    "features.facts_to_features.is_state_of": lambda text: facts_to_features.is_state_of(
        "Ada", text, "vegan"
    ),
    "features.facts_to_features.is_thing": facts_to_features.is_thing,
    "features.facts_to_features.stands_alone": lambda text: facts_to_features.stands_alone(
        text, "tea", "Anna"
    ),
    "features.facts_to_features.to_the_point": facts_to_features.to_the_point,
    "guard.served_line.indented": served_line.indented,
    "guard.served_line.name": served_line.name,
    "guard.served_line.one_line": served_line.one_line,
    "guard.served_line.source": served_line.source,
    "english.shorten_clause.without_lead_in": shorten_clause.without_lead_in,
    "english.shorten_clause.parts_of": lambda text: list(shorten_clause.parts_of(text, "Anna")),
    "english.told_beside.beside": lambda text: list(told_beside.beside(f"Anna {text}", "Anna")),
    "english.told_beside.halves": lambda text: told_beside.halves(f"Anna {text}", "Anna"),
    "english.topics.is_private_life": topics.is_private_life,
    "english.topics.is_work": topics.is_work,
    "english.topics.told_by_us": topics.told_by_us,
    "tokens.bound_of": tokens.bound_of,
    "tokens.bounded_start_of": lambda text: tokens.bounded_start_of(text, 2_000),
    "tokens.start_of": lambda text: tokens.start_of(text, 2_000),
    "tokens.tokens_of": tokens.tokens_of,
    "transcripts.activities.is_written_out": activities.is_written_out,
    "transcripts.json_and_text_files.clean_text": json_and_text_files.clean_text,
    "events.cursor_of": events.cursor_of,
    "transcripts.datasets_and_memory_exports.StatementPlace.take": _statements_of,
    "transcripts.json_and_text_files.pieces": lambda text: list(json_and_text_files.pieces(text)),
}


def _or_not(read: Callable[[str], object], text: str) -> None:
    """What was sent may be no JSON, and no filter, at all."""
    with contextlib.suppress(ValueError, Invalid):
        read(text)


def _read_commands(text: str) -> object:
    return feature_prompts.read_answer(text, "commands", feature_prompts.CommandAnswer)


def _compared(text: str) -> None:
    old, new = statements.read(text), statements.read(f"{text} now")
    statements.relation(old, new, cosine=0.9, threshold=0.88)
    statements.restates(old, new, 0.9, 0.88)
    statements.slot_keys(new)


def _chosen(text: str) -> None:
    choose_sentences.choose(
        choose_sentences.weighed([choose_sentences.Said(text)]), lambda one: len(one.text), 4_000
    )


def _in_pieces(text: str) -> None:
    message = prompts.PromptMessage(0, "user", text, "Anna", AT)
    list(message_pieces.pieces(prompts.ExtractionRequest((message,))))


# What takes a text in other values.
WITHIN: dict[str, Callable[[str], object]] = {
    "message_pieces.pieces": _in_pieces,
    "english.statements.compare.relation": _compared,
    "summaries.choose_sentences.choose": _chosen,
}
# What has such an argument and does not read a text: SQL, one word, a name, a verb that is bounded
# by `bounds.WHOLE` or by its callers before anything is read.
OTHERS = frozenset(
    """
    cases.case_decision.decision_by chat.with_sources chat.Sources.citation
    chat.Sources.of_documents
    chat.Sources.of_memories connections.sync.Turn.finish
    connectors.github_and_notion_connectors.moment
    index.entries.summary_item summaries.running_summary.answered
    compat.client_view.chain_of compat.client_view.head_of documents.pipeline.moment_of
    documents.document_summary.summary_of index.entries.passage_item
    search.confidence.similarity_by_words english.patterns.library.is_wish
    guard.credentials.key_names guard.credentials.names guard.identity_numbers.names
    search.context.LayerRows.asked search.told_attribute.told_attribute
    review.create_and_edit.checked review.approve_and_undo.approve
    review.create_and_edit.new_version review.create_and_edit.places_in
    extraction.extraction_types.visibility_of
    extraction.extraction_types.ExtractOptions.visibility_of
    review.quarantine.accept english.verbs.is_adverb
    guard.credentials.entropy guard.credentials.find_keys guard.credentials.find_blocks
    guard.credentials.find_named guard.credentials.is_placeholder guard.credentials.find
    guard.form.Form.finditer guard.identity_numbers.find guard.orders.find
    english.verbs.is_past english.verbs.past
    english.verbs.plural english.verbs.third_person english.verbs.without_s
    english.verbs.with_s english.verbs.is_participle english.verbs.is_past english.verbs.may_be_past
    english.statements.attributes.own_slots models.feature.Feature.text_of
    index.entries.keys_of_episode
    index.prepared_sql.arrays index.prepared_sql.execute index.prepared_sql.first
    index.prepared_sql.rows providers.http_reranker.HttpReranker.scores
    providers.local_embedder.LocalEmbedder.embed_one resolve.rejections.take_back
    search.query_vectors.query_vector search.query_vectors.vector_of
    search.after_ranking.reranker_scores
    transcripts.json_and_text_files.MarkdownPlace.add
    transcripts.json_and_text_files.MarkdownPlace.enter
    transcripts.json_and_text_files.paragraph
    """.split()
)
NAMES = frozenset(
    """
    answer clause content document evidence query question quote said sentence statement text title
    told value verb word words
    """.split()
)
DOORS = frozenset("admin api apps checks evaluation management migrations".split())


def reading_a_text() -> Iterator[str]:
    """The public functions and methods that take a text, by the names of their arguments."""
    for module in pkgutil.walk_packages(memories.__path__, "memories."):
        if module.name.split(".")[1] not in DOORS:
            yield from _in(module.name)


def _in(name: str) -> Iterator[str]:
    for own_name, found in vars(importlib.import_module(name)).items():
        if own_name.startswith("_") or getattr(found, "__module__", "") != name:
            continue
        methods = vars(found) if inspect.isclass(found) else {"": found}
        for method, function in methods.items():
            plain = inspect.unwrap(getattr(function, "__func__", function))
            if method.startswith("_") or not inspect.isfunction(plain):
                continue
            taken = inspect.signature(plain).parameters.values()
            if any(each.name in NAMES and each.annotation is str for each in taken):
                yield ".".join(filter(None, (name.removeprefix("memories."), own_name, method)))

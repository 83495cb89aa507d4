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
from memories import ranking
from memories.belief.resolve import named_people
from memories.belief.resolve.forgotten_words import ForgottenWords, ToldAgain, called_in, places_in
from memories.belief.touches import judged
from memories.chat import questions, sources
from memories.compat import memmachine_filter
from memories.compat.mem0 import parted
from memories.documents import chunks
from memories.documents.hidden_words import words_at
from memories.errors import Invalid, UnreadableAnswer
from memories.events import read_events
from memories.file_formats import assembly
from memories.file_formats.cell_formats import shown
from memories.file_formats.paragraphs import in_paragraphs
from memories.index import entries
from memories.ingest import judged_messages
from memories.judge.pieces import pieces_of
from memories.language import bounds
from memories.language.english import (
    anchors,
    asked_attribute,
    case_words,
    claim_worth,
    clauses,
    corrections,
    dates,
    exact_values,
    find_claims,
    gatekeeper,
    lexical,
    numbers,
    order_evidence,
    other_languages,
    pasted_text,
    person,
    read_clause,
    reasons,
    referents,
    self_repair,
    short_answers,
    shorten_clause,
    spoken_intents,
    standing_wishes,
    statements,
    topics,
    touch_rules,
    workspace_patterns,
    write_dates,
)
from memories.language.english.patterns import library
from memories.language.english.referents import People, Talk
from memories.language.english.same_thing import ToldThing, names_in
from memories.language.english.statements import (
    auxiliaries,
    instruction_kinds,
    read_statement,
    wording,
)
from memories.profiles.features import facts_to_features, feature_prompts
from memories.profiles.summaries import choose_sentences
from memories.providers import count_tokens, embedder, message_pieces, openai_provider, prompts
from memories.providers.embedder import HashEmbedder
from memories.reading import guard
from memories.reading.extraction import Message, evidence, labelled_speakers, model_claims, play
from memories.reading.extraction.workspace_instructions import Instructions
from memories.reading.guard import masked_text, served_line
from memories.reading.guard.inspect import find_answer, may_answer
from memories.search import Hit
from memories.search import context as search_context
from memories.search.confidence import confidence_of, is_noise, signs_of, speaks_of
from memories.search.context_floor import PersonAsked
from memories.search.message_excerpt import passage_of
from memories.transcripts import (
    activities,
    json_values,
    memory_exports,
    messenger,
    rich_text,
    slack,
    text_files,
    text_logs,
    typed_words,
    whatsapp,
)
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
    "dates of others": "moved from the last Friday of May to two weeks from Tuesday the 5th in the end of Q3 ",
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

OWN = workspace_patterns.OwnPattern("badge", "other", r"badge (?P<n>\d+)|like (?P<m>\w+)", "{speaker} has {n}")
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
    place = memory_exports.StatementPlace(SourceFile(Path("notes.md"), "notes"))
    for number, line in enumerate(text.splitlines(), 1):
        list(place.take(number, line, is_first=number == 1))


def _tried(text: str) -> None:
    next(trial for trial in library.TRIALS if not trial.is_of_speaker).match(text, ())


ORDER = spoken_intents.find_intents("Forget what I told you about my salary.")[0]

READERS: dict[str, Callable[[str], object]] = {
    "compat.mem0.parted": parted,
    "reading.extraction.workspace_instructions.Instructions.leave_out": Instructions("", "my salary").leave_out,
    "belief.touches.judged.unread_places": lambda text: judged.unread_places(text, [(0, 3)]),
    "language.english.asked_attribute.asked_attribute": asked_attribute.asked_attribute,
    "language.english.asked_attribute.asks_whom": lambda text: asked_attribute.asks_whom(text, ["Ada"]),
    "language.english.asked_attribute.is_of_person": lambda text: asked_attribute.is_of_person(text, ["Ada"]),
    "language.english.case_words.holds_no_more": lambda text: case_words.holds_no_more(text, "ada"),
    "language.english.case_words.holds_still": lambda text: case_words.holds_still(text, "ada"),
    "language.english.case_words.predicate_of": lambda text: case_words.predicate_of(text, "ada"),
    "language.english.case_words.shortened": case_words.shortened,
    "language.english.order_evidence.evidence_of": lambda text: order_evidence.evidence_of(text, ORDER),
    "language.english.order_evidence.is_named": lambda text: order_evidence.is_named(text, [text], ORDER),
    "language.english.same_thing.ToldThing.may_be_told_by": ToldThing.of(
        "the horse Bella", ["I have a horse called Bella."]
    ).may_be_told_by,
    "reading.guard.masked_text.is_all_masked": masked_text.is_all_masked,
    "reading.guard.masked_text.without_masked": lambda text: masked_text.without_masked(text, text),
    "belief.resolve.named_people.name_of": named_people.name_of,
    "search.context.is_json": search_context.is_json,
    "search.context_floor.PersonAsked.gets_others": lambda text: PersonAsked(
        ("Ada",), wants_all=False, is_own=True
    ).gets_others("Where does Ada live?", text),
    "language.english.spoken_intents.asks": spoken_intents.asks,
    "language.english.spoken_intents.is_of_work": spoken_intents.is_of_work,
    "language.english.spoken_intents.is_talk": spoken_intents.is_talk,
    "language.english.spoken_intents.named_in": spoken_intents.named_in,
    "language.english.corrections.anew": lambda text: corrections.anew(text, "no, Rome"),
    "language.english.anchors.anchors": anchors.anchors,
    "language.english.corrections.has_value": corrections.has_value,
    "language.english.corrections.without_denied": lambda text: corrections.without_denied(text, "Oslo"),
    "language.english.reasons.is_held_now": reasons.is_held_now,
    "language.english.patterns.library.first_wish": lambda text: library.first_wish(text, is_question=False),
    "language.english.statements.asides.aside": reasons.aside,
    "language.english.statements.instruction_kinds.instruction_kinds": instruction_kinds.instruction_kinds,
    "language.english.statements.instruction_kinds.is_permission": instruction_kinds.is_permission,
    "belief.resolve.forgotten_words.ForgottenWords.is_named_by": ForgottenWords.of("Ada lives in Oslo").is_named_by,
    "belief.resolve.forgotten_words.ForgottenWords.is_of": ForgottenWords.of("Ada lives in Oslo").is_of,
    "belief.resolve.forgotten_words.called_in": lambda text: called_in(text, ["Ada", "Ada Byron"]),
    "language.english.same_thing.names_in": names_in,
    "language.english.same_thing.ToldThing.is_all_of": ToldThing.of("oboe", ["Ada plays the oboe"]).is_all_of,
    "documents.hidden_words.words_at": lambda text: words_at(text, [ToldAgain(0, len(text) // 2, None)]),
    "belief.resolve.forgotten_words.ForgottenWords.is_said_by": ForgottenWords.of("I live in Oslo").is_said_by,
    "belief.resolve.forgotten_words.ForgottenWords.of": ForgottenWords.of,
    "belief.resolve.forgotten_words.places_in": lambda text: places_in(
        text, [ForgottenWords.of("I live in Oslo")], "Anna"
    ),
    "reading.guard.inspect.find_answer": lambda text: list(find_answer("What is the password?", text)),
    "reading.guard.inspect.may_answer": may_answer,
    "ranking.query.says_nothing": ranking.says_nothing,
    "search.confidence.is_noise": lambda text: is_noise("Where is it?", hit(text)),
    "language.bounds.parts": lambda text: list(bounds.parts(text, 1_000)),
    "language.bounds.start_of": bounds.start_of,
    "chat.questions.questions_in": questions.questions_in,
    "chat.sources.CitationMarks.feed": lambda text: sources.CitationMarks({}).feed(text),
    "chat.sources.nearest": lambda text: sources.nearest(text, WHERE),
    "providers.message_pieces.passages": message_pieces.passages,
    "compat.memmachine_filter.read_filter": lambda text: _or_not(memmachine_filter.read_filter, text),
    "providers.message_pieces.spans": lambda text: list(message_pieces.spans(text, 18_000, 1_000)),
    "documents.chunks.cut": lambda text: chunks.cut(text, (), chunks.ChunkSizes()),
    "documents.chunks.density_of": chunks.density_of,
    "file_formats.assembly.Assembly.add": lambda text: assembly.Assembly().add(text),
    "file_formats.assembly.Assembly.add_part": lambda text: assembly.Assembly().add_part("page", "", text),
    "file_formats.cell_formats.shown": lambda text: shown(text, "0.00"),
    "file_formats.paragraphs.in_paragraphs": in_paragraphs,
    "file_formats.assembly.headings_of": assembly.headings_of,
    "file_formats.assembly.storable": assembly.storable,
    "file_formats.assembly.tidied": assembly.tidied,
    "language.english.statements.compare.prefilter": statements.prefilter,
    "language.english.statements.read_statement.parse": lambda text: read_statement.parse(text),
    "language.english.statements.read_statement.read": statements.read,
    "language.english.statements.auxiliaries.plain": auxiliaries.plain,
    "language.english.statements.wording.is_identifier": wording.is_identifier,
    "language.english.statements.wording.root": wording.root,
    "language.english.statements.wording.texts": wording.texts,
    "language.english.statements.wording.words": wording.words,
    "reading.extraction.model_claims.find_quote": lambda text: model_claims.find_quote(text, f"{text[:300]} zz"),
    "reading.extraction.model_claims.names_strangers": lambda text: model_claims.names_strangers(text, []),
    "reading.extraction.evidence.addresses": lambda text: list(evidence.addresses(text, text)),
    "reading.extraction.evidence.days": lambda text: list(evidence.days("in May", text, AT)),
    "reading.extraction.evidence.numbers": lambda text: list(evidence.numbers("7 of 9", text, AT)),
    "reading.extraction.evidence.scripts": evidence.scripts,
    "reading.extraction.play.opens": play.opens,
    "reading.extraction.evidence.sentences_of": lambda text: evidence.sentences_of(
        text, [(len(text) // 2, len(text) // 2 + 9)]
    ),
    "reading.extraction.evidence.unsupported": lambda text: evidence.unsupported(
        "Anna likes tea and lives in Oslo", EVIDENCE(quotes=(text,), around=text)
    ),
    "language.english.dates.event_date": lambda text: dates.event_date(text, AT),
    "language.english.dates.places": lambda text: dates.places(text, AT),
    "language.english.dates.last_day": lambda text: dates.last_day(text, AT.date()),
    "language.english.dates.spans": lambda text: dates.spans(text, AT),
    "language.english.gatekeeper.verdict": lambda text: gatekeeper.verdict(text, "user", "user", WHERE),
    "index.entries.keys_of": lambda text: entries.keys_of(1, 2, text, lexical.document(text)),
    "index.entries.texts_of": entries.texts_of,
    "language.english.numbers.count": numbers.count,
    "language.english.lexical.document": lexical.document,
    "language.english.lexical.fingerprint": lexical.fingerprint,
    "language.english.lexical.ilike_keys": lambda text: lexical.ilike_keys(1, 0, text),
    "language.english.lexical.ilike_pattern": lexical.ilike_pattern,
    "language.english.lexical.lent": lexical.lent,
    "language.english.lexical.normal": lambda text: lexical.normal("NFKC", text),
    "language.english.lexical.stem_set": lexical.stem_set,
    "language.english.lexical.stems": lexical.stems,
    "language.english.lexical.unaccented": lexical.unaccented,
    "language.english.other_languages.stem_by_script": other_languages.stem_by_script,
    "language.english.other_languages.stem_in": lambda text: other_languages.stem_in("german", text),
    "language.english.lexical.trigram_keys": lambda text: lexical.trigram_keys(1, 0, text),
    "language.english.find_claims.extract": lambda text: find_claims.extract(text, "Anna", AT),
    "language.english.write_dates.end_of_state": lambda text: write_dates.end_of_state(text, AT),
    "language.english.write_dates.dated": lambda text: write_dates.dated(text, AT),
    "language.english.write_dates.with_dates": lambda text: write_dates.with_dates(text, AT),
    "language.english.dates.relative_phrases": lambda text: dates.relative_phrases(text, AT),
    "language.english.reasons.ground_words": reasons.ground_words,
    "language.english.reasons.rests_on": lambda text: reasons.rests_on(GROUND, text),
    "language.english.standing_wishes.standing_wishes": standing_wishes.standing_wishes,
    "language.english.standing_wishes.preference": standing_wishes.preference,
    "search.confidence.confidence_of": lambda text: confidence_of(text, [hit(text)]),
    "search.confidence.speaks_of": lambda text: speaks_of(text, hit(text), is_sure=True),
    "search.confidence.signs_of": lambda text: signs_of(text, [passage(text)]),
    "search.message_excerpt.passage_of": lambda text: passage_of(text, [], {"rent"}),
    "language.english.referents.open_referent": referents.open_referent,
    "language.english.pasted_text.pasted": lambda text: list(pasted_text.pasted(text)),
    "language.english.exact_values.exact_values": exact_values.exact_values,
    "language.english.exact_values.places_of": lambda text: exact_values.places_of("a b", text),
    "language.english.exact_values.withdrawn_value": exact_values.withdrawn_value,
    "language.english.shorten_clause.shortened": lambda text: list(shorten_clause.shortened(text)),
    "language.english.claim_worth.says_nothing": claim_worth.says_nothing,
    "language.english.claim_worth.strength": claim_worth.strength,
    "language.english.short_answers.affirmed": lambda text: short_answers.affirmed(WHETHER, text),
    "language.english.short_answers.assented": lambda text: short_answers.assented(WHETHER, text),
    "language.english.short_answers.completed": lambda text: short_answers.completed(WHERE, text),
    "language.english.short_answers.taken_up": lambda text: (
        short_answers.taken_up(WHETHER, text) or short_answers.taken_up(text, "I go daily")
    ),
    "language.english.short_answers.says": lambda text: (
        short_answers.says(WHERE, text) or short_answers.says(text, "Rome")
    ),
    "language.english.clauses.of_text": clauses.of_text,
    "language.english.clauses.sentences": lambda text: list(clauses.sentences(text)),
    "language.english.pasted_text.served_blocks": lambda text: list(pasted_text.served_blocks(text)),
    "language.english.pasted_text.spoken": pasted_text.spoken,
    "language.english.pasted_text.unmarked": pasted_text.unmarked,
    "language.english.pasted_text.not_in_earnest": lambda text: list(pasted_text.not_in_earnest(text)),
    "language.english.clauses.instead_of": clauses.instead_of,
    "language.english.read_clause.as_we": read_clause.as_we,
    "language.english.read_clause.is_claim": read_clause.is_claim,
    "language.english.read_clause.is_common": read_clause.is_common,
    "language.english.read_clause.is_courtesy": read_clause.is_courtesy,
    "language.english.read_clause.is_for_others": read_clause.is_for_others,
    "language.english.read_clause.is_request": read_clause.is_request,
    "language.english.read_clause.is_short": read_clause.is_short,
    "language.english.read_clause.is_supposed": read_clause.is_supposed,
    "language.english.read_clause.telling": read_clause.telling,
    "language.english.read_clause.weight": lambda text: read_clause.weight(text, "Anna"),
    "language.english.read_clause.names": read_clause.names,
    "language.english.pasted_text.footers": lambda text: list(pasted_text.footers(text)),
    "language.english.pasted_text.is_quoted": lambda text: pasted_text.is_quoted(text, len(text) // 2),
    "language.english.pasted_text.passages": lambda text: list(pasted_text.passages(text)),
    "language.english.workspace_patterns.find": lambda text: workspace_patterns.find(OWN, text, "Anna", AT),
    "language.english.workspace_patterns.with_library": lambda text: workspace_patterns.with_library(
        [], [OWN, OWN], text, "Anna", AT
    ),
    "language.english.referents.People.hear": lambda text: People().hear(text, "Anna"),
    "language.english.referents.People.resolved": _resolved,
    "language.english.self_repair.mended": self_repair.mended,
    "language.english.self_repair.told_wrong": lambda text: self_repair.told_wrong(text, 0, len(text)),
    "language.english.person.mentions": person.mentions,
    "language.english.person.mentions_speaker": person.mentions_speaker,
    "language.english.person.of_anybody": person.of_anybody,
    "language.english.person.third_person": lambda text: person.third_person(text, "Anna"),
    "language.english.person.with_listener": lambda text: person.with_listener(text, "Ben"),
    "language.english.clauses.is_noun_alone": clauses.is_noun_alone,
    "language.english.clauses.presupposed": lambda text: list(clauses.presupposed(text)),
    "language.english.workspace_patterns.proposal": lambda text: workspace_patterns.proposal(text, ["Anna likes tea"]),
    "language.english.workspace_patterns.shape": workspace_patterns.shape,
    "language.english.workspace_patterns.shape_of": lambda text: workspace_patterns.shape_of(text, ["Anna likes tea"]),
    "language.english.read_clause.plain": read_clause.plain,
    "language.english.read_clause.with_subject": read_clause.with_subject,
    "language.english.referents.Talk.hear": _heard,
    "language.english.patterns.library.Trial.match": _tried,
    "language.english.patterns.library.first_of_question": library.first_of_question,
    "language.english.patterns.library.first": lambda text: library.first(text, is_request=False),
    "language.english.find_claims.message_worth": _worth,
    "language.english.corrections.with_value": lambda text: corrections.with_value(text, "Oslo", "Rome"),
    "language.english.spoken_intents.find_intents": spoken_intents.find_intents,
    "language.english.spoken_intents.is_open": spoken_intents.is_open,
    "language.english.spoken_intents.is_regret": spoken_intents.is_regret,
    "language.english.spoken_intents.may_hold_intents": spoken_intents.may_hold_intents,
    "language.english.topics.words_of": topics.words_of,
    "reading.guard.inspect.findings": guard.findings,
    "reading.guard.inspect.masked": lambda text: guard.masked(text, guard.findings(text)),
    "reading.guard.masked_text.is_masked": masked_text.is_masked,
    "reading.guard.masked_text.masked": lambda text: masked_text.masked(text, [(0, len(text)), (3, 9)]),
    "reading.guard.masked_text.unmasked": lambda text: masked_text.unmasked(text, [(3, "abc")]),
    "reading.guard.masked_text.with_text_at": lambda text: masked_text.with_text_at({"a": text}, "/a", text),
    "providers.prompts.read_facts": lambda text: _or_not(prompts.read_facts, text),
    "providers.prompts.read_meant": lambda text: _or_not(prompts.read_meant, text),
    "providers.prompts.read_summary": lambda text: _or_not(prompts.read_summary, text),
    "providers.prompts.whole_facts": lambda text: _or_not(prompts.whole_facts, text),
    "providers.embedder.Embedder.embed_one": HashEmbedder().embed_one,
    "providers.embedder.embeddable": embedder.embeddable,
    "providers.openai_provider.pieces": openai_provider.pieces,
    "ranking.query.event_question": lambda text: ranking.event_question(text, AT),
    "ranking.query.listed": lambda text: ranking.listed(f"What are {text}?"),
    "ranking.message_marks.marks": ranking.marks,
    "ranking.query.analyse": lambda text: ranking.analyse(text, now=AT),
    "ranking.query.asks_in_time": ranking.asks_in_time,
    "ranking.query.asks_assistant": ranking.asks_assistant,
    "ranking.query.asks_of_past": ranking.asks_of_past,
    "language.english.touch_rules.is_plain": touch_rules.is_plain,
    "ingest.judged_messages.shown_places": judged_messages.shown_places,
    "judge.pieces.pieces_of": lambda text: pieces_of(text, touch_rules.places_of(text)),
    "providers.prompts.read_verdicts": lambda text: _or_not(prompts.read_verdicts, text),
    "profiles.features.feature_prompts.read_answer": lambda text: _or_not(_read_commands, text),
    "profiles.features.facts_to_features.predicate": lambda text: facts_to_features.predicate(text, "Anna"),
    "profiles.features.facts_to_features.telling_stems": lambda text: facts_to_features.telling_stems(text, "Anna"),
    "profiles.features.facts_to_features.is_clear": facts_to_features.is_clear,
    "profiles.features.facts_to_features.is_home": lambda text: facts_to_features.is_home(text, "Oslo"),
    "profiles.features.facts_to_features.is_somebody": facts_to_features.is_somebody,
    "profiles.features.facts_to_features.is_state_of": lambda text: facts_to_features.is_state_of("Ada", text, "vegan"),
    "profiles.features.facts_to_features.is_thing": facts_to_features.is_thing,
    "profiles.features.facts_to_features.stands_alone": lambda text: facts_to_features.stands_alone(
        text, "tea", "Anna"
    ),
    "profiles.features.facts_to_features.to_the_point": facts_to_features.to_the_point,
    "reading.guard.served_line.indented": served_line.indented,
    "reading.guard.served_line.name": served_line.name,
    "reading.guard.served_line.one_line": served_line.one_line,
    "reading.guard.served_line.source": served_line.source,
    "language.english.shorten_clause.without_lead_in": shorten_clause.without_lead_in,
    "language.english.shorten_clause.parts_of": lambda text: list(shorten_clause.parts_of(text, "Anna")),
    "language.english.topics.is_private_life": topics.is_private_life,
    "language.english.topics.is_work": topics.is_work,
    "language.english.topics.told_by_us": topics.told_by_us,
    "providers.count_tokens.bound_of": count_tokens.bound_of,
    "providers.count_tokens.bounded_start_of": lambda text: count_tokens.bounded_start_of(text, 2_000),
    "providers.count_tokens.start_of": lambda text: count_tokens.start_of(text, 2_000),
    "providers.count_tokens.tokens_of": count_tokens.tokens_of,
    "transcripts.activities.is_written_out": activities.is_written_out,
    "transcripts.json_values.clean_text": json_values.clean_text,
    "events.read_events.cursor_of": read_events.cursor_of,
    "transcripts.memory_exports.StatementPlace.take": _statements_of,
    "transcripts.typed_words.typed": typed_words.typed,
    "transcripts.messenger.unbroken": messenger.unbroken,
    "transcripts.rich_text.quoted": lambda text: rich_text.quoted(rich_text.words_of_html(text), "Ida"),
    "transcripts.slack.plain_text": lambda text: slack.plain_text(text, {}),
    "transcripts.text_logs.signal_head": text_logs.signal_head,
    "transcripts.text_logs.typed_in_signal": text_logs.typed_in_signal,
    "transcripts.whatsapp.WhatsApp.head_of": whatsapp.WhatsApp(whatsapp.DateOrder(day_first=True)).head_of,
    "transcripts.whatsapp.typed_words": whatsapp.typed_words,
    "transcripts.text_files.pieces": lambda text: list(text_files.pieces(text)),
}


def _or_not(read: Callable[[str], object], text: str) -> None:
    """What was sent may be no JSON, and no filter, at all."""
    with contextlib.suppress(ValueError, Invalid, UnreadableAnswer):
        read(text)


def _read_commands(text: str) -> object:
    return feature_prompts.read_answer(text, "commands", feature_prompts.CommandAnswer)


def _compared(text: str) -> None:
    old, new = statements.read(text), statements.read(f"{text} now")
    statements.relation(old, new, cosine=0.9, threshold=0.88)
    statements.restates(old, new, 0.9, 0.88)
    statements.slot_keys(new)


def _chosen(text: str) -> None:
    choose_sentences.choose(choose_sentences.weighed([choose_sentences.Said(text)]), lambda one: len(one.text), 4_000)


def _in_pieces(text: str) -> None:
    message = prompts.PromptMessage(0, "user", text, "Anna", AT)
    list(message_pieces.pieces(prompts.ExtractionRequest((message,))))


def _parted_by_speaker(text: str) -> None:
    message = Message(0, uuid.UUID(int=1), "user", "user", "Anna", text, AT)
    [marked] = labelled_speakers.with_voices([message], [message], lambda names: names)
    list(labelled_speakers.parts_by_speaker(marked))


# What takes a text in other values.
WITHIN: dict[str, Callable[[str], object]] = {
    "reading.extraction.labelled_speakers.parts_by_speaker": _parted_by_speaker,
    "language.english.touch_rules.of_whom_it_is": lambda text: list(
        touch_rules.of_whom_it_is(touch_rules.TouchPair("User has a blue canoe", text, AT))
    ),
    "language.english.touch_rules.places_of": touch_rules.places_of,
    "language.english.touch_rules.verdict_of": lambda text: touch_rules.verdict_of(
        touch_rules.TouchPair("User has a blue canoe", text, AT)
    ),
    "providers.message_pieces.pieces": _in_pieces,
    "language.english.statements.compare.relation": _compared,
    "profiles.summaries.choose_sentences.choose": _chosen,
}
# What has such an argument and does not read a text: SQL, one word, a name, a verb that is bounded
# by `bounds.WHOLE` or by its callers before anything is read.
OTHERS = frozenset(
    """
    belief.cases.case_decision.decision_by chat.questions.with_sources chat.sources.Sources.citation
    chat.sources.Sources.of_documents
    chat.sources.Sources.of_memories sources.connections.sync.Turn.finish
    sources.connectors.notion.moment belief.resolve.forgotten_words.for_document
    index.entries.summary_item
    compat.client_view.chain_of compat.client_view.head_of documents.pipeline.moment_of
    documents.document_summary.summary_of index.entries.passage_item
    judge.tokens.pair_tokens search.search_question.SearchQuestion.part
    providers.neural.neural_embedder.NeuralReranker.scores
    search.confidence.similarity_by_words language.english.patterns.library.is_wish
    reading.guard.credentials.key_names reading.guard.credentials.names reading.guard.identity_numbers.names
    search.context_rows.LayerRows.asked search.told_attribute.told_attribute
    belief.review.create.checked belief.review.approve.approve
    belief.review.edit.new_version belief.review.create.places_in
    reading.extraction.extraction_types.visibility_of
    reading.extraction.extraction_types.ExtractOptions.visibility_of
    belief.review.quarantine.accept language.english.verbs.is_adverb
    reading.guard.credentials.entropy reading.guard.credentials.find_keys reading.guard.credentials.find_blocks
    reading.guard.credentials.find_named reading.guard.credentials.is_placeholder reading.guard.credentials.find
    reading.guard.rule_forms.Form.finditer reading.guard.identity_numbers.find reading.guard.orders.find
    language.english.verbs.is_past language.english.verbs.past
    language.english.verbs.plural language.english.verbs.third_person language.english.verbs.without_s
    language.english.verbs.with_s language.english.verbs.is_participle language.english.verbs.is_past
    language.english.verbs.may_be_past
    language.english.statements.attributes.own_slots models.feature.Feature.text_of
    index.entries.keys_of_episode
    index.prepared_sql.arrays index.prepared_sql.execute index.prepared_sql.first
    index.prepared_sql.rows providers.http_reranker.HttpReranker.scores
    providers.local_embedder.LocalEmbedder.embed_one belief.resolve.rejections.take_back
    search.query_vectors.query_vector search.query_vectors.vector_of
    search.reranking.reranker_scores
    transcripts.markdown_files.MarkdownPlace.add
    transcripts.markdown_files.MarkdownPlace.enter
    transcripts.text_files.paragraph transcripts.text_logs.OpenMessage.add transcripts.text_logs.OpenMessage.take
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

-- as in ingest_one_message: select k.id, cross_proves('workspaces_apikey', k.id, %(digest)s), k.workspace_id, w.slug,

-- as in ingest_one_message: select s.number, s.workspace_id, s.embedding_model_id, s.live_memories, s.live_episodes,

-- as in ingest_one_message: select right(said.content, 400) as words

-- as in ingest_one_message: select * from workspaces_subject where workspace_id = %(workspace)s and external_id = %(name)s;

-- as in ingest_one_message: select * from memories_conversation where workspace_id = %(workspace)s and external_id = %(name)s

-- as in ingest_one_message: select id, left(content, %(most)s) as content,

-- as in ingest_one_message: update memories_workspaceindex

-- as in ingest_one_message: select array(select nextval('memories_entry_id_seq')

-- as in ingest_one_message: with n0 as (insert into memories_memorysession ("id", "created_at", "updated_at", "workspace_id", "state",

-- as in ingest_one_message: insert into memories_speaker (workspace, subject, author, assistant, episodes)

-- as in ingest_one_message: update memories_entry

-- as in ingest_one_message: insert into memories_duesummary as s

-- as in ingest_one_message: with own as materialized (

-- as in ingest_one_message: insert into memories_touch as t (workspace_id, memory_id, episode_id, start, "end", said_at, relation,

-- as in ingest_one_message: select id, kind, role, author, left(content, %(most)s) as content, occurred_at, utc_offset,

-- as in ingest_one_message: SELECT "workspaces_apikey"."container_tags" AS "container_tags" FROM "workspaces_apikey" WHERE

-- as in ingest_one_message: select id from workspaces_workspace where id = %(workspace)s::uuid for no key update;

-- as in ingest_one_message: select r.id, coalesce(hidden.words, r.content) as content, r.fingerprint, r.reason,

-- as in ingest_one_message: select 0 as i, near.similarity, e.item from (

-- as in ingest_one_message: with met as (

-- as in ingest_one_message: update memories_workspaceindex

-- as in ingest_one_message: select array(select nextval('memories_entry_id_seq')

with n0 as (insert into memories_memory ("id", "created_at", "updated_at", "workspace_id", "subject_id",
    "agent_id", "conversation_id", "workflow", "scope", "content", "fingerprint", "slots", "entities",
    "fact_type", "category", "source", "confidence", "visibility", "event_date", "valid_from", "valid_until",
    "valid_until_at", "ended_by", "superseded_by_id", "superseded_at", "version", "is_inference", "source_count",
    "pinned", "held_at", "forgotten_at", "forget_after", "forget_reason", "metadata") values ($1::uuid,
    $2::timestamp with time zone, $3::timestamp with time zone, $4::uuid, $5::uuid, $6::uuid, $7::uuid,
    $8::varchar, $9::varchar, $10::text, $11::bytea, $12::bigint[], $13::varchar[], $14::varchar, $15::varchar,
    $16::varchar, $17::double precision, $18::varchar, $19::timestamp with time zone, $20::timestamp with time
    zone, $21::timestamp with time zone, $22::timestamp with time zone, $23::uuid, $24::uuid, $25::timestamp with
    time zone, $26::integer, $27::boolean, $28::integer, $29::boolean, $30::timestamp with time zone,
    $31::timestamp with time zone, $32::timestamp with time zone, $33::text, $34::jsonb)), n1 as (insert into
  memories_memoryperiod ("workspace_id", "memory_id", "from_at", "until_at", "cause", "ended_by") values
  ($35::uuid, $36::uuid, $37::timestamp with time zone, $38::timestamp with time zone, $39::varchar,
    $40::varchar)), n2 as (insert into memories_fact ("id", "created_at", "updated_at", "workspace_id",
    "session_id", "memory_id", "subject_id", "agent_id", "statement", "category", "fact_type", "confidence",
    "method", "rule", "entities", "visibility", "event_date", "quarantined_at", "quarantine_reason",
    "withdrawn_at") values ($41::uuid, $42::timestamp with time zone, $43::timestamp with time zone, $44::uuid,
    $45::uuid, $46::uuid, $47::uuid, $48::uuid, $49::text, $50::varchar, $51::varchar, $52::double precision,
    $53::varchar, $54::varchar, $55::varchar[], $56::varchar, $57::timestamp with time zone, $58::timestamp with
    time zone, $59::text, $60::timestamp with time zone)), n3 as (insert into memories_citation ("workspace_id",
    "fact_id", "episode_id", "revision_id", "start", "end", "quote") values ($61::uuid, $62::uuid, $63::uuid,
    $64::uuid, $65::integer, $66::integer, $67::text)), n4 as (insert into memories_entry (id, workspace, layer,
    item, subject, agent, visibility, scope, place, conversation, occurred_at, event_at, role, author, position,
    marks, live, length, terms, trigrams, weights, rules) values ($68::int8, $69::int4, $70::int2, $71::uuid,
    $72::uuid, $73::uuid, $74::int2, $75::int2, $76::uuid, $77::uuid, $78::timestamptz, $79::timestamptz,
    $80::varchar, $81::varchar, $82::int4, $83::int2, $84::bool, $85::int4, $86::int8[], $87::int8[],
    $88::sparsevec, $89::int2)) insert into memories_vector (entry_id, embedding_model_id, part, workspace, layer,
  subject, agent, visibility, scope, place, live, wide, embedding) values ($90::int8, $91::int2, $92::int2,
  $93::int4, $94::int2, $95::uuid, $96::uuid, $97::int2, $98::int2, $99::uuid, $100::bool, $101::bool,
  $102::halfvec);
-- reads
--   Insert on memories_vector
--   CTE n0
--   Insert on memories_memory
--   CTE n1
--   Insert on memories_memoryperiod
--   CTE n2
--   Insert on memories_fact
--   CTE n3
--   Insert on memories_citation
--   CTE n4
--   Insert on memories_entry

-- as in ingest_one_message: with later as materialized (

-- as in ingest_one_message: insert into workspaces_auditentry ("id", "created_at", "updated_at", "workspace_id", "actor", "action",

-- as in ingest_one_message: update memories_memorysession

-- as in ingest_one_message: SELECT "memories_memorysession"."id", "memories_memorysession"."created_at",

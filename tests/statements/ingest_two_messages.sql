-- as in ingest_one_message: select k.id, cross_proves('workspaces_apikey', k.id, %(digest)s), k.workspace_id, w.slug,

-- as in ingest_one_message: select s.number, s.workspace_id, s.embedding_model_id, s.live_memories, s.live_episodes,

-- as in ingest_one_message: select right(said.content, 400) as words

-- as in ingest_one_message: select * from workspaces_subject where workspace_id = %(workspace)s and external_id = %(name)s;

-- as in ingest_one_message: select * from memories_conversation where workspace_id = %(workspace)s and external_id = %(name)s

-- as in ingest_one_message: select id, left(content, %(most)s) as content,

-- as in ingest_one_message: update memories_workspaceindex

-- as in ingest_one_message: select array(select nextval('memories_entry_id_seq')

insert into memories_memorysession ("id", "created_at", "updated_at", "workspace_id", "state", "mode",
  "pathway", "extract", "is_whole_text", "subject_id", "agent_id", "conversation_id", "workflow", "scope",
  "visibility", "metadata", "instructions", "requested_by", "reason", "error", "attempts", "next_attempt_at",
  "lease_until", "claims", "failures", "learned", "answer", "episode_ids", "created_ids", "updated_ids",
  "reinforced_ids", "counts", "timings", "steps", "finished_at") values ($1::uuid, $2::timestamp with time zone,
  $3::timestamp with time zone, $4::uuid, $5::varchar, $6::varchar, $7::varchar, $8::varchar, $9::boolean,
  $10::uuid, $11::uuid, $12::uuid, $13::varchar, $14::varchar, $15::varchar, $16::jsonb, $17::jsonb,
  $18::varchar, $19::text, $20::text, $21::smallint, $22::timestamp with time zone, $23::timestamp with time
  zone, $24::integer, $25::smallint, $26::integer, $27::uuid, $28::uuid[], $29::uuid[], $30::uuid[],
  $31::uuid[], $32::jsonb, $33::jsonb, $34::jsonb, $35::timestamp with time zone);
-- reads
--   Insert on memories_memorysession

insert into memories_episode ("id", "created_at", "updated_at", "workspace_id", "session_id",
  "conversation_id", "subject_id", "agent_id", "kind", "role", "author", "content", "payload", "metadata",
  "occurred_at", "utc_offset", "position", "scope", "workflow", "external_id", "judge_attempts") values
($1::uuid, $2::timestamp with time zone, $3::timestamp with time zone, $4::uuid, $5::uuid, $6::uuid, $7::uuid,
  $8::uuid, $9::varchar, $10::varchar, $11::varchar, $12::text, $13::jsonb, $14::jsonb, $15::timestamp with time
  zone, $16::smallint, $17::integer, $18::varchar, $19::varchar, $20::varchar, $21::smallint), ($22::uuid,
  $23::timestamp with time zone, $24::timestamp with time zone, $25::uuid, $26::uuid, $27::uuid, $28::uuid,
  $29::uuid, $30::varchar, $31::varchar, $32::varchar, $33::text, $34::jsonb, $35::jsonb, $36::timestamp with
  time zone, $37::smallint, $38::integer, $39::varchar, $40::varchar, $41::varchar, $42::smallint);
-- reads
--   Insert on memories_episode

insert into memories_entry (id, workspace, layer, item, subject, agent, visibility, scope, place,
  conversation, occurred_at, event_at, role, author, position, marks, live, length, terms, trigrams, weights,
  rules) values ($1::int8, $2::int4, $3::int2, $4::uuid, $5::uuid, $6::uuid, $7::int2, $8::int2, $9::uuid,
  $10::uuid, $11::timestamptz, $12::timestamptz, $13::varchar, $14::varchar, $15::int4, $16::int2, $17::bool,
  $18::int4, $19::int8[], $20::int8[], $21::sparsevec, $22::int2), ($23::int8, $24::int4, $25::int2, $26::uuid,
  $27::uuid, $28::uuid, $29::int2, $30::int2, $31::uuid, $32::uuid, $33::timestamptz, $34::timestamptz,
  $35::varchar, $36::varchar, $37::int4, $38::int2, $39::bool, $40::int4, $41::int8[], $42::int8[],
  $43::sparsevec, $44::int2);
-- reads
--   Insert on memories_entry

insert into memories_vector (entry_id, embedding_model_id, part, workspace, layer, subject, agent, visibility,
  scope, place, live, wide, embedding) values ($1::int8, $2::int2, $3::int2, $4::int4, $5::int2, $6::uuid,
  $7::uuid, $8::int2, $9::int2, $10::uuid, $11::bool, $12::bool, $13::halfvec), ($14::int8, $15::int2,
  $16::int2, $17::int4, $18::int2, $19::uuid, $20::uuid, $21::int2, $22::int2, $23::uuid, $24::bool, $25::bool,
  $26::halfvec);
-- reads
--   Insert on memories_vector

-- as in ingest_one_message: insert into memories_speaker (workspace, subject, author, assistant, episodes)

-- as in ingest_one_message: update memories_entry

-- as in ingest_one_message: insert into memories_duesummary as s

-- as in ingest_one_message: with own as materialized (

-- as in ingest_one_message: insert into memories_touch as t (workspace_id, memory_id, episode_id, start, "end", said_at, relation,

-- as in ingest_one_message: select id, kind, role, author, left(content, %(most)s) as content, occurred_at, utc_offset,

-- as in ingest_one_message: SELECT "workspaces_apikey"."container_tags" AS "container_tags" FROM "workspaces_apikey" WHERE

-- as in ingest_one_message: select id from workspaces_workspace where id = %(workspace)s::uuid for no key update;

-- as in ingest_one_message: select r.id, coalesce(hidden.words, r.content) as content, r.fingerprint, r.reason,

with asked as materialized (
  select v, visible, i - 1 as i from unnest(%(vectors)b::halfvec[], %(visible)s::int2[])
  with ordinality n(v, visible, i) where v is not null),
near as materialized (
  select n.i, x.entry_id, -(x.embedding <#> n.v) as similarity,
  row_number() over (partition by n.i order by x.embedding <#> n.v, x.entry_id) as rank
  from asked n cross join lateral (select x.entry_id, x.embedding
    from memories_vector x
    where x.workspace = %(workspace)s and x.embedding_model_id = %(model)s
    and x.layer = %(layer)s and x.live and not x.wide
    and x.subject = %(subject)s and x.part = 0 and x.scope = %(scope)s
    and x.place is not distinct from %(place)s::uuid and ((n.visible = 2 and x.visibility = 2) or (n.visible =
        1 and x.visibility = 1 and (x.agent = any(%(team)s::uuid[]) or (x.agent is null and %(default_team)s))) or
      (n.visible = 0 and x.visibility = 0 and x.agent is not distinct from %(agent)s::uuid))) x
  where (x.embedding <#> n.v) <= -%(threshold)s::float8)
select near.i, near.similarity, e.item from near join memories_entry e on e.id = near.entry_id
where near.rank <= %(most)s
order by near.i, near.similarity desc, near.entry_id;
-- reads
--   CTE asked
--   CTE near
--   Index vector_scan
--   Index memories_entry_pkey

-- as in ingest_one_message: with met as (

-- as in ingest_one_message: with pair as (

-- as in ingest_one_message: select m.id, m.ended_by, m.valid_until from memories_memory m

-- as in ingest_one_message: update memories_entry set live = %(live)s

-- as in ingest_one_message: update memories_vector set live = %(live)s where entry_id = any(%(ids)s);

-- as in ingest_one_message: update memories_workspaceindex

-- as in ingest_one_message: select id from memories_ground

-- as in ingest_one_message: select distinct e.conversation_id, e.subject_id

-- as in ingest_one_message: insert into memories_duesummary as s

-- as in ingest_one_message: update memories_workspaceindex

-- as in ingest_one_message: select array(select nextval('memories_entry_id_seq')

insert into memories_memory ("id", "created_at", "updated_at", "workspace_id", "subject_id", "agent_id",
  "conversation_id", "workflow", "scope", "content", "fingerprint", "slots", "entities", "fact_type",
  "category", "source", "confidence", "visibility", "event_date", "valid_from", "valid_until", "valid_until_at",
  "ended_by", "superseded_by_id", "superseded_at", "version", "is_inference", "source_count", "pinned",
  "held_at", "forgotten_at", "forget_after", "forget_reason", "metadata") values ($1::uuid, $2::timestamp with
  time zone, $3::timestamp with time zone, $4::uuid, $5::uuid, $6::uuid, $7::uuid, $8::varchar, $9::varchar,
  $10::text, $11::bytea, $12::bigint[], $13::varchar[], $14::varchar, $15::varchar, $16::varchar, $17::double
  precision, $18::varchar, $19::timestamp with time zone, $20::timestamp with time zone, $21::timestamp with
  time zone, $22::timestamp with time zone, $23::uuid, $24::uuid, $25::timestamp with time zone, $26::integer,
  $27::boolean, $28::integer, $29::boolean, $30::timestamp with time zone, $31::timestamp with time zone,
  $32::timestamp with time zone, $33::text, $34::jsonb), ($35::uuid, $36::timestamp with time zone,
  $37::timestamp with time zone, $38::uuid, $39::uuid, $40::uuid, $41::uuid, $42::varchar, $43::varchar,
  $44::text, $45::bytea, $46::bigint[], $47::varchar[], $48::varchar, $49::varchar, $50::varchar, $51::double
  precision, $52::varchar, $53::timestamp with time zone, $54::timestamp with time zone, $55::timestamp with
  time zone, $56::timestamp with time zone, $57::uuid, $58::uuid, $59::timestamp with time zone, $60::integer,
  $61::boolean, $62::integer, $63::boolean, $64::timestamp with time zone, $65::timestamp with time zone,
  $66::timestamp with time zone, $67::text, $68::jsonb);
-- reads
--   Insert on memories_memory

insert into memories_memoryperiod ("workspace_id", "memory_id", "from_at", "until_at", "cause", "ended_by")
values ($1::uuid, $2::uuid, $3::timestamp with time zone, $4::timestamp with time zone, $5::varchar,
  $6::varchar), ($7::uuid, $8::uuid, $9::timestamp with time zone, $10::timestamp with time zone, $11::varchar,
  $12::varchar);
-- reads
--   Insert on memories_memoryperiod

insert into memories_supersession ("id", "created_at", "updated_at", "workspace_id", "old_id", "new_id",
  "similarity", "model", "rule", "method", "state", "decided_by", "decided_at", "note", "waited", "case_id")
values ($1::uuid, $2::timestamp with time zone, $3::timestamp with time zone, $4::uuid, $5::uuid, $6::uuid,
  $7::double precision, $8::varchar, $9::varchar, $10::varchar, $11::varchar, $12::varchar, $13::timestamp with
  time zone, $14::text, $15::boolean, $16::uuid);
-- reads
--   Insert on memories_supersession

insert into memories_fact ("id", "created_at", "updated_at", "workspace_id", "session_id", "memory_id",
  "subject_id", "agent_id", "statement", "category", "fact_type", "confidence", "method", "rule", "entities",
  "visibility", "event_date", "quarantined_at", "quarantine_reason", "withdrawn_at") values ($1::uuid,
  $2::timestamp with time zone, $3::timestamp with time zone, $4::uuid, $5::uuid, $6::uuid, $7::uuid, $8::uuid,
  $9::text, $10::varchar, $11::varchar, $12::double precision, $13::varchar, $14::varchar, $15::varchar[],
  $16::varchar, $17::timestamp with time zone, $18::timestamp with time zone, $19::text, $20::timestamp with
  time zone), ($21::uuid, $22::timestamp with time zone, $23::timestamp with time zone, $24::uuid, $25::uuid,
  $26::uuid, $27::uuid, $28::uuid, $29::text, $30::varchar, $31::varchar, $32::double precision, $33::varchar,
  $34::varchar, $35::varchar[], $36::varchar, $37::timestamp with time zone, $38::timestamp with time zone,
  $39::text, $40::timestamp with time zone);
-- reads
--   Insert on memories_fact

insert into memories_citation ("workspace_id", "fact_id", "episode_id", "revision_id", "start", "end",
  "quote") values ($1::uuid, $2::uuid, $3::uuid, $4::uuid, $5::integer, $6::integer, $7::text), ($8::uuid,
  $9::uuid, $10::uuid, $11::uuid, $12::integer, $13::integer, $14::text);
-- reads
--   Insert on memories_citation

-- as in ingest_two_messages: insert into memories_entry (id, workspace, layer, item, subject, agent, visibility, scope, place,

-- as in ingest_two_messages: insert into memories_vector (entry_id, embedding_model_id, part, workspace, layer, subject, agent, visibility,

-- as in ingest_one_message: with later as materialized (

-- as in ingest_one_message: insert into memories_touch as t (workspace_id, memory_id, episode_id, start, "end", said_at, relation,

-- as in ingest_one_message: insert into workspaces_auditentry ("id", "created_at", "updated_at", "workspace_id", "actor", "action",

-- as in ingest_one_message: update memories_memorysession

-- as in ingest_one_message: SELECT "memories_memorysession"."id", "memories_memorysession"."created_at",

-- as in ingest_one_message: select k.id, k.digest, k.workspace_id, w.slug, k.agent_id, k.capabilities, k.expires_at,

-- as in ingest_one_message: select s.number, s.workspace_id, s.embedding_model_id, s.live_memories, s.live_episodes,

-- as in ingest_one_message: select * from workspaces_subject where workspace_id = %(workspace)s and external_id = %(name)s;

-- as in ingest_one_message: select * from memories_conversation where workspace_id = %(workspace)s and external_id = %(name)s

-- as in ingest_one_message: select id, left(content, %(most)s) as content,

-- as in ingest_one_message: update memories_workspaceindex

insert into memories_memorysession ("id", "created_at", "updated_at", "workspace_id", "state", "mode",
  "pathway", "extract", "is_whole_text", "subject_id", "agent_id", "conversation_id", "workflow", "scope",
  "visibility", "metadata", "requested_by", "reason", "error", "attempts", "next_attempt_at", "lease_until",
  "claims", "failures", "learned", "answer", "episode_ids", "created_ids", "updated_ids", "reinforced_ids",
  "counts", "timings", "steps", "finished_at") values ($1::uuid, $2::timestamp with time zone, $3::timestamp
  with time zone, $4::uuid, $5::varchar, $6::varchar, $7::varchar, $8::varchar, $9::boolean, $10::uuid,
  $11::uuid, $12::uuid, $13::varchar, $14::varchar, $15::varchar, $16::jsonb, $17::varchar, $18::text,
  $19::text, $20::smallint, $21::timestamp with time zone, $22::timestamp with time zone, $23::integer,
  $24::smallint, $25::integer, $26::uuid, $27::uuid[], $28::uuid[], $29::uuid[], $30::uuid[], $31::jsonb,
  $32::jsonb, $33::jsonb, $34::timestamp with time zone);
-- reads
--   Insert on memories_memorysession

-- as in ingest_one_message: insert into memories_speaker (workspace, subject, author, assistant, episodes)

-- as in ingest_one_message: update memories_entry set terms = %(terms)s::int8[], weights = %(weights)s::sparsevec, length = %(length)s

-- as in ingest_one_message: select id, kind, role, author, left(content, %(most)s) as content, occurred_at

-- as in ingest_one_message: select pg_advisory_xact_lock(%(kind)s, %(number)s)::text;

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

-- as in ingest_one_message: select r.id, coalesce(hidden.words, r.content) as content, r.fingerprint,

-- as in ingest_one_message: with pair as (

-- as in ingest_one_message: update memories_entry set live = %(live)s

-- as in ingest_one_message: update memories_vector set live = %(live)s where entry_id = any(%(ids)s);

-- as in ingest_one_message: update memories_workspaceindex

-- as in ingest_one_message: select id from memories_ground

-- as in ingest_one_message: update memories_workspaceindex

insert into memories_supersession ("id", "created_at", "updated_at", "workspace_id", "old_id", "new_id",
  "similarity", "model", "rule", "method", "state", "decided_by", "decided_at", "note", "waited", "case_id")
values ($1::uuid, $2::timestamp with time zone, $3::timestamp with time zone, $4::uuid, $5::uuid, $6::uuid,
  $7::double precision, $8::varchar, $9::varchar, $10::varchar, $11::varchar, $12::varchar, $13::timestamp with
  time zone, $14::text, $15::boolean, $16::uuid);
-- reads
--   Insert on memories_supersession

-- as in ingest_one_message: insert into workspaces_auditentry ("id", "created_at", "updated_at", "workspace_id", "actor", "action",

-- as in ingest_one_message: update memories_memorysession

-- as in ingest_one_message: SELECT "memories_memorysession"."id", "memories_memorysession"."created_at",

select k.id, cross_proves('workspaces_apikey', k.id, %(digest)s), k.workspace_id, w.slug,
k.agent_id, k.capabilities, k.expires_at,
k.revoked_at, k.last_used_at, k.per_minute, k.container_tags, k.limited_to_subjects,
coalesce(a.team, ''),
case when a.id is null then '{}' else array(
  select b.id from workspaces_agent b
  where b.workspace_id = k.workspace_id and b.team = a.team) end,
case when k.limited_to_subjects then array(
  select s.subject_id from workspaces_apikey_subjects s where s.apikey_id = k.id)
else '{}' end
from workspaces_apikey k
join workspaces_workspace w on w.id = k.workspace_id
left join workspaces_agent a on a.id = k.agent_id
where k.prefix = %(prefix)s;

select s.number, s.workspace_id, s.embedding_model_id, s.live_memories, s.live_episodes,
s.live_features, s.live_chunks, s.live_summaries, s.stamp, s.rules,
w.settings -> 'extractors' as extractors,
w.settings ->> 'conflictRule' as conflict_rule, w.settings -> 'ranking' as ranking,
w.settings ->> 'llm' as llm,
w.settings -> 'review' as review, w.settings -> 'guard' as guard,
w.settings -> 'instructions' as instructions,
w.settings ->> 'dateOrder' as date_order, w.settings -> 'patternsOff' as patterns_off,
w.settings -> 'decisionsOff' as decisions_off, w.settings ->> 'timezone' as time_zone,
exists (select 1 from memories_workspacepattern p
  where p.workspace_id = w.id and p.enabled) as has_patterns,
(exists (select 1 from memories_workspaceslot o
    where o.workspace_id = w.id and o.enabled)
  or exists (select 1 from memories_workspacechange c
    where c.workspace_id = w.id and c.enabled)) as has_own_words,
(select coalesce(jsonb_agg(jsonb_build_object(
        'layer', l.layer, 'model', l.embedding_model_id, 'upto', l.sealed_upto,
        'subjects', l.large_subjects)), '[]')
  from memories_largelayer l
  where l.workspace_id = s.number and l.sealed_upto is not null) as segments,
m.provider, m.name, m.dimensions, m.duplicate_threshold, m.search_floor, m.state,
m.confidence::text as confidence
from memories_workspaceindex s join workspaces_workspace w on w.id = s.workspace_id
left join memories_embeddingmodel m on m.id = s.embedding_model_id where s.workspace_id = %(workspace)s;

select right(said.content, 400) as words
from memories_conversation c
cross join lateral (select e.content from memories_episode e where e.conversation_id = c.id
  and (%(agent)s::uuid is null or e.agent_id = %(agent)s::uuid)
  and (%(subjects)s::uuid[] is null or e.subject_id = any(%(subjects)s::uuid[]))
  order by e.occurred_at desc, e.position desc limit 1) said
where c.workspace_id = %(workspace)s and c.external_id = %(thread)s;
-- reads
--   Index episode_order

select * from workspaces_subject where workspace_id = %(workspace)s and external_id = %(name)s;

select * from memories_conversation where workspace_id = %(workspace)s and external_id = %(name)s
for no key update;

select id, left(content, %(most)s) as content,
(select max(position) + 1 from memories_episode
  where conversation_id = %(conversation)s) as positions
from memories_episode where conversation_id = %(conversation)s
order by occurred_at desc, position desc limit 3;
-- reads
--   Index episode_position
--   Index episode_order

update memories_workspaceindex
set live_memories = live_memories + %(live_memories)s::int8,
live_episodes = live_episodes + %(live_episodes)s::int8,
live_features = live_features + %(live_features)s::int8,
live_chunks = live_chunks + %(live_chunks)s::int8,
live_summaries = live_summaries + %(live_summaries)s::int8, stamp = stamp + 1
where number = %(number)s
returning embedding_model_id;
-- reads
--   Update on memories_workspaceindex

select array(select nextval('memories_entry_id_seq')
  from generate_series(1, %(ids)s::int)) as ids;

with n0 as (insert into memories_memorysession ("id", "created_at", "updated_at", "workspace_id", "state",
    "mode", "pathway", "extract", "is_whole_text", "subject_id", "agent_id", "conversation_id", "workflow",
    "scope", "visibility", "metadata", "instructions", "requested_by", "reason", "error", "attempts",
    "next_attempt_at", "lease_until", "claims", "failures", "learned", "answer", "episode_ids", "created_ids",
    "updated_ids", "reinforced_ids", "counts", "timings", "steps", "finished_at") values ($1::uuid, $2::timestamp
    with time zone, $3::timestamp with time zone, $4::uuid, $5::varchar, $6::varchar, $7::varchar, $8::varchar,
    $9::boolean, $10::uuid, $11::uuid, $12::uuid, $13::varchar, $14::varchar, $15::varchar, $16::jsonb,
    $17::jsonb, $18::varchar, $19::text, $20::text, $21::smallint, $22::timestamp with time zone, $23::timestamp
    with time zone, $24::integer, $25::smallint, $26::integer, $27::uuid, $28::uuid[], $29::uuid[], $30::uuid[],
    $31::uuid[], $32::jsonb, $33::jsonb, $34::jsonb, $35::timestamp with time zone)), n1 as (insert into
  memories_episode ("id", "created_at", "updated_at", "workspace_id", "session_id", "conversation_id",
    "subject_id", "agent_id", "kind", "role", "author", "content", "payload", "metadata", "occurred_at",
    "utc_offset", "position", "scope", "workflow", "external_id", "judge_attempts") values ($36::uuid,
    $37::timestamp with time zone, $38::timestamp with time zone, $39::uuid, $40::uuid, $41::uuid, $42::uuid,
    $43::uuid, $44::varchar, $45::varchar, $46::varchar, $47::text, $48::jsonb, $49::jsonb, $50::timestamp with
    time zone, $51::smallint, $52::integer, $53::varchar, $54::varchar, $55::varchar, $56::smallint)), n2 as
(insert into memories_entry (id, workspace, layer, item, subject, agent, visibility, scope, place,
    conversation, occurred_at, event_at, role, author, position, marks, live, length, terms, trigrams, weights,
    rules) values ($57::int8, $58::int4, $59::int2, $60::uuid, $61::uuid, $62::uuid, $63::int2, $64::int2,
    $65::uuid, $66::uuid, $67::timestamptz, $68::timestamptz, $69::varchar, $70::varchar, $71::int4, $72::int2,
    $73::bool, $74::int4, $75::int8[], $76::int8[], $77::sparsevec, $78::int2)) insert into memories_vector
(entry_id, embedding_model_id, part, workspace, layer, subject, agent, visibility, scope, place, live, wide,
  embedding) values ($79::int8, $80::int2, $81::int2, $82::int4, $83::int2, $84::uuid, $85::uuid, $86::int2,
  $87::int2, $88::uuid, $89::bool, $90::bool, $91::halfvec);
-- reads
--   Insert on memories_vector
--   CTE n0
--   Insert on memories_memorysession
--   CTE n1
--   Insert on memories_episode
--   CTE n2
--   Insert on memories_entry

insert into memories_speaker (workspace, subject, author, assistant, episodes)
select %(workspace)s, %(subject)s::uuid, author, assistant, episodes
from unnest(%(authors)s::text[], %(assistants)s::bool[], %(episodes)s::int8[])
as heard(author, assistant, episodes)
on conflict (workspace, subject, author, assistant)
do update set episodes = memories_speaker.episodes + excluded.episodes;
-- reads
--   Insert on memories_speaker

update memories_entry
set terms = %(terms)s::int8[], weights = %(weights)s::sparsevec, length = %(length)s
where layer = %(layer)s and item = %(item)s;
-- reads
--   Update on memories_entry
--   Index entry_once

with own as materialized (
  select e.id, e.item, e.terms from memories_entry e
  where e.workspace = %(number)s and e.layer = 1 and e.live and e.subject = %(subject)s::uuid
  order by coalesce(e.event_at, e.occurred_at) desc limit 5000),
shared as (
  select k.i, o.item, row_number() over (partition by k.i order by count(*) desc, o.id desc) as place
  from own o cross join lateral unnest(o.terms) t (term)
  join unnest(%(at)s::int4[], %(terms)s::int8[]) k (i, term) on k.term = t.term
  group by k.i, o.item, o.id),
met as (
  select i, item from shared where place <= 20
  union
  select k.i, m.id from memories_memory m cross join lateral unnest(m.slots) q (slot)
  join unnest(%(slot_at)s::int4[], %(slots)s::int8[]) k (i, slot) on k.slot = q.slot
  where m.slots && %(slots)s::int8[] and m.is_head)
select met.i, m.id, m.content, told.at as told_at, told.episode_id as told_in
from met cross join lateral (select * from memories_memory t where t.id = met.item offset 0) m
left join lateral (
  select case when e.occurred_at - e.created_at > interval '1 day'
  then e.created_at else e.occurred_at end as at, e.id as episode_id
  from memories_fact f join memories_citation c on c.fact_id = f.id join memories_episode e on e.id =
  c.episode_id
  where f.memory_id = m.id order by 1, 2 limit 1) said on true
cross join lateral (select coalesce(said.at, m.created_at) as at, said.episode_id) told
where m.workspace_id = %(workspace)s and m.is_head and (m.forget_after is null or m.forget_after > now()) and
m.scope = %(scope)s
and (m.scope <> 'thread' or m.conversation_id = %(conversation)s::uuid)
and (m.scope <> 'workflow' or m.workflow = %(workflow)s)
and (m.visibility = 'global' or (m.visibility = 'team'
    and coalesce((select a.team from workspaces_agent a where a.id = m.agent_id), '') = %(team)s)
  or (m.visibility = 'private' and m.agent_id is not distinct from %(agent)s::uuid));
-- reads
--   CTE own
--   Index entry_dated_subject
--   Index memory_slots
--   Index memories_memory_pkey
--   Index memories_fact_memory_id_3e25a780
--   Index citation_once
--   Index memories_episode_pkey

insert into memories_touch as t (workspace_id, memory_id, episode_id, start, "end", said_at, relation,
  probability,
  by, model, until, attempts, made_at, decided_at, decided_by)
select %(workspace)s::uuid, n.memory, n.episode, n.start, n."end", n.said_at, n.relation, n.probability,
n.by, n.model, n.until, 0, %(now)s::timestamptz, case when n.is_sure then %(now)s::timestamptz end, ''
from unnest(%(memory)s::uuid[], %(episode)s::uuid[], %(start)s::int4[], %(end)s::int4[],
  %(said_at)s::timestamptz[],
  %(relation)s::text[], %(probability)s::float8[], %(by)s::text[], %(model)s::text[],
  %(until)s::timestamptz[], %(is_sure)s::bool[])
n (memory, episode, start, "end", said_at, relation, probability, by, model, until, is_sure)
on conflict (memory_id, episode_id) do update set start = excluded.start, "end" = excluded."end",
relation = excluded.relation, probability = excluded.probability, by = excluded.by, model = excluded.model,
until = excluded.until, decided_at = excluded.decided_at
where t.by <> 'person' and excluded.decided_at is not null;
-- reads
--   Insert on memories_touch

select e.id from memories_episode e where e.subject_id = %(subject)s limit 1 offset 3;
-- reads
--   Index episode_subject

select id, kind, role, author, left(content, %(most)s) as content, occurred_at, utc_offset,
exists (select 1 from memories_memorysession s
  where s.id = memories_episode.session_id and s.counts->'in_play' is not null) as in_play
from memories_episode
where conversation_id = %(conversation)s and position < %(position)s
and occurred_at between %(at)s - %(recent)s::interval and %(at)s
and subject_id is not distinct from %(subject)s::uuid
and (agent_id = %(agent)s::uuid or %(agent)s::uuid is null)
order by position desc limit %(last)s;
-- reads
--   Index episode_position

SELECT "workspaces_apikey"."container_tags" AS "container_tags" FROM "workspaces_apikey" WHERE
("workspaces_apikey"."container_tags" IS NOT NULL AND "workspaces_apikey"."workspace_id" = %s AND
  "workspaces_apikey"."id" = %s) ORDER BY "workspaces_apikey"."id" DESC;

select id from workspaces_workspace where id = %(workspace)s::uuid for no key update;

select r.id, coalesce(hidden.words, r.content) as content, r.fingerprint, r.reason,
case when hidden.words is null then v.embedding end as embedding, head.content as corrected
from memories_rejection r
left join lateral (
  select k.words from memories_maskedspan k where k.memory_id = r.memory_id and k.place = 'content'
  order by k.id limit 1) hidden on true
left join memories_memory m on m.id = r.memory_id
left join memories_memory head on head.id = m.superseded_by_id
left join memories_entry e on e.layer = %(layer)s and e.item = r.memory_id
left join memories_vector v
on v.entry_id = e.id and v.embedding_model_id = %(model)s and v.part = 0
where r.workspace_id = %(workspace)s and r.subject_id is not distinct from %(subject)s::uuid
and (r.agent_id is null or %(agents)s::uuid[] is null or r.agent_id = any(%(agents)s::uuid[]))
order by r.fingerprint = any(%(fingerprints)s::bytea[]) desc, r.id desc limit %(most)s;
-- reads
--   Index entry_once
--   Index memories_vector_pkey
--   Index memories_memory_pkey
--   Index memories_memory_pkey

select 0 as i, near.similarity, e.item from (
  select x.entry_id, -(x.embedding <#> %(vector)s::halfvec) as similarity
  from memories_vector x
  where x.workspace = %(workspace)s and x.embedding_model_id = %(model)s
  and x.layer = %(layer)s and x.live and not x.wide
  and x.subject = %(subject)s and x.part = 0 and x.scope = %(scope)s
  and x.place is not distinct from %(place)s::uuid and x.visibility = 0 and x.agent is not distinct from
  %(agent)s::uuid
  and (x.embedding <#> %(vector)s::halfvec) <= -%(threshold)s::float8
  order by similarity desc, x.entry_id limit %(most)s) near
join memories_entry e on e.id = near.entry_id
order by near.similarity desc, near.entry_id;
-- reads
--   Index vector_scan
--   Index memories_entry_pkey

with met as (
  select unnest(%(ids)s::uuid[]) as id
  union
  select id from memories_memory
  where workspace_id = %(workspace)s and fingerprint = any(%(fingerprints)s::bytea[]) and is_head
  union
  select id from memories_memory
  where slots && %(slots)s::int8[] and is_head)
select m.id, m.content, m.fingerprint, m.visibility as "group", m.pinned, m.version,
case when m.valid_from is not null
and not (m.valid_from > m.created_at and m.valid_from = m.event_date)
then least(m.valid_from, m.created_at, %(now)s) end as since,
m.event_date, m.source_count as support, m.slots, m.category,
m.valid_until as until
from met join memories_memory m on m.id = met.id
where
m.workspace_id = %(workspace)s and m.subject_id is not distinct from %(subject)s::uuid
and m.scope = %(scope)s
and (m.scope <> 'thread' or m.conversation_id = %(conversation)s::uuid)
and (m.scope <> 'workflow' or m.workflow = %(workflow)s)
and m.is_head and (m.forget_after is null or m.forget_after > now())
and (m.visibility = 'global'
  or (m.visibility = 'team' and (m.agent_id = any(%(team)s::uuid[])
      or (m.agent_id is null and %(default_team)s)))
  or (m.visibility = 'private' and m.agent_id is not distinct from %(agent)s::uuid))
order by m.id;
-- reads
--   Index memory_same_text
--   Index memory_slots
--   Index memories_memory_pkey

with pair as (
  select * from unnest(%(olds)s::uuid[], %(news)s::uuid[], %(since)s::timestamptz[])
  p(old, new, since)),
ended as (
  update memories_memoryperiod l
  set from_at = least(l.from_at, %(at)s), until_at = %(at)s, ended_by = 'superseded' from pair
  where l.memory_id = pair.old and l.until_at is null)
update memories_memory m
set superseded_by_id = pair.new, superseded_at = %(at)s, updated_at = %(at)s,
valid_until = case when m.valid_from < pair.since
then least(m.valid_until, pair.since) else m.valid_until end
from pair where m.id = pair.old and m.superseded_by_id is null;
-- reads
--   Update on memories_memory
--   CTE pair
--   CTE ended
--   Update on memories_memoryperiod
--   Index memoryperiod_history
--   Index memories_memory_pkey

select m.id, m.ended_by, m.valid_until from memories_memory m
where m.ended_by = any(%(ids)s::uuid[]) and m.superseded_by_id is null;
-- reads
--   Index memory_to_be_over

update memories_entry set live = %(live)s
where layer = %(layer)s and item = any(%(items)s) and live <> %(live)s returning id;
-- reads
--   Update on memories_entry
--   Index entry_once

update memories_vector set live = %(live)s where entry_id = any(%(ids)s);
-- reads
--   Update on memories_vector
--   Index memories_vector_pkey

-- as in ingest_one_message: update memories_workspaceindex

select id from memories_ground
where (on_id = any(%(ids)s::uuid[]) or memory_id = any(%(ids)s::uuid[])) and kept_at is null;

select distinct e.conversation_id, e.subject_id
from memories_fact f
join memories_citation c on c.fact_id = f.id
join memories_episode e on e.id = c.episode_id
where f.memory_id = any(%(ids)s::uuid[]);
-- reads
--   Index memories_fact_memory_id_3e25a780
--   Index citation_once
--   Index memories_episode_pkey

insert into memories_duesummary as s
(id, workspace_id, conversation_id, due_at, claims, attempts, created_at, updated_at)
select t.id, %(workspace)s, t.own, %(at)s, 0, 0, %(now)s, %(now)s
from unnest(%(ids)s::uuid[], %(owns)s::uuid[]) t (id, own)
on conflict (conversation_id) do update
set attempts = 0, due_at = case when (s.lease_until is null or s.lease_until < %(now)s or s.lease_until >
  %(now)s + interval '10 min')
then least(s.due_at, %(at)s) else %(at)s end;
-- reads
--   Insert on memories_duesummary

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
    $40::varchar)), n2 as (insert into memories_supersession ("id", "created_at", "updated_at", "workspace_id",
    "old_id", "new_id", "similarity", "model", "rule", "method", "state", "decided_by", "decided_at", "note",
    "waited", "case_id") values ($41::uuid, $42::timestamp with time zone, $43::timestamp with time zone,
    $44::uuid, $45::uuid, $46::uuid, $47::double precision, $48::varchar, $49::varchar, $50::varchar,
    $51::varchar, $52::varchar, $53::timestamp with time zone, $54::text, $55::boolean, $56::uuid)), n3 as (insert
  into memories_fact ("id", "created_at", "updated_at", "workspace_id", "session_id", "memory_id", "subject_id",
    "agent_id", "statement", "category", "fact_type", "confidence", "method", "rule", "entities", "visibility",
    "event_date", "quarantined_at", "quarantine_reason", "withdrawn_at") values ($57::uuid, $58::timestamp with
    time zone, $59::timestamp with time zone, $60::uuid, $61::uuid, $62::uuid, $63::uuid, $64::uuid, $65::text,
    $66::varchar, $67::varchar, $68::double precision, $69::varchar, $70::varchar, $71::varchar[], $72::varchar,
    $73::timestamp with time zone, $74::timestamp with time zone, $75::text, $76::timestamp with time zone)), n4
as (insert into memories_citation ("workspace_id", "fact_id", "episode_id", "revision_id", "start", "end",
    "quote") values ($77::uuid, $78::uuid, $79::uuid, $80::uuid, $81::integer, $82::integer, $83::text)), n5 as
(insert into memories_entry (id, workspace, layer, item, subject, agent, visibility, scope, place,
    conversation, occurred_at, event_at, role, author, position, marks, live, length, terms, trigrams, weights,
    rules) values ($84::int8, $85::int4, $86::int2, $87::uuid, $88::uuid, $89::uuid, $90::int2, $91::int2,
    $92::uuid, $93::uuid, $94::timestamptz, $95::timestamptz, $96::varchar, $97::varchar, $98::int4, $99::int2,
    $100::bool, $101::int4, $102::int8[], $103::int8[], $104::sparsevec, $105::int2)) insert into memories_vector
(entry_id, embedding_model_id, part, workspace, layer, subject, agent, visibility, scope, place, live, wide,
  embedding) values ($106::int8, $107::int2, $108::int2, $109::int4, $110::int2, $111::uuid, $112::uuid,
  $113::int2, $114::int2, $115::uuid, $116::bool, $117::bool, $118::halfvec);
-- reads
--   Insert on memories_vector
--   CTE n0
--   Insert on memories_memory
--   CTE n1
--   Insert on memories_memoryperiod
--   CTE n2
--   Insert on memories_supersession
--   CTE n3
--   Insert on memories_fact
--   CTE n4
--   Insert on memories_citation
--   CTE n5
--   Insert on memories_entry

with later as materialized (
  select n.item, n.terms from (
    select e.* from memories_entry e
    where e.workspace = %(number)s and e.layer = 2 and e.live and e.subject = %(subject)s::uuid
    order by coalesce(e.event_at, e.occurred_at) desc limit 500) n
  where n.occurred_at >= %(since)s::timestamptz and n.agent is not distinct from %(agent)s::uuid
  and n.scope = %(scope)s and n.place is not distinct from %(place)s::uuid),
shared as (
  select distinct k.i, l.item from later l cross join lateral unnest(l.terms) t (term)
  join unnest(%(at)s::int4[], %(terms)s::int8[]) k (i, term) on k.term = t.term),
met as (
  select s.i, e.id, e.content, e.author, case when e.occurred_at - e.created_at > interval '1 day'
  then e.created_at else e.occurred_at end as said_at,
  row_number() over (partition by s.i order by e.occurred_at desc, e.id desc) as place
  from shared s join memories_episode e on e.id = s.item
  join unnest(%(told_i)s::int4[], %(told_at)s::timestamptz[], %(told_in)s::uuid[]) told (i, at, episode) on
  told.i = s.i
  where e.kind = any(%(kinds)s::text[]) and (case when e.occurred_at - e.created_at > interval '1 day'
    then e.created_at else e.occurred_at end, e.id) > (told.at, told.episode))
select i, id, left(content, 4000) as content, author, said_at from met where place <= 20;
-- reads
--   CTE later
--   Index entry_once
--   Index memories_episode_pkey

-- as in ingest_one_message: insert into memories_touch as t (workspace_id, memory_id, episode_id, start, "end", said_at, relation,

insert into workspaces_auditentry ("id", "created_at", "updated_at", "workspace_id", "actor", "action",
  "target_kind", "target_id", "subject_id", "reason", "before", "after", "salt") values ($1::uuid, $2::timestamp
  with time zone, $3::timestamp with time zone, $4::uuid, $5::varchar, $6::varchar, $7::varchar, $8::uuid,
  $9::uuid, $10::text, $11::jsonb, $12::jsonb, $13::uuid);
-- reads
--   Insert on workspaces_auditentry

update memories_memorysession
set state = %(state)s, reason = %(reason)s, error = %(error)s, counts = %(counts)s,
timings = %(timings)s, steps = %(steps)s, next_attempt_at = %(next_attempt_at)s::timestamptz,
lease_until = %(lease_until)s::timestamptz, finished_at = %(finished_at)s::timestamptz,
created_ids = %(created_ids)s::uuid[], updated_ids = %(updated_ids)s::uuid[],
reinforced_ids = %(reinforced_ids)s::uuid[], attempts = %(attempts)s,
failures = %(failures)s, learned = %(learned)s, updated_at = %(now)s
where id = %(id)s and state = 'extracting' and claims = %(claims)s
returning *;
-- reads
--   Update on memories_memorysession

SELECT "memories_memorysession"."id", "memories_memorysession"."created_at",
"memories_memorysession"."updated_at", "memories_memorysession"."workspace_id",
"memories_memorysession"."state", "memories_memorysession"."mode", "memories_memorysession"."pathway",
"memories_memorysession"."extract", "memories_memorysession"."is_whole_text",
"memories_memorysession"."subject_id", "memories_memorysession"."agent_id",
"memories_memorysession"."conversation_id", "memories_memorysession"."workflow",
"memories_memorysession"."scope", "memories_memorysession"."visibility", "memories_memorysession"."metadata",
"memories_memorysession"."instructions", "memories_memorysession"."requested_by",
"memories_memorysession"."reason", "memories_memorysession"."error", "memories_memorysession"."attempts",
"memories_memorysession"."next_attempt_at", "memories_memorysession"."lease_until",
"memories_memorysession"."claims", "memories_memorysession"."failures", "memories_memorysession"."learned",
"memories_memorysession"."answer", "memories_memorysession"."episode_ids",
"memories_memorysession"."created_ids", "memories_memorysession"."updated_ids",
"memories_memorysession"."reinforced_ids", "memories_memorysession"."counts",
"memories_memorysession"."timings", "memories_memorysession"."steps", "memories_memorysession"."finished_at"
FROM "memories_memorysession" WHERE "memories_memorysession"."id" = %s LIMIT 21;

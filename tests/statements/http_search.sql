select k.id, cross_proves('workspaces_apikey', k.id, %(digest)s), k.workspace_id, w.slug,
k.agent_id, k.capabilities, k.expires_at,
k.revoked_at, k.last_used_at, k.per_minute, k.container_tags, k.limited_to_subjects,
coalesce(a.team, ''),
case when a.id is null then '{}' else array(
  select b.id from workspaces_agent b
  where b.workspace_id = k.workspace_id and b.team = a.team) end,
case when k.limited_to_subjects then array(
  select s.subject_id from workspaces_apikey_subjects s where s.apikey_id = k.id)
else '{}' end,
s.number, s.workspace_id, s.embedding_model_id, s.live_memories, s.live_episodes,
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
from workspaces_apikey k
join workspaces_workspace w on w.id = k.workspace_id
left join workspaces_agent a on a.id = k.agent_id
left join memories_workspaceindex s on s.workspace_id = w.id
left join memories_embeddingmodel m on m.id = s.embedding_model_id
where k.prefix = %(prefix)s;

-- as in search_hybrid_of_a_user: select (select id from workspaces_subject

-- as in search_hybrid_of_a_user: with spoken as (

-- as in search_hybrid_of_a_user: with

-- as in search_hybrid_with_everything: with

-- as in search_hybrid_all_layers: select distinct f.memory_id, ci.episode_id

with known as materialized (
  select unnest(%(found)s::uuid[]) as id
  union
  select f.memory_id from memories_citation ci join memories_fact f on f.id = ci.fact_id
  where ci.episode_id = any(%(told)s::uuid[]) and f.memory_id is not null)
select t.memory_id, t.relation = 'exception' as is_exception, x.id as entry, x.item as episode_id
from memories_touch t
cross join lateral (select x.id, x.item from memories_entry x
  where x.workspace = %(workspace)s and x.layer = %(layer)s and x.live
  and (x.subject = %(subject)s::uuid or x.subject is null and (x.visibility <> 0 or x.agent is null))
  and x.scope = %(open_scope)s::int2 and x.item = t.episode_id offset 0) x
where t.memory_id = any(array(select id from known)) and t.relation in ('unsure', 'replaces', 'ends',
  'exception')
and (t.until is null or t.until > %(instant)s::timestamptz) and not exists (
  select 1 from memories_fact f join memories_citation c on c.fact_id = f.id
  join memories_episode e on e.id = c.episode_id
  where f.memory_id = t.memory_id and f.withdrawn_at is null
  and (case when e.occurred_at - e.created_at > interval '1 day'
    then e.created_at else e.occurred_at end, e.id) > (t.said_at, t.episode_id))
order by t.said_at, t.episode_id;
-- reads
--   CTE known
--   Index memories_citation_episode_id_4ea26d11
--   Index memories_fact_pkey
--   Index memories_fact_memory_id_3e25a780
--   Index citation_once
--   Index memories_episode_pkey
--   Index entry_once

-- as in search_hybrid_memories: select m.*, (exists (

-- as in search_hybrid_memories: select t.memory_id as row_id, t.episode_id, t.relation, t.probability, t.by, e.external_id, e.occurred_at,

select m.id as row_id, said.id, said.external_id, said.role, said.author, said.is_others,
told.document_id, told.title, told.chunk_id, told.part, told.begun,
coalesce(said.occurred_at, told.occurred_at) as occurred_at, coalesce(said.utc_offset, 0) as
utc_offset,
coalesce(said.content, told.content) as content,
coalesce(said.start, told.start) as start, coalesce(said."end", told."end") as "end"
from unnest(%(ids)s::uuid[]) m (id)
left join lateral (
  select e.id, e.external_id, e.role, e.author, e.occurred_at, e.utc_offset, e.content, ci.start, ci."end",
  (%(user)s <> '' and (select s.external_id from workspaces_subject s
      where s.id = e.subject_id) <> %(user)s) is true as is_others
  from (select * from memories_fact t where t.memory_id = m.id offset 0) f
  cross join lateral (select * from memories_citation t where t.fact_id = f.id offset 0) ci
  cross join lateral (select * from memories_episode t where t.id = ci.episode_id offset 0) e
  where e.workspace_id = %(workspace)s and (%(known_at)s::timestamptz is null and f.withdrawn_at is null
    or f.created_at <= %(known_at)s and coalesce(f.withdrawn_at > %(known_at)s, true))
  and (%(said_before)s::timestamptz is null or e.occurred_at <= %(said_before)s::timestamptz)
  and (%(bound)s::uuid is null or e.agent_id = %(bound)s::uuid)
  and (%(subjects)s::uuid[] is null or e.subject_id = any(%(subjects)s::uuid[]))
  order by e.occurred_at desc, ci.id desc limit 1) said on true
left join lateral (
  select d.id as document_id, d.title, (select k.id from memories_chunk k
    where k.revision_id = ci.revision_id and k.start <= ci.start and k."end" >= ci."end"
    order by k.ordinal limit 1) as chunk_id, (select json_build_object('kind', p.kind, 'ordinal', p.ordinal,
      'label', p.label,
      'start', p.start, 'end', p."end") from memories_documentpart p
    where p.revision_id = ci.revision_id and p.start <= ci.start and p."end" > ci.start
    order by p.kind = 'heading', p.start desc limit 1) as part, ci.start, ci."end",
  coalesce(p.start, ci.start) as begun,
  substr(r.text, coalesce(p.start, ci.start) + 1,
    coalesce(p."end" - p.start, ci."end" - ci.start)) as content,
  coalesce(r.published_at, d.created_at) as occurred_at
  from (select * from memories_fact t where t.memory_id = m.id and said.id is null offset 0) f
  cross join lateral (select * from memories_citation t
    where t.fact_id = f.id and t.revision_id is not null offset 0) ci
  cross join lateral (select * from memories_revision t where t.id = ci.revision_id offset 0) r
  cross join lateral (select * from memories_document t where t.id = r.document_id offset 0) d
  left join lateral (select * from memories_passage t where t.revision_id = r.id
    and t.start <= ci.start and t."end" >= ci."end" limit 1) p on true
  where d.workspace_id = %(workspace)s and (%(known_at)s::timestamptz is null and f.withdrawn_at is null
    or f.created_at <= %(known_at)s and coalesce(f.withdrawn_at > %(known_at)s, true)) and
  (%(subjects)s::uuid[] is null or d.subject_id = any(%(subjects)s::uuid[]))
  and (%(bound)s::uuid is null or d.visibility = 'global'
    or (d.visibility = 'private' and d.agent_id = %(bound)s::uuid)
    or (d.visibility = 'team' and (d.agent_id = any(%(team)s::uuid[])
        or (d.agent_id is null and %(default_team)s))))
  and (%(spaces)s::text[] is null or exists (select 1 from memories_documentspace ds
      join memories_space sp on sp.id = ds.space_id
      where ds.document_id = d.id and sp.container_tag = any(%(spaces)s::text[])))
  and (%(said_before)s::timestamptz is null or coalesce(r.published_at, d.created_at) <=
    %(said_before)s::timestamptz)
  order by r.number desc, ci.id desc limit 1) told on true
where said.id is not null or told.document_id is not null;
-- reads
--   Index memories_fact_memory_id_3e25a780
--   Index citation_once
--   Index memories_episode_pkey
--   Index memories_fact_memory_id_3e25a780
--   Index citation_of_revision

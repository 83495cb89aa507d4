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

with spoken as (
  select subject, author, assistant, episodes from memories_speaker
  where workspace = %(workspace)s ),
talks as (
  select sum(episodes) as size, sum(episodes) ^ 2 / sum(episodes ^ 2) as voices
  from spoken where not assistant group by subject)
select author, assistant, sum(episodes)::int8 as episodes,
(select sum(size * voices) / sum(size) from talks)::float8 as voices
from spoken group by author, assistant order by 3 desc, author limit %(most)s;
-- reads
--   CTE spoken

with
stats as materialized (select %(n)s::int8 as n),
nearest as materialized (
  (select x.entry_id, x.part, x.embedding::halfvec(256) <#> %(vector)s::halfvec(256) as d
    from memories_vector x
    where workspace = <number> and embedding_model_id = <model> and layer = 1 and live and entry_id <= <upto>
    and case when true
    and x.scope = %(open_scope)s::int2 then true else false end
    order by x.embedding::halfvec(256) <#> %(vector)s::halfvec(256) limit 150)
  union all
  select x.entry_id, x.part, x.embedding <#> %(vector)s::halfvec as d
  from memories_vector x
  where workspace = <number> and embedding_model_id = <model> and layer = 1 and live and entry_id > <upto>
  and x.scope = %(open_scope)s::int2 ),
asked as materialized (
  select t.key, t.number, c.share, row_number() over rarest as place,
  sum(coalesce(c.share, 0)) over rarest * (select n from stats) as postings
  from unnest(%(keys)s::int8[], %(numbers)s::int4[]) t(key, number)
  left join memories_commonterm c on c.key = t.key
  window rarest as (order by coalesce(c.share, 0), t.number)),
pairs as materialized (
  select c.number, y.id, y.weights from asked c
  cross join lateral (
    select x.id, x.weights from memories_entry x
    where x.workspace + 0 = %(workspace)s and x.layer + 0 = %(layer)s and x.live
    and x.scope = %(open_scope)s::int2 and x.terms @> array[c.key] limit 5000) y
  where c.place = 1 or c.postings <= 500),
df as materialized (
  select a.number, greatest(p.df, a.share * (select n from stats)) as df
  from asked a left join (select number, count(*) as df from pairs group by number) p
  on p.number = a.number
  where p.df > 0 or a.share > 0 order by 2, 1 limit 16),
idf as materialized (
  select ('{' || string_agg(number || ':' || ln(1 + (greatest((select n from stats), df)
          - df + 0.5) / (df + 0.5))::float4, ',' order by number)
    || '}/1000000000')::sparsevec as q from df),
said as (
  select id from pairs
  group by id order by max(-(weights <#> (select q from idf))) desc, id limit 60),
pool as (
  select id, min(d) as d, bool_or(worded) as worded from (
    (select entry_id as id, min(d) as d, false as worded
      from nearest group by entry_id order by 2, 1 limit 60)
    union all select id, null, true from said
    union all select id, null, false from (select null::int8 as id where false) newest) sides
  group by id)
select array_agg(id) as id, array_agg(cosine) as cosine, array_agg(bm25) as bm25,
array_agg(talk) as conversation, array_agg(occurred_at) as at,
array_agg(length) as length, array_agg(marks) as marks, array_agg(item) as item
, array[(select count(*) from nearest)] as seen
from (
  select e.*, coalesce(-pool.d, (select -min(x.embedding <#> %(vector)s::halfvec) from memories_vector x
      where x.entry_id = pool.id and x.embedding_model_id = %(model)s), 'nan') as cosine,
  coalesce(nullif(-(e.weights <#> (select q from idf)), 0),
    case when pool.worded then 2.2 / (1 + 1.2 * (0.25 + 0.75 * e.length / 16.0)) else 0 end) as
  bm25,
  coalesce(uuid_hash_extended(e.conversation, 0), -e.id) as talk
  from pool join memories_entry e on e.id = pool.id) found;
-- reads
--   CTE stats
--   CTE nearest
--   Index vector_sealed
--   Index vector_tail
--   CTE asked
--   CTE pairs
--   Index entry_terms
--   CTE df
--   CTE idf
--   Index memories_entry_pkey
--   Index memories_vector_pkey

select m.*, (exists (
    select 1 from memories_ground g join memories_memory o on o.id = g.on_id
    where g.memory_id = m.id and g.kept_at is null
    and not (o.is_head and (o.forget_after is null or o.forget_after > now())))
  or (m.source_count = 0 and exists (
      select 1 from memories_fact f where f.memory_id = m.id and f.withdrawn_at is not null))) as is_uncertain,
(case when not (m.is_head and (m.forget_after is null or m.forget_after > now())) then 'past'
  when (exists (
      select 1 from memories_touch t
      where t.memory_id = m.id and t.relation in ('unsure', 'replaces', 'ends')
      and not exists (
        select 1 from memories_fact f join memories_citation c on c.fact_id = f.id
        join memories_episode e on e.id = c.episode_id
        where f.memory_id = t.memory_id and f.withdrawn_at is null
        and (case when e.occurred_at - e.created_at > interval '1 day'
          then e.created_at else e.occurred_at end, e.id) > (t.said_at, t.episode_id))) or (m.category = 'plan' and
      greatest(m.event_date, m.valid_until) < now() - interval '1 day') or (exists (
        select 1 from memories_ground g join memories_memory o on o.id = g.on_id
        where g.memory_id = m.id and g.kept_at is null
        and not (o.is_head and (o.forget_after is null or o.forget_after > now())))
      or (m.source_count = 0 and exists (
          select 1 from memories_fact f where f.memory_id = m.id and f.withdrawn_at is not null)))) then
  'questioned' else 'current' end) as standing, s.external_id as user_external, a.external_id as agent_external,
c.external_id as thread_external
from memories_memory m
left join workspaces_subject s on s.id = m.subject_id
left join workspaces_agent a on a.id = m.agent_id
left join memories_conversation c on c.id = m.conversation_id
where m.id = any(%(ids)s::uuid[]) and m.workspace_id = %(workspace)s
and (%(history)s or (m.forget_after is null or m.forget_after > now()));
-- reads
--   Index memories_memory_pkey
--   Index memories_memory_pkey
--   Index fact_withdrawn
--   Index memories_fact_memory_id_3e25a780
--   Index citation_once
--   Index memories_episode_pkey
--   Index memories_memory_pkey
--   Index fact_withdrawn

select t.memory_id as row_id, t.episode_id, t.relation, t.probability, t.by, e.external_id, e.occurred_at,
substr(e.content, t.start + 1, t."end" - t.start) as quote
from unnest(%(ids)s::uuid[]) m (id)
cross join lateral (
  select t.* from memories_touch t join memories_episode e on e.id = t.episode_id
  and (%(said_before)s::timestamptz is null or e.occurred_at <= %(said_before)s::timestamptz)
  and (%(bound)s::uuid is null or e.agent_id = %(bound)s::uuid)
  and (%(subjects)s::uuid[] is null or e.subject_id = any(%(subjects)s::uuid[]))
  where t.memory_id = m.id and t.workspace_id = %(workspace)s
  and (%(known_at)s::timestamptz is null or t.made_at <= %(known_at)s)
  order by t.relation in ('unsure', 'replaces', 'ends', 'exception') desc, t.said_at desc limit 5) t
join memories_episode e on e.id = t.episode_id
order by t.said_at desc, t.id desc;
-- reads
--   Index memories_episode_pkey
--   Index memories_episode_pkey

-- as in ingest_one_message: select k.id, cross_proves('workspaces_apikey', k.id, %(digest)s), k.workspace_id, w.slug,

-- as in ingest_one_message: select s.number, s.workspace_id, s.embedding_model_id, s.live_memories, s.live_episodes,

-- as in search_hybrid_memories: with spoken as (

with
w as materialized (
  select x.id from memories_entry x
  cross join lateral (select * from memories_memory t where t.id = x.item offset 0) row
  left join workspaces_subject s on s.id = row.subject_id
  left join workspaces_agent a on a.id = row.agent_id
  left join memories_conversation c on c.id = row.conversation_id
  where x.workspace = %(workspace)s and x.layer = %(layer)s
  and coalesce((row.category) = %(f3)s::text, false) and (
    (exists (select 1 from memories_memoryperiod l where l.memory_id = row.id
        and l.from_at <= %(known_at)s::timestamptz and (l.until_at is null or l.until_at >
          %(known_at)s::timestamptz))
      and (row.forget_after is null or row.forget_after > %(known_at)s::timestamptz)
      and (%(valid_at)s::timestamptz is null
        or ((row.valid_from is null or row.valid_from <= %(valid_at)s::timestamptz)
          and (row.valid_until is null or row.valid_until > %(valid_at)s::timestamptz
            or row.superseded_at > %(known_at)s::timestamptz or row.valid_until_at >
            %(known_at)s::timestamptz))))
    or (%(valid_at)s::timestamptz is not null and row.superseded_at <= %(known_at)s::timestamptz
      and (row.forgotten_at is null or row.forgotten_at > %(known_at)s::timestamptz)
      and row.valid_from <= %(valid_at)s::timestamptz and row.valid_until > %(valid_at)s::timestamptz and not
      exists (
        with recursive after (id) as (
          select row.superseded_by_id
          union
          select n.superseded_by_id from after join memories_memory n on n.id = after.id
          where n.superseded_by_id is not null)
        select 1 from after join memories_memory o on o.superseded_by_id = after.id
        where o.valid_from > row.valid_from and o.valid_from <= %(valid_at)s::timestamptz and o.valid_until >
        %(valid_at)s::timestamptz
        and o.created_at <= %(known_at)s::timestamptz and (o.forgotten_at is null or o.forgotten_at >
          %(known_at)s::timestamptz)
        and exists (select 1 from memories_supersession s where s.old_id in (o.id, row.id)
          and s.new_id = o.superseded_by_id and s.state = 'applied' and s.rule = 'older'))))),
compared as materialized (
  select x.entry_id, x.part, x.embedding <#> %(vector)s::halfvec as d
  from w join memories_vector x on x.entry_id = w.id
  where x.embedding_model_id = %(model)s
  and x.scope = %(open_scope)s::int2),
stats as materialized (select (select count(*) from compared where part = 0) as n),
nearest as materialized (select * from compared order by d, entry_id limit 120),
asked as materialized (
  select t.key, t.number, c.share, row_number() over rarest as place,
  sum(coalesce(c.share, 0)) over rarest * (select n from stats) as postings
  from unnest(%(keys)s::int8[], %(numbers)s::int4[]) t(key, number)
  left join memories_commonterm c on c.key = t.key
  window rarest as (order by coalesce(c.share, 0), t.number)),
pairs as materialized (
  select c.number, y.id, y.weights from asked c
  cross join lateral (
    select x.id, x.weights from w join memories_entry x on x.id = w.id where true
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
from (
  select e.*, coalesce(-pool.d, (select -min(x.embedding <#> %(vector)s::halfvec) from memories_vector x
      where x.entry_id = pool.id and x.embedding_model_id = %(model)s), 'nan') as cosine,
  coalesce(nullif(-(e.weights <#> (select q from idf)), 0),
    case when pool.worded then 2.2 / (1 + 1.2 * (0.25 + 0.75 * e.length / 16.0)) else 0 end) as
  bm25,
  coalesce(uuid_hash_extended(e.conversation, 0), -e.id) as talk
  from pool join memories_entry e on e.id = pool.id) found;
-- reads
--   CTE w
--   Index entry_workspace
--   Index memories_memory_pkey
--   Index memoryperiod_history
--   CTE after
--   Index memories_memory_pkey
--   Index memory_chain
--   CTE compared
--   Index memories_vector_pkey
--   CTE stats
--   CTE nearest
--   CTE asked
--   CTE pairs
--   Index memories_entry_pkey
--   CTE df
--   CTE idf
--   Index memories_entry_pkey
--   Index memories_vector_pkey

-- as in search_hybrid_known_at: select m.*, case when least(m.superseded_at, m.forgotten_at, m.forget_after) <= %(known_at)s::timestamptz then

-- as in search_hybrid_memories: select t.memory_id as row_id, t.episode_id, t.relation, t.probability, t.by, e.external_id, e.occurred_at,

-- as in ingest_one_message: select k.id, cross_proves('workspaces_apikey', k.id, %(digest)s), k.workspace_id, w.slug,

-- as in ingest_one_message: select s.number, s.workspace_id, s.embedding_model_id, s.live_memories, s.live_episodes,

-- as in search_hybrid_memories: with spoken as (

with
w as materialized (
  select x.id from (select * from memories_entry t
    where t.layer = %(layer)s and t.item = any(array(
        select row.id from memories_memory row left join workspaces_subject s on s.id = row.subject_id
        left join workspaces_agent a on a.id = row.agent_id
        left join memories_conversation c on c.id = row.conversation_id
        where row.workspace_id = %(tenant)s::uuid and row.category = any(%(f1)s::text[])
        and coalesce(row.category = %(f0)s::text, false) offset 0)) offset 0) x
  where x.workspace = %(workspace)s and x.layer = %(layer)s and x.live ),
compared as materialized (
  select x.entry_id, x.part, x.embedding <#> %(vector)s::halfvec as d
  from memories_vector x
  where x.workspace = %(workspace)s and x.embedding_model_id = %(model)s
  and x.layer = %(layer)s and x.live and not x.wide
  and x.scope = %(open_scope)s::int2
  and (x.entry_id in (select id from w)) is true),
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
    select x.id, x.weights from memories_entry x
    where x.workspace + 0 = %(workspace)s and x.layer + 0 = %(layer)s and x.live
    and x.scope = %(open_scope)s::int2 and (x.id in (select id from w)) is true and x.terms @> array[c.key]
    limit 5000) y
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
--   Index entry_once
--   Index memory_category
--   CTE compared
--   Index vector_scan
--   CTE stats
--   CTE nearest
--   CTE asked
--   CTE pairs
--   Index entry_terms
--   CTE df
--   CTE idf
--   Index memories_entry_pkey
--   Index memories_vector_pkey

-- as in search_hybrid_memories: select m.*, (exists (

-- as in search_hybrid_memories: select t.memory_id as row_id, t.episode_id, t.relation, t.probability, t.by, e.external_id, e.occurred_at,

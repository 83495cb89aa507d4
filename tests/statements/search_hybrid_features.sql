-- as in ingest_one_message: select k.id, cross_proves('workspaces_apikey', k.id, %(digest)s), k.workspace_id, w.slug,

-- as in ingest_one_message: select s.number, s.workspace_id, s.embedding_model_id, s.live_memories, s.live_episodes,

-- as in search_hybrid_memories: with spoken as (

select id, provider, name, dimensions, duplicate_threshold, search_floor, state
from memories_embeddingmodel where id in (
  select distinct embedding_model_id from memories_featureset
  where workspace_id = %(workspace)s and embedding_model_id is not null)
order by id;

with
stats as materialized (select %(n)s::int8 as n),
nearest as materialized (select * from (
    select x.entry_id, x.part, x.embedding <#> %(vector)s::halfvec as d
    from memories_vector x
    where x.workspace = %(workspace)s and x.embedding_model_id = %(model)s
    and x.layer = %(layer)s and x.live and not x.wide
    and x.scope = %(open_scope)s::int2
  ) x order by d, entry_id limit 120),
pairs as materialized (
  select c.number, y.id, y.weights
  from unnest(%(keys)s::int8[], %(numbers)s::int4[]) c(key, number)
  cross join lateral (
    select x.id, x.weights from memories_entry x
    where x.workspace + 0 = %(workspace)s and x.layer + 0 = %(layer)s and x.live
    and x.scope = %(open_scope)s::int2 and x.terms @> array[c.key] limit 5000) y),
df as (select number, count(*) as df from pairs group by number),
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
--   CTE stats
--   CTE nearest
--   Index vector_scan
--   CTE pairs
--   Index entry_terms
--   CTE idf
--   Index memories_entry_pkey
--   Index memories_vector_pkey

select f.*, st.key as set_key, s.external_id as user_external, a.external_id as agent_external,
c.external_id as thread_external
from memories_feature f join memories_featureset st on st.id = f.set_id
left join workspaces_subject s on s.id = f.subject_id
left join workspaces_agent a on a.id = f.agent_id
left join memories_conversation c on c.id = f.conversation_id
where f.id = any(%(ids)s::uuid[]) and f.workspace_id = %(workspace)s
and (%(history)s or f.ended_at is null);
-- reads
--   Index feature_newest

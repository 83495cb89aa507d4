-- as in ingest_one_message: select k.id, cross_proves('workspaces_apikey', k.id, %(digest)s), k.workspace_id, w.slug,

-- as in ingest_one_message: select s.number, s.workspace_id, s.embedding_model_id, s.live_memories, s.live_episodes,

select (select id from workspaces_subject
  where workspace_id = %(workspace)s and external_id = %(user)s) as subject,
(select name from workspaces_subject
  where workspace_id = %(workspace)s and external_id = %(user)s) as called,
(select time_zone from workspaces_subject
  where workspace_id = %(workspace)s and external_id = %(user)s) as time_zone,
(select id from memories_conversation
  where workspace_id = %(workspace)s and external_id = %(thread)s) as thread;

with spoken as (
  select subject, author, assistant, episodes from memories_speaker
  where workspace = %(workspace)s and subject is not distinct from (
    select %(subject)s::uuid where exists (
      select 1 from memories_speaker own
      where own.workspace = %(workspace)s and own.subject = %(subject)s::uuid))),
talks as (
  select sum(episodes) as size, sum(episodes) ^ 2 / sum(episodes ^ 2) as voices
  from spoken where not assistant group by subject)
select author, assistant, sum(episodes)::int8 as episodes,
(select sum(size * voices) / sum(size) from talks)::float8 as voices
from spoken group by author, assistant order by 3 desc, author limit %(most)s;
-- reads
--   CTE spoken

with
compared as materialized (
  select x.entry_id, x.part, x.embedding <#> %(vector)s::halfvec as d
  from memories_vector x
  where x.workspace = %(workspace)s and x.embedding_model_id = %(model)s
  and x.layer = %(layer)s and x.live and not x.wide and x.subject = %(subject)s::uuid
  and x.scope = %(open_scope)s::int2
  union all
  select x.entry_id, x.part, x.embedding <#> %(vector)s::halfvec as d
  from memories_vector x
  where x.workspace = %(workspace)s and x.embedding_model_id = %(model)s
  and x.layer = %(layer)s and x.live and not x.wide and x.subject is null and (x.visibility <> 0 or x.agent
    is null)
  and x.scope = %(open_scope)s::int2
),
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
    and (x.subject = %(subject)s::uuid or x.subject is null and (x.visibility <> 0 or x.agent is null))
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
--   CTE compared
--   Index vector_scan
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

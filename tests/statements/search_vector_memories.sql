-- as in ingest_one_message: select k.id, cross_proves('workspaces_apikey', k.id, %(digest)s), k.workspace_id, w.slug,

-- as in ingest_one_message: select s.number, s.workspace_id, s.embedding_model_id, s.live_memories, s.live_episodes,

with
nearest as materialized (select * from (
    select x.entry_id, x.part, x.embedding <#> %(vector)s::halfvec as d
    from memories_vector x
    where x.workspace = %(workspace)s and x.embedding_model_id = %(model)s
    and x.layer = %(layer)s and x.live and not x.wide and x.part = 0
    and x.scope = %(open_scope)s::int2
  ) x order by d, entry_id limit 20),
v as (select entry_id, -d as cosine from nearest order by d, entry_id limit 20),
k as materialized (select null::int8 as id where false),
f as (select coalesce(v.entry_id, k.id) as id, v.cosine, k.id is not null as matched
  from v full join k on k.id = v.entry_id)
select f.id, f.cosine, f.matched, e.item from f join memories_entry e on e.id = f.id;
-- reads
--   CTE nearest
--   Index vector_scan
--   CTE k
--   Index memories_entry_pkey

-- as in search_hybrid_memories: select m.*, (exists (

-- as in search_hybrid_memories: select t.memory_id as row_id, t.episode_id, t.relation, t.probability, t.by, e.external_id, e.occurred_at,

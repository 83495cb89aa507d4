-- as in ingest_one_message: select k.id, cross_proves('workspaces_apikey', k.id, %(digest)s), k.workspace_id, w.slug,

-- as in ingest_one_message: select s.number, s.workspace_id, s.embedding_model_id, s.live_memories, s.live_episodes,

-- as in search_hybrid_of_a_user: select (select id from workspaces_subject

with
nearest as materialized (select * from (
    select x.entry_id, x.part, x.embedding <#> %(vector)s::halfvec as d
    from memories_vector x
    where x.workspace = %(workspace)s and x.embedding_model_id = %(model)s
    and x.layer = %(layer)s and x.live and not x.wide and x.subject = %(subject)s::uuid and x.part = 0
    and (x.scope = any(%(open_scopes)s::int2[]) or x.place = any(%(places)s::uuid[]))
    union all
    select x.entry_id, x.part, x.embedding <#> %(vector)s::halfvec as d
    from memories_vector x
    where x.workspace = %(workspace)s and x.embedding_model_id = %(model)s
    and x.layer = %(layer)s and x.live and not x.wide and x.subject is null and (x.visibility <> 0 or x.agent
      is null) and x.part = 0
    and (x.scope = any(%(open_scopes)s::int2[]) or x.place = any(%(places)s::uuid[]))
  ) x order by d, entry_id limit 20),
v as (select entry_id, -d as cosine from nearest order by d, entry_id limit 20),
k as materialized (
  select y.id from (select x.id, x.item from memories_entry x
    where x.workspace + 0 = %(workspace)s and x.layer + 0 = %(layer)s and x.live
    and (x.subject = %(subject)s::uuid or x.subject is null and (x.visibility <> 0 or x.agent is null))
    and (x.scope = any(%(open_scopes)s::int2[]) or x.place = any(%(places)s::uuid[])) and x.trigrams @>
    %(trigrams)s::int8[]) y
  join memories_memory t on t.id = y.item
  where t.content ilike %(pattern)s order by t.created_at desc, t.id desc limit 20),
f as (select coalesce(v.entry_id, k.id) as id, v.cosine, k.id is not null as matched
  from v full join k on k.id = v.entry_id)
select f.id, f.cosine, f.matched, e.item from f join memories_entry e on e.id = f.id;
-- reads
--   CTE nearest
--   Index vector_scan
--   Index vector_scan
--   CTE k
--   Index entry_trigrams
--   Index memories_memory_pkey
--   Index memories_entry_pkey

-- as in search_hybrid_memories: select m.*, (exists (

-- as in search_hybrid_memories: select t.memory_id as row_id, t.episode_id, t.relation, t.probability, t.by, e.external_id, e.occurred_at,

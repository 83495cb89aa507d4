-- as in search_hybrid_memories_in_a_segment: select k.id, cross_proves('workspaces_apikey', k.id, %(digest)s), k.workspace_id, w.slug,

-- as in search_hybrid_memories_in_a_segment: select s.number, s.workspace_id, s.embedding_model_id, s.live_memories, s.live_episodes,

with
nearest as materialized (
  (select x.entry_id, x.part, x.embedding::halfvec(256) <#> %(vector)s::halfvec(256) as d
    from memories_vector x
    where workspace = <number> and embedding_model_id = <model> and layer = 1 and live and entry_id <= <upto>
    and case when true and x.part = 0
    and x.scope = %(open_scope)s::int2 then true else false end
    order by x.embedding::halfvec(256) <#> %(vector)s::halfvec(256) limit 150)
  union all
  select x.entry_id, x.part, x.embedding <#> %(vector)s::halfvec as d
  from memories_vector x
  where workspace = <number> and embedding_model_id = <model> and layer = 1 and live and entry_id > <upto>
  and x.part = 0
  and x.scope = %(open_scope)s::int2 ),
v as (select entry_id, -d as cosine from nearest order by d, entry_id limit 20),
k as materialized (
  select y.id from (select x.id, x.item from memories_entry x
    where x.workspace + 0 = %(workspace)s and x.layer + 0 = %(layer)s and x.live
    and x.scope = %(open_scope)s::int2 and x.trigrams @> %(trigrams)s::int8[]) y
  join memories_memory t on t.id = y.item
  where t.content ilike %(pattern)s order by t.created_at desc, t.id desc limit 20),
f as (select coalesce(v.entry_id, k.id) as id, v.cosine, k.id is not null as matched
  from v full join k on k.id = v.entry_id)
select f.id, f.cosine, f.matched, e.item, (select count(*) from nearest) as seen from f join memories_entry e
on e.id = f.id;
-- reads
--   CTE nearest
--   Index vector_sealed
--   Index vector_tail
--   CTE k
--   Index entry_trigrams
--   Index memories_memory_pkey
--   Index memories_entry_pkey

-- as in search_hybrid_memories_in_a_segment: select m.*, (exists (

-- as in search_hybrid_memories_in_a_segment: select t.memory_id as row_id, t.episode_id, t.relation, t.probability, t.by, e.external_id, e.occurred_at,

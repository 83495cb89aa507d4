-- as in ingest_one_message: select k.id, cross_proves('workspaces_apikey', k.id, %(digest)s), k.workspace_id, w.slug,

-- as in ingest_one_message: select s.number, s.workspace_id, s.embedding_model_id, s.live_memories, s.live_episodes,

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
nearest as materialized (select * from (
    select x.entry_id, x.part, x.embedding <#> %(vector)s::halfvec as d
    from memories_vector x
    where x.workspace = %(workspace)s and x.embedding_model_id = %(model)s
    and x.layer = %(layer)s and x.live and not x.wide and x.part = 0
    and x.scope = %(open_scope)s::int2
    and (x.entry_id in (select id from w)) is true) x order by d, entry_id limit 20),
v as (select entry_id, -d as cosine from nearest order by d, entry_id limit 20),
k as materialized (
  select y.id from (select x.id, x.item from memories_entry x
    where x.workspace + 0 = %(workspace)s and x.layer + 0 = %(layer)s and x.live
    and x.scope = %(open_scope)s::int2 and (x.id in (select id from w)) is true and x.trigrams @>
    %(trigrams)s::int8[]) y
  join memories_memory t on t.id = y.item
  where t.content ilike %(pattern)s order by t.created_at desc, t.id desc limit 20),
f as (select coalesce(v.entry_id, k.id) as id, v.cosine, k.id is not null as matched
  from v full join k on k.id = v.entry_id)
select f.id, f.cosine, f.matched, e.item from f join memories_entry e on e.id = f.id;
-- reads
--   CTE w
--   Index entry_once
--   Index memory_category
--   CTE nearest
--   Index vector_scan
--   CTE k
--   Index entry_trigrams
--   Index memories_memory_pkey
--   Index memories_entry_pkey

-- as in search_hybrid_memories: select m.*, (exists (

-- as in search_hybrid_memories: select t.memory_id as row_id, t.episode_id, t.relation, t.probability, t.by, e.external_id, e.occurred_at,

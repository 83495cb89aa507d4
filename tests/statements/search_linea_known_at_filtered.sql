-- as in ingest_one_message: select k.id, cross_proves('workspaces_apikey', k.id, %(digest)s), k.workspace_id, w.slug,

-- as in ingest_one_message: select s.number, s.workspace_id, s.embedding_model_id, s.live_memories, s.live_episodes,

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
nearest as materialized (select * from (
    select x.entry_id, x.part, x.embedding <#> %(vector)s::halfvec as d
    from w join memories_vector x on x.entry_id = w.id
    where x.embedding_model_id = %(model)s and x.part = 0
    and x.scope = %(open_scope)s::int2) x order by d, entry_id limit 20),
v as (select entry_id, -d as cosine from nearest order by d, entry_id limit 20),
k as materialized (
  select y.id from (select x.id, x.item from w join memories_entry x on x.id = w.id where true
    and x.scope = %(open_scope)s::int2 and x.trigrams @> %(trigrams)s::int8[]) y
  join memories_memory t on t.id = y.item
  where t.content ilike %(pattern)s order by t.created_at desc, t.id desc limit 20),
f as (select coalesce(v.entry_id, k.id) as id, v.cosine, k.id is not null as matched
  from v full join k on k.id = v.entry_id)
select f.id, f.cosine, f.matched, e.item from f join memories_entry e on e.id = f.id;
-- reads
--   CTE w
--   Index entry_workspace
--   Index memories_memory_pkey
--   Index memoryperiod_history
--   CTE after
--   Index memories_memory_pkey
--   Index memory_chain
--   CTE nearest
--   Index memories_vector_pkey
--   CTE k
--   Seq Scan on memories_memory
--   Index entry_once
--   Index memories_entry_pkey

-- as in search_hybrid_known_at: select m.*, case when least(m.superseded_at, m.forgotten_at, m.forget_after) <= %(known_at)s::timestamptz then

-- as in search_hybrid_memories: select t.memory_id as row_id, t.episode_id, t.relation, t.probability, t.by, e.external_id, e.occurred_at,

-- as in ingest_one_message: select k.id, cross_proves('workspaces_apikey', k.id, %(digest)s), k.workspace_id, w.slug,

-- as in ingest_one_message: select s.number, s.workspace_id, s.embedding_model_id, s.live_memories, s.live_episodes,

-- as in search_hybrid_memories: with spoken as (

-- as in search_hybrid_features: select id, provider, name, dimensions, duplicate_threshold, search_floor, state

-- as in search_hybrid_memories: with

-- as in search_hybrid_episodes: with

-- as in search_hybrid_features: with

select distinct f.memory_id, ci.episode_id
from memories_fact f join memories_citation ci on ci.fact_id = f.id
where f.memory_id = any(%(ids)s::uuid[]) and ci.episode_id is not null;
-- reads
--   Index memories_fact_memory_id_3e25a780
--   Index citation_once

with recursive stands (episode_id, memory_id) as (
  select distinct ci.episode_id, f.memory_id
  from memories_citation ci join memories_fact f on f.id = ci.fact_id
  where ci.episode_id = any(%(ids)s::uuid[]) and f.memory_id is not null),
line (id, next_id, is_live, forgotten_at, forget_reason) as (
  select m.id, m.superseded_by_id, m.is_head and (m.forget_after is null or m.forget_after > now()),
  m.forgotten_at, m.forget_reason
  from memories_memory m
  where m.id = any(array(select memory_id from stands)) -- read once, whatever the planner guesses
  union
  select m.id, m.superseded_by_id, m.is_head and (m.forget_after is null or m.forget_after > now()),
  m.forgotten_at, m.forget_reason
  from line join memories_memory m on m.id = line.next_id)
select episode_id, memory_id, null::uuid as next_id, null::boolean as is_live,
null::timestamptz as forgotten_at, null::text as forget_reason from stands
union all select null, id, next_id, is_live, forgotten_at, forget_reason from line;
-- reads
--   CTE stands
--   Index memories_citation_episode_id_4ea26d11
--   Index memories_fact_pkey
--   CTE line
--   Index memories_memory_pkey
--   Index memories_memory_pkey

-- as in search_hybrid_memories: select m.*, (exists (

-- as in search_hybrid_memories: select t.memory_id as row_id, t.episode_id, t.relation, t.probability, t.by, e.external_id, e.occurred_at,

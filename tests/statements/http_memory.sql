-- as in ingest_one_message: select k.id, cross_proves('workspaces_apikey', k.id, %(digest)s), k.workspace_id, w.slug,

SELECT "memories_memory"."id", "memories_memory"."created_at", "memories_memory"."updated_at",
"memories_memory"."workspace_id", "memories_memory"."subject_id", "memories_memory"."agent_id",
"memories_memory"."conversation_id", "memories_memory"."workflow", "memories_memory"."scope",
"memories_memory"."content", "memories_memory"."fingerprint", "memories_memory"."slots",
"memories_memory"."entities", "memories_memory"."fact_type", "memories_memory"."category",
"memories_memory"."source", "memories_memory"."confidence", "memories_memory"."visibility",
"memories_memory"."event_date", "memories_memory"."valid_from", "memories_memory"."valid_until",
"memories_memory"."valid_until_at", "memories_memory"."ended_by", "memories_memory"."superseded_by_id",
"memories_memory"."superseded_at", "memories_memory"."version", "memories_memory"."is_inference",
"memories_memory"."source_count", "memories_memory"."pinned", "memories_memory"."held_at",
"memories_memory"."forgotten_at", "memories_memory"."forget_after", "memories_memory"."forget_reason",
"memories_memory"."is_head", "memories_memory"."metadata", "workspaces_subject"."external_id" AS
"user_external", "workspaces_agent"."external_id" AS "agent_external", "memories_conversation"."external_id"
AS "thread_external", ((exists (
      select 1 from memories_ground g join memories_memory o on o.id = g.on_id
      where g.memory_id = memories_memory.id and g.kept_at is null
      and not (o.is_head and (o.forget_after is null or o.forget_after > now())))
    or (memories_memory.source_count = 0 and exists (
        select 1 from memories_fact f where f.memory_id = memories_memory.id and f.withdrawn_at is not null)))) AS
"is_uncertain", ((case when not (memories_memory.is_head and (memories_memory.forget_after is null or
        memories_memory.forget_after > now())) then 'past'
    when (exists (
        select 1 from memories_touch t
        where t.memory_id = memories_memory.id and t.relation in ('unsure', 'replaces', 'ends')
        and not exists (
          select 1 from memories_fact f join memories_citation c on c.fact_id = f.id
          join memories_episode e on e.id = c.episode_id
          where f.memory_id = t.memory_id and f.withdrawn_at is null
          and (case when e.occurred_at - e.created_at > interval '1 day'
            then e.created_at else e.occurred_at end, e.id) > (t.said_at, t.episode_id))) or (memories_memory.category =
        'plan' and greatest(memories_memory.event_date, memories_memory.valid_until) < now() - interval '1 day') or
      (exists (
          select 1 from memories_ground g join memories_memory o on o.id = g.on_id
          where g.memory_id = memories_memory.id and g.kept_at is null
          and not (o.is_head and (o.forget_after is null or o.forget_after > now())))
        or (memories_memory.source_count = 0 and exists (
            select 1 from memories_fact f where f.memory_id = memories_memory.id and f.withdrawn_at is not null))))
    then 'questioned' else 'current' end)) AS "standing" FROM "memories_memory" LEFT OUTER JOIN
"workspaces_subject" ON ("memories_memory"."subject_id" = "workspaces_subject"."id") LEFT OUTER JOIN
"workspaces_agent" ON ("memories_memory"."agent_id" = "workspaces_agent"."id") LEFT OUTER JOIN
"memories_conversation" ON ("memories_memory"."conversation_id" = "memories_conversation"."id") WHERE
("memories_memory"."workspace_id" = %s AND "memories_memory"."id" = %s) ORDER BY "memories_memory"."id" DESC
LIMIT 1;
-- reads
--   Index memory_newest
--   Index memories_memory_pkey
--   Index fact_withdrawn
--   Index memories_fact_memory_id_3e25a780
--   Index citation_once
--   Index memories_episode_pkey
--   Index memories_memory_pkey
--   Index fact_withdrawn

-- as in search_hybrid_with_everything: SELECT "col1", "col2", "col3", "col4", "col5", "col6", "col7", "col8", "col9", "col10", "col11", "col12",

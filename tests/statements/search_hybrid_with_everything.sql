-- as in ingest_one_message: select k.id, cross_proves('workspaces_apikey', k.id, %(digest)s), k.workspace_id, w.slug,

-- as in ingest_one_message: select s.number, s.workspace_id, s.embedding_model_id, s.live_memories, s.live_episodes,

-- as in search_hybrid_of_a_user: select (select id from workspaces_subject

-- as in search_hybrid_of_a_user: with spoken as (

-- as in search_hybrid_features: select id, provider, name, dimensions, duplicate_threshold, search_floor, state

-- as in search_hybrid_of_a_user: with

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
pairs as materialized (
  select c.number, y.id, y.weights
  from unnest(%(keys)s::int8[], %(numbers)s::int4[]) c(key, number)
  cross join lateral (
    select x.id, x.weights from memories_entry x
    where x.workspace + 0 = %(workspace)s and x.layer + 0 = %(layer)s and x.live
    and (x.subject = %(subject)s::uuid or x.subject is null and (x.visibility <> 0 or x.agent is null))
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
, array_agg(position) as position, array_agg(author) as author,
array_agg(role = 'assistant') as assistant
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
--   CTE pairs
--   Index entry_terms
--   CTE idf
--   Index memories_entry_pkey
--   Index memories_vector_pkey

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
pairs as materialized (
  select c.number, y.id, y.weights
  from unnest(%(keys)s::int8[], %(numbers)s::int4[]) c(key, number)
  cross join lateral (
    select x.id, x.weights from memories_entry x
    where x.workspace + 0 = %(workspace)s and x.layer + 0 = %(layer)s and x.live
    and (x.subject = %(subject)s::uuid or x.subject is null and (x.visibility <> 0 or x.agent is null))
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
--   CTE compared
--   Index vector_scan
--   Index vector_scan
--   CTE stats
--   CTE nearest
--   CTE pairs
--   Index entry_terms
--   CTE idf
--   Index memories_entry_pkey
--   Index memories_vector_pkey

-- as in search_hybrid_all_layers: select distinct f.memory_id, ci.episode_id

-- as in search_hybrid_all_layers: with recursive stands (episode_id, memory_id) as (

-- as in search_hybrid_episodes: select e.*, s.external_id as user_external, a.external_id as agent_external,

-- as in search_hybrid_memories: select m.*, (exists (

-- as in search_hybrid_features: select f.*, st.key as set_key, s.external_id as user_external, a.external_id as agent_external,

-- as in search_hybrid_memories: select t.memory_id as row_id, t.episode_id, t.relation, t.probability, t.by, e.external_id, e.occurred_at,

select f.memory_id as row_id, ci.fact_id, ci.episode_id, ci.start, ci."end", ci.quote,
e.external_id as external_id, (%(user)s <> '' and (select s.external_id from workspaces_subject s
    where s.id = e.subject_id) <> %(user)s) is true as is_others,
coalesce(e.occurred_at, r.published_at, d.created_at) as occurred_at,
coalesce(e.utc_offset, 0) as utc_offset, d.id as document_id, d.title,
case when d.id is not null then (select k.id from memories_chunk k
  where k.revision_id = ci.revision_id and k.start <= ci.start and k."end" >= ci."end"
  order by k.ordinal limit 1) end as chunk_id,
case when d.id is not null then (select json_build_object('kind', p.kind, 'ordinal', p.ordinal,
    'label', p.label,
    'start', p.start, 'end', p."end") from memories_documentpart p
  where p.revision_id = ci.revision_id and p.start <= ci.start and p."end" > ci.start
  order by p.kind = 'heading', p.start desc limit 1) end as part
from memories_fact f join memories_citation ci on ci.fact_id = f.id
left join memories_episode e on e.id = ci.episode_id
and (%(said_before)s::timestamptz is null or e.occurred_at <= %(said_before)s::timestamptz)
and (%(bound)s::uuid is null or e.agent_id = %(bound)s::uuid)
and (%(subjects)s::uuid[] is null or e.subject_id = any(%(subjects)s::uuid[]))
left join memories_revision r on r.id = ci.revision_id
left join memories_document d on d.id = r.document_id and (%(subjects)s::uuid[] is null or d.subject_id =
  any(%(subjects)s::uuid[]))
and (%(bound)s::uuid is null or d.visibility = 'global'
  or (d.visibility = 'private' and d.agent_id = %(bound)s::uuid)
  or (d.visibility = 'team' and (d.agent_id = any(%(team)s::uuid[])
      or (d.agent_id is null and %(default_team)s))))
and (%(spaces)s::text[] is null or exists (select 1 from memories_documentspace ds
    join memories_space sp on sp.id = ds.space_id
    where ds.document_id = d.id and sp.container_tag = any(%(spaces)s::text[])))
and (%(said_before)s::timestamptz is null or coalesce(r.published_at, d.created_at) <=
  %(said_before)s::timestamptz)
where f.memory_id = any(%(ids)s::uuid[]) and (%(known_at)s::timestamptz is null and f.withdrawn_at is null
  or f.created_at <= %(known_at)s and coalesce(f.withdrawn_at > %(known_at)s, true)) and (e.id is not null or
  d.id is not null)
order by ci.id;
-- reads
--   Index memories_fact_memory_id_3e25a780
--   Index citation_once
--   Index memories_episode_pkey

SELECT "memories_featurechange"."id", "memories_featurechange"."created_at",
"memories_featurechange"."updated_at", "memories_featurechange"."workspace_id",
"memories_featurechange"."set_id", "memories_featurechange"."feature_id", "memories_featurechange"."batch",
"memories_featurechange"."action", "memories_featurechange"."before", "memories_featurechange"."after",
"memories_featurechange"."by", "memories_featurechange"."rule", "memories_featurechange"."reason",
"memories_featurechange"."occurred_at", "memories_featurechange"."is_current",
"memories_featurechange"."undone_at", "memories_feature"."id", "memories_feature"."created_at",
"memories_feature"."updated_at", "memories_feature"."workspace_id", "memories_feature"."set_id",
"memories_feature"."subject_id", "memories_feature"."agent_id", "memories_feature"."conversation_id",
"memories_feature"."visibility", "memories_feature"."category", "memories_feature"."tag",
"memories_feature"."feature", "memories_feature"."value", "memories_feature"."content",
"memories_feature"."about", "memories_feature"."slot", "memories_feature"."method",
"memories_feature"."metadata", "memories_feature"."fingerprint", "memories_feature"."ended_at" FROM
"memories_featurechange" INNER JOIN "memories_feature" ON ("memories_featurechange"."feature_id" =
  "memories_feature"."id") WHERE ("memories_featurechange"."feature_id" IN (SELECT U0."id" FROM
    "memories_feature" U0 WHERE U0."id" IN (%s)) AND "memories_featurechange"."is_current") ORDER BY
"memories_featurechange"."id" DESC;
-- reads
--   Index change_history
--   Index memories_feature_pkey
--   Index memories_feature_pkey

select ci.feature_id as row_id, ci.fact_id, ci.episode_id, ci.start, ci."end", ci.quote,
e.external_id as external_id, e.occurred_at, e.utc_offset
from memories_featurecitation ci
join memories_episode e on e.id = ci.episode_id
where ci.feature_id = any(%(ids)s::uuid[]) and ci.change_id = any(%(changes)s::uuid[])
and (%(known_at)s::timestamptz is null or ci.created_at <= %(known_at)s)
and (%(said_before)s::timestamptz is null or e.occurred_at <= %(said_before)s::timestamptz)
and (%(bound)s::uuid is null or e.agent_id = %(bound)s::uuid)
and (%(subjects)s::uuid[] is null or e.subject_id = any(%(subjects)s::uuid[]))
order by ci.id;
-- reads
--   Index memories_featurecitation_feature_id
--   Index memories_episode_pkey

select hit.id as row_id, e.*, s.external_id as user_external, a.external_id as agent_external,
c.external_id as thread_external
from memories_episode hit
cross join lateral (
  (select n.* from memories_episode n where n.conversation_id = hit.conversation_id
    and (n.occurred_at, n.position) < (hit.occurred_at, hit.position) and (%(bound)s::uuid is null or
      n.agent_id = %(bound)s::uuid)
    and (%(subjects)s::uuid[] is null or n.subject_id = any(%(subjects)s::uuid[]))
    and not (%(user)s <> '' and (select s.external_id from workspaces_subject s
        where s.id = n.subject_id) <> %(user)s) is true
    order by n.occurred_at desc, n.position desc limit 1)
  union all
  (select n.* from memories_episode n where n.conversation_id = hit.conversation_id
    and (n.occurred_at, n.position) > (hit.occurred_at, hit.position) and (%(bound)s::uuid is null or
      n.agent_id = %(bound)s::uuid)
    and (%(subjects)s::uuid[] is null or n.subject_id = any(%(subjects)s::uuid[]))
    and not (%(user)s <> '' and (select s.external_id from workspaces_subject s
        where s.id = n.subject_id) <> %(user)s) is true
    order by n.occurred_at, n.position limit 1)) e
left join workspaces_subject s on s.id = e.subject_id
left join workspaces_agent a on a.id = e.agent_id
left join memories_conversation c on c.id = e.conversation_id
where hit.id = any(%(ids)s::uuid[])
order by e.occurred_at, e.position;
-- reads
--   Index memories_episode_pkey
--   Index episode_order
--   Index episode_order

with recursive older as (
  select %(id)s::uuid as id union
  select m.id from memories_memory m join older o on m.superseded_by_id = o.id),
newer as (
  select id from older union
  select m.superseded_by_id from memories_memory m join newer n on m.id = n.id
  where m.superseded_by_id is not null),
everything as (
  select id from newer union
  select m.id from memories_memory m join everything e on m.superseded_by_id = e.id)
select id from everything;
-- reads
--   CTE older
--   Index memory_chain
--   CTE newer
--   Index memory_chain
--   CTE everything
--   Index memory_chain

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
("memories_memory"."workspace_id" = %s AND "memories_memory"."id" IN (%s)) ORDER BY
"memories_memory"."version" ASC, "memories_memory"."created_at" ASC, "memories_memory"."id" ASC;
-- reads
--   Index memory_newest
--   Index memories_memory_pkey
--   Index fact_withdrawn
--   Index memories_fact_memory_id_3e25a780
--   Index citation_once
--   Index memories_episode_pkey
--   Index memories_memory_pkey
--   Index fact_withdrawn

SELECT "col1", "col2", "col3", "col4", "col5", "col6", "col7", "col8", "col9", "col10", "col11", "col12",
"col13", "col14", "col15", "col16", "col17", "col18", "col19", "quote", "external_id", "occurred_at" FROM (
  SELECT * FROM ( SELECT "memories_touch"."id" AS "col1", "memories_touch"."workspace_id" AS "col2",
    "memories_touch"."memory_id" AS "col3", "memories_touch"."episode_id" AS "col4", "memories_touch"."start" AS
    "col5", "memories_touch"."end" AS "col6", "memories_touch"."said_at" AS "col7", "memories_touch"."relation" AS
    "col8", "memories_touch"."probability" AS "col9", "memories_touch"."by" AS "col10", "memories_touch"."model"
    AS "col11", "memories_touch"."until" AS "col12", "memories_touch"."attempts" AS "col13",
    "memories_touch"."made_at" AS "col14", "memories_touch"."decided_at" AS "col15", "memories_touch"."decided_by"
    AS "col16", "memories_touch"."draw" AS "col17", "memories_touch"."model_attempts" AS "col18",
    "memories_touch"."asked_at" AS "col19", SUBSTRING("memories_episode"."content", ("memories_touch"."start" +
        %s), ("memories_touch"."end" - "memories_touch"."start")) AS "quote", "memories_episode"."external_id" AS
    "external_id", "memories_episode"."occurred_at" AS "occurred_at", ROW_NUMBER() OVER (PARTITION BY
      "memories_touch"."memory_id" ORDER BY CASE WHEN ("memories_touch"."relation" IN (%s, %s, %s, %s)) THEN %s ELSE
      %s END, "memories_touch"."said_at" DESC) AS "qual0" FROM "memories_touch" INNER JOIN "memories_episode" ON
    ("memories_touch"."episode_id" = "memories_episode"."id") WHERE (EXISTS(SELECT %s AS "a" FROM
        "memories_episode" U0 WHERE (U0."workspace_id" = %s AND U0."id" = ("memories_touch"."episode_id")) LIMIT 1)
      AND "memories_touch"."workspace_id" = %s AND "memories_touch"."memory_id" IN (%s)) ORDER BY
    "memories_touch"."said_at" DESC, "memories_touch"."id" DESC ) "qualify" WHERE "qual0" <= %s ) "qualify_mask"
ORDER BY "col7" DESC, "col1" DESC;
-- reads
--   Index episode_newest

SELECT "memories_supersession"."id", "memories_supersession"."created_at",
"memories_supersession"."updated_at", "memories_supersession"."workspace_id",
"memories_supersession"."old_id", "memories_supersession"."new_id", "memories_supersession"."similarity",
"memories_supersession"."model", "memories_supersession"."rule", "memories_supersession"."method",
"memories_supersession"."state", "memories_supersession"."decided_by", "memories_supersession"."decided_at",
"memories_supersession"."note", "memories_supersession"."waited", "memories_supersession"."case_id" FROM
"memories_supersession" WHERE ("memories_supersession"."state" = %s AND "memories_supersession"."new_id" IN
  (%s)) ORDER BY "memories_supersession"."id" ASC;

-- as in search_hybrid_with_everything: with recursive older as (

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
("memories_memory"."workspace_id" = %s AND "memories_memory"."id" IN (%s, %s)) ORDER BY
"memories_memory"."version" ASC, "memories_memory"."created_at" ASC, "memories_memory"."id" ASC;
-- reads
--   Index memory_newest
--   Index memories_memory_pkey
--   Index fact_withdrawn
--   Index memories_fact_memory_id_3e25a780
--   Index citation_once
--   Index memories_episode_pkey
--   Index memories_memory_pkey
--   Index fact_withdrawn

SELECT "col1", "col2", "col3", "col4", "col5", "col6", "col7", "col8", "col9", "col10", "col11", "col12",
"col13", "col14", "col15", "col16", "col17", "col18", "col19", "quote", "external_id", "occurred_at" FROM (
  SELECT * FROM ( SELECT "memories_touch"."id" AS "col1", "memories_touch"."workspace_id" AS "col2",
    "memories_touch"."memory_id" AS "col3", "memories_touch"."episode_id" AS "col4", "memories_touch"."start" AS
    "col5", "memories_touch"."end" AS "col6", "memories_touch"."said_at" AS "col7", "memories_touch"."relation" AS
    "col8", "memories_touch"."probability" AS "col9", "memories_touch"."by" AS "col10", "memories_touch"."model"
    AS "col11", "memories_touch"."until" AS "col12", "memories_touch"."attempts" AS "col13",
    "memories_touch"."made_at" AS "col14", "memories_touch"."decided_at" AS "col15", "memories_touch"."decided_by"
    AS "col16", "memories_touch"."draw" AS "col17", "memories_touch"."model_attempts" AS "col18",
    "memories_touch"."asked_at" AS "col19", SUBSTRING("memories_episode"."content", ("memories_touch"."start" +
        %s), ("memories_touch"."end" - "memories_touch"."start")) AS "quote", "memories_episode"."external_id" AS
    "external_id", "memories_episode"."occurred_at" AS "occurred_at", ROW_NUMBER() OVER (PARTITION BY
      "memories_touch"."memory_id" ORDER BY CASE WHEN ("memories_touch"."relation" IN (%s, %s, %s, %s)) THEN %s ELSE
      %s END, "memories_touch"."said_at" DESC) AS "qual0" FROM "memories_touch" INNER JOIN "memories_episode" ON
    ("memories_touch"."episode_id" = "memories_episode"."id") WHERE (EXISTS(SELECT %s AS "a" FROM
        "memories_episode" U0 WHERE (U0."workspace_id" = %s AND U0."id" = ("memories_touch"."episode_id")) LIMIT 1)
      AND "memories_touch"."workspace_id" = %s AND "memories_touch"."memory_id" IN (%s, %s)) ORDER BY
    "memories_touch"."said_at" DESC, "memories_touch"."id" DESC ) "qualify" WHERE "qual0" <= %s ) "qualify_mask"
ORDER BY "col7" DESC, "col1" DESC;
-- reads
--   Index episode_newest

SELECT "memories_supersession"."id", "memories_supersession"."created_at",
"memories_supersession"."updated_at", "memories_supersession"."workspace_id",
"memories_supersession"."old_id", "memories_supersession"."new_id", "memories_supersession"."similarity",
"memories_supersession"."model", "memories_supersession"."rule", "memories_supersession"."method",
"memories_supersession"."state", "memories_supersession"."decided_by", "memories_supersession"."decided_at",
"memories_supersession"."note", "memories_supersession"."waited", "memories_supersession"."case_id" FROM
"memories_supersession" WHERE ("memories_supersession"."state" = %s AND "memories_supersession"."new_id" IN
  (%s, %s)) ORDER BY "memories_supersession"."id" ASC;

-- as in search_hybrid_with_everything: with recursive older as (

-- as in search_hybrid_with_everything: SELECT "memories_memory"."id", "memories_memory"."created_at", "memories_memory"."updated_at",

-- as in search_hybrid_with_everything: SELECT "col1", "col2", "col3", "col4", "col5", "col6", "col7", "col8", "col9", "col10", "col11", "col12",

-- as in search_hybrid_with_everything: SELECT "memories_supersession"."id", "memories_supersession"."created_at",

-- as in search_hybrid_with_everything: with recursive older as (

-- as in search_hybrid_with_everything: SELECT "memories_memory"."id", "memories_memory"."created_at", "memories_memory"."updated_at",

-- as in search_hybrid_with_everything: SELECT "col1", "col2", "col3", "col4", "col5", "col6", "col7", "col8", "col9", "col10", "col11", "col12",

-- as in search_hybrid_with_everything: SELECT "memories_supersession"."id", "memories_supersession"."created_at",

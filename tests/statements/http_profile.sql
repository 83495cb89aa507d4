-- as in ingest_one_message: select k.id, cross_proves('workspaces_apikey', k.id, %(digest)s), k.workspace_id, w.slug,

SELECT "workspaces_subject"."id" AS "pk" FROM "workspaces_subject" WHERE ("workspaces_subject"."external_id" =
  %s AND "workspaces_subject"."workspace_id" = %s) ORDER BY "workspaces_subject"."id" ASC LIMIT 1;

-- as in ingest_one_message: select s.number, s.workspace_id, s.embedding_model_id, s.live_memories, s.live_episodes,

-- as in ingest_one_message: select s.number, s.workspace_id, s.embedding_model_id, s.live_memories, s.live_episodes,

SELECT "workspaces_subject"."time_zone" AS "time_zone" FROM "workspaces_subject" WHERE
"workspaces_subject"."id" = %s ORDER BY "workspaces_subject"."id" ASC LIMIT 1;

SELECT SUM(hashtext((COALESCE(("memories_memory"."id")::text, %s) ||
      COALESCE(("memories_memory"."updated_at")::text, %s)))) AS "rows", COUNT("memories_memory"."id") AS
"pk__count" FROM "memories_memory" WHERE ("memories_memory"."workspace_id" = %s AND
  ("memories_memory"."forget_after" IS NULL OR "memories_memory"."forget_after" > %s) AND
  "memories_memory"."is_head" AND "memories_memory"."scope" = %s AND "memories_memory"."subject_id" = %s);
-- reads
--   Index memory_subject

SELECT SUM(hashtext((COALESCE(("memories_feature"."id")::text, %s) ||
      COALESCE(("memories_feature"."updated_at")::text, %s)))) AS "rows", COUNT("memories_feature"."id") AS
"pk__count" FROM "memories_feature" WHERE "memories_feature"."subject_id" = %s;
-- reads
--   Index memories_feature_subject_id_5293b5e4

SELECT COUNT("memories_featureset"."id") AS "pk__count", SUM("memories_featureset"."stamp") AS "stamp__sum"
FROM "memories_featureset" WHERE "memories_featureset"."subject_id" = %s;

SELECT SUM(hashtext((COALESCE(("memories_touch"."id")::text, %s) ||
      COALESCE((COALESCE("memories_touch"."relation", %s) ||
          COALESCE((COALESCE(("memories_touch"."decided_at")::text, %s) ||
              COALESCE(SUBSTRING("memories_episode"."content", ("memories_touch"."start" + %s), ("memories_touch"."end" -
                    "memories_touch"."start")), %s)), %s)), %s)))) AS "rows", COUNT("memories_touch"."id") AS "pk__count" FROM
"memories_touch" INNER JOIN "memories_memory" ON ("memories_touch"."memory_id" = "memories_memory"."id") INNER
JOIN "memories_episode" ON ("memories_touch"."episode_id" = "memories_episode"."id") WHERE
"memories_memory"."subject_id" = %s;
-- reads
--   Index memory_subject
--   Index memories_episode_pkey

SELECT "workspaces_subject"."updated_at" AS "updated_at", "workspaces_subject"."external_id" AS "external_id"
FROM "workspaces_subject" WHERE "workspaces_subject"."id" = %s ORDER BY "workspaces_subject"."id" ASC LIMIT 1;

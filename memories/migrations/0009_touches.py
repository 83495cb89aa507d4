"""What later messages say of what a memory says."""

from typing import Any

from django.db import migrations, models
from django.db.models import F, Q
from django.utils import timezone

from memoryproject.postgres import visible

# As of a memory that changes: nobody hears of it but who asked.
DOUBTS_ARE_NOTED = """
create function memories_note_doubt() returns trigger language plpgsql as $$
begin
  insert into memories_changeevent (workspace_id, xid, kind, item, state, created_at)
  select m.workspace_id, pg_current_xact_id()::text::bigint, 'memory.changed', m.id,
         case when new.relation in ('unsure', 'replaces', 'ends') then 'questioned' else 'live' end,
         clock_timestamp()
  from memories_memory m
  where m.id = new.memory_id and m.is_head
    and exists (select 1 from memories_webhook h where h.workspace_id = new.workspace_id
                and h.is_active and 'memory.changed' = any(h.events));
  return null;
end
$$;
create trigger note_new_doubt after insert on memories_touch
for each row when (new.relation in ('unsure', 'replaces', 'ends')) execute function memories_note_doubt();
create trigger note_doubt after update of relation on memories_touch
for each row when ((old.relation in ('unsure', 'replaces', 'ends')) <> (new.relation in ('unsure', 'replaces', 'ends')))
execute function memories_note_doubt();
"""
NOT_NOTED = """
drop trigger note_doubt on memories_touch;
drop trigger note_new_doubt on memories_touch;
drop function memories_note_doubt();
"""
DOUBTS = ("unsure", "replaces", "ends")


KINDS = [
    ("import", "Import"),
    ("embedding", "Making vectors"),
    ("reindex", "Making the index anew"),
    ("repair", "Repairing the index"),
    ("check", "Checking the index"),
    ("erasure", "Erasure"),
    ("prune", "Removing what is old"),
    ("export", "Export"),
    ("backup", "Backup"),
    ("masking", "Taking words out"),
    ("unmasking", "Putting words back"),
    ("touching", "Finding what was said later"),
]
# What was said before is looked through in steps, by a job for each workspace.
BEGIN = """
insert into memories_longjob (id, created_at, updated_at, workspace_id, kind, item, state, unit, total, done, seconds,
  requested_by, result, error, cancelled_by)
select gen_random_uuid(), now(), now(), e.workspace_id, 'touching', e.workspace_id, 'running', 'messages', count(*), 0, 0,
       'worker', jsonb_build_object('until', max(e.id::text)), '', ''
from memories_episode e
where e.kind in ('user', 'text', 'activity')
  and exists (select 1 from memories_memory m where m.workspace_id = e.workspace_id)
group by e.workspace_id
"""


def begin(apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("select set_config(%s, %s, true)", [visible.SETTING, visible.EVERYTHING])
        cursor.execute(BEGIN)


def part_of(model: str, related_name: str = "+", **options: bool) -> models.ForeignKey:
    return models.ForeignKey(on_delete=models.CASCADE, related_name=related_name, to=model, **options)


def labelled(*values: str) -> list[tuple[str, str]]:
    return [(value, value.title()) for value in values]


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0008_work_that_gives_words_back"),
        ("workspaces", "0004_claims_of_removals"),
    ]

    operations = [
        migrations.CreateModel(
            name="Touch",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("workspace", part_of("workspaces.workspace", db_index=False)),
                ("memory", part_of("memories.memory", "touches", db_index=False)),
                ("episode", part_of("memories.episode", "touches")),
                ("start", models.PositiveIntegerField()),
                ("end", models.PositiveIntegerField()),
                ("said_at", models.DateTimeField()),
                (
                    "relation",
                    models.CharField(
                        max_length=9,
                        choices=labelled("restates", "adds", "exception", "replaces", "ends", "unsure"),
                    ),
                ),
                ("probability", models.FloatField()),
                ("by", models.CharField(max_length=6, choices=labelled("rule", "judge", "model", "person"))),
                ("model", models.CharField(max_length=100, blank=True, default="", db_default="")),
                ("until", models.DateTimeField(null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0, db_default=0)),
                ("made_at", models.DateTimeField(default=timezone.now)),
                ("decided_at", models.DateTimeField(null=True)),
                ("decided_by", models.CharField(max_length=200, blank=True, default="", db_default="")),
            ],
            options={
                "verbose_name_plural": "touches",
                "ordering": ["-id"],
                "constraints": [
                    models.UniqueConstraint(fields=["memory", "episode"], name="touch_once"),
                    models.CheckConstraint(condition=Q(end__gt=F("start")), name="touch_span_forward"),
                    models.CheckConstraint(
                        condition=Q(probability__gte=0, probability__lte=1), name="touch_probability_range"
                    ),
                ],
                "indexes": [
                    models.Index(fields=["memory", "said_at"], name="touch_doubt", condition=Q(relation__in=DOUBTS)),
                    models.Index(fields=["workspace", "id"], name="touch_due", condition=Q(decided_at=None)),
                ],
            },
        ),
        migrations.AlterField("longjob", "kind", models.CharField(max_length=9, choices=KINDS)),
        migrations.RunPython(begin, migrations.RunPython.noop),
        migrations.RunSQL(DOUBTS_ARE_NOTED, NOT_NOTED),
    ]

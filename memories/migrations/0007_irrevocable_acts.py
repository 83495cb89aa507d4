"""The list of what no backup takes back, signed. What was done before it is signed as it stands: until
then nobody signed."""

import json
from typing import Any

from django.conf import settings
from django.db import migrations, models

from memories.privacy.irrevocable import AT_ONCE, Noted
from memoryproject.postgres import visible

DONE = {
    "erased": "select to_jsonb(t) - 'probes' from memories_erasure t where t.state = 'done'",
    "removed": "select to_jsonb(t) from workspaces_workspaceremoval t where t.state = 'done'",
    "masked": "select to_jsonb(t) - 'words' from memories_maskedspan t order by id",
    "forgotten": "select jsonb_build_object('id', t.id, 'workspace_id', t.workspace_id,"
    " 'reason', case when k.kind in ('wrong', 'private') then k.kind else '' end)"
    " from memories_memory t, btrim(lower(split_part(t.forget_reason, ':', 1))) k (kind)"
    " where t.forgotten_at is not null"
    " and (k.kind in ('wrong', 'private') or exists (select 1 from memories_maskedspan m"
    "  where m.memory_id = t.id and m.place = 'content' and m.start = 0"
    '  and m."end" = length(t.content)))',
}


def sign(apps: Any, schema_editor: Any) -> None:
    act_model = apps.get_model("memories", "IrrevocableAct")
    with schema_editor.connection.cursor() as cursor:
        text = "select set_config(%s, %s, true)"
        cursor.execute(text, [visible.SETTING, visible.EVERYTHING])
        for act, text in DONE.items():
            cursor.execute(text)
            while rows := cursor.fetchmany(AT_ONCE):
                told = [json.loads(row) if isinstance(row, str) else row for (row,) in rows]
                act_model.objects.bulk_create(
                    (
                        act_model(
                            signature=Noted(act, row, "").signed(settings.SECRET_KEY).signature,
                            workspace_id=row["workspace_id"], act=act, row=row, at="",
                        )
                        for row in told
                    ),
                    ignore_conflicts=True,
                )


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0006_work_that_takes_words"),
        ("workspaces", "0002_audit_seals"),
    ]

    operations = [
        migrations.CreateModel(
            name="IrrevocableAct",
            fields=[
                (
                    "signature",
                    models.CharField(max_length=64, primary_key=True, serialize=False),
                ),
                ("workspace_id", models.UUIDField(db_index=True)),
                ("act", models.CharField(max_length=9)),
                ("row", models.JSONField()),
                ("at", models.CharField(max_length=40)),
            ],
        ),
        migrations.RunPython(sign, migrations.RunPython.noop),
    ]

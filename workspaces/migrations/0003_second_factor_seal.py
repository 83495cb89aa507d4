"""A seal by SECRET_KEY of whose each second factor of release 0.1.0 is: its secret was made of the
nonce alone, which could be copied into another one's row. The apps that know it go on."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from workspaces.login.second_factor import seal_of


def seal(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    for factor in apps.get_model("workspaces", "SecondFactor").objects.all():
        factor.seal = seal_of(factor.user_id, factor.nonce)
        factor.save(update_fields=["seal"])


class Migration(migrations.Migration):
    dependencies = [("workspaces", "0002_audit_seals")]

    operations = [
        migrations.AddField(
            "secondfactor",
            "seal",
            models.CharField(max_length=64, default="", db_default=""),
        ),
        migrations.RunPython(seal, migrations.RunPython.noop),
    ]

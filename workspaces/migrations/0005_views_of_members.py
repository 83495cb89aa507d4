from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('workspaces', '0004_audit_chain'),
    ]

    operations = [
        migrations.AddField(
            model_name='membership',
            name='views',
            field=models.JSONField(db_default=[], default=list, editable=False),
        ),
    ]

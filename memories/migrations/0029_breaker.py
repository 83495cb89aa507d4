
import django.utils.timezone
from django.db import migrations, models

class Migration(migrations.Migration):

    dependencies = [
        ('memories', '0028_rules_version'),
    ]

    operations = [
        migrations.CreateModel(
            name='Breaker',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=300, unique=True)),
                ('purpose', models.CharField(max_length=20)),
                ('state', models.CharField(choices=[('closed', 'Closed'), ('open', 'Open')], default='closed', max_length=10)),
                ('failures', models.PositiveIntegerField(default=0)),
                ('timeouts', models.PositiveIntegerField(default=0)),
                ('since', models.DateTimeField(default=django.utils.timezone.now)),
                ('next_try_at', models.DateTimeField(blank=True, null=True)),
                ('detail', models.CharField(blank=True, max_length=200)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('state', 'closed'), ('next_try_at__isnull', False), _connector='OR'), name='breaker_open_tried_again')],
            },
        ),
    ]

from typing import Any

from django.db import migrations


def rename(before: str, after: str) -> migrations.RunPython:
    def act(apps: Any, schema_editor: Any) -> None:
        """A model out of a folder makes the same vectors, whoever runs it."""
        models = apps.get_model("memories", "EmbeddingModel").objects
        models.filter(provider=before, name__contains="@").update(provider=after)

    return act


class Migration(migrations.Migration):
    dependencies = [("memories", "0013_heads_of_the_judge")]
    operations = [migrations.RunPython(rename("onnx", "fastembed"), rename("fastembed", "onnx"))]

import gc

from django.apps import AppConfig

from memories.management import checks

COLLECT_AFTER = (50_000, 20, 20)  # objects, young collections, middle ones


class MemoriesConfig(AppConfig):
    name = "memories"
    verbose_name = "Memories"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        checks.register_all()
        # Taking a batch of statements apart makes many small objects in no cycle: with Python's own
        # 700 a fifth of its time goes into looking for cycles.
        gc.set_threshold(*COLLECT_AFTER)

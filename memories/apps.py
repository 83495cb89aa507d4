import gc
import importlib

from django.apps import AppConfig

from memories.management import checks

# Imported before everything that imports it from deep in the stack: there its calls to compile
# expressions cross the end of a piece of Python's stack, and each takes and gives back 16 kB, a
# hundred thousand times. By name: an import statement would change the order in which mypy's plugin
# meets the models.
importlib.import_module("memories.language.english.instead")

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

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryproject.settings")
os.environ.setdefault("PROCESS_KIND", "web")
application = get_wsgi_application()

from memories.index import configured_embedder  # noqa: E402
from memories.meters import stored_metrics  # noqa: E402 - only once Django is set up
from memories.reading.extraction import warm_up  # noqa: E402

stored_metrics.start()
warm_up()
configured_embedder.warm_up()

"""A connection with the owner's rights, for what the ordinary role of web and worker may not do."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import psycopg
from django.conf import settings
from django.db import connections

from memoryproject import databases
from memoryproject.postgres.base import DatabaseWrapper

LOGIN = ("USER", "PASSWORD", "HOST", "PORT", "OPTIONS", "ANSWER_WITHIN")


@contextmanager
def owner_connection() -> Iterator[psycopg.Connection[Any]]:
    """To the database of this process; every statement commits by itself, and may take as long as it
    does: an index is built by one."""
    own = connections["default"].settings_dict
    if settings.EMBEDDED_POSTGRES is not None:
        found = databases.embedded(settings.DATA_DIR, "owner")
    else:
        found = databases.external(settings.DATABASE_URL, settings.APP_DATABASE_URL, "owner")
    login = {name: found[name] for name in LOGIN if name in found}
    wrapper = DatabaseWrapper({**own, **login}, alias="owner")
    with closing(wrapper.get_new_connection(wrapper.get_connection_params())) as owner:
        owner.autocommit = True
        yield owner

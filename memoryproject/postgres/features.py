"""The oldest server that the statements of this project were written for."""

from django.db.backends.postgresql import features


class DatabaseFeatures(features.DatabaseFeatures):
    minimum_database_version = (15,)

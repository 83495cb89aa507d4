"""A worker in a process of its own: folds until nothing waits. See test_feature_races.py."""

import os
import sys
import time
from datetime import timedelta

import django

database, lease = sys.argv[1:]
os.environ["DJANGO_SETTINGS_MODULE"] = "memoryproject.settings_test"
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
django.setup()

from django.conf import settings  # noqa: E402

settings.DATABASES["default"]["NAME"] = database

from memories import folding  # noqa: E402
from memories.folding import claiming  # noqa: E402
from memories.models import FeatureSet  # noqa: E402

claiming.LEASE = timedelta(seconds=float(lease))
while FeatureSet.objects.filter(waiting__gt=0).exists():
    folding.fold_due(time.monotonic() + 1)
    time.sleep(0.05)

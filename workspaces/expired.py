"""Removal of expired rows, some at a time: the rest waits for the next sweep."""

from datetime import timedelta
from itertools import islice
from typing import Any

from django.contrib.sessions.models import Session
from django.db.models import Q, QuerySet
from django.utils import timezone

from workspaces.login import throttle
from workspaces.models import Invitation, LoginAttempt, LoginPause, OAuthClient, OAuthGrant
from workspaces.oauth.grants import UNUSED_LIVES

MOST = 5_000  # rows of one kind
INVITATIONS_KEPT = timedelta(days=90)  # since they were answered, revoked or expired; and the apps of people


def prune() -> int:
    """Delete expired browser sessions, counts and attempts of logins, apps that nobody let in, and
    invitations and connected apps that ended long ago; return the number of rows."""
    now = timezone.now()
    long_ago = now - INVITATIONS_KEPT
    ended = Q(accepted_at__lt=long_ago) | Q(revoked_at__lt=long_ago) | Q(expires_at__lt=long_ago)
    kinds: tuple[QuerySet[Any], ...] = (
        OAuthClient.objects.filter(used_at=None, created_at__lt=now - UNUSED_LIVES),
        OAuthGrant.objects.filter(Q(revoked_at__lt=long_ago) | Q(expires_at__lt=long_ago)),
        Session.objects.filter(expire_date__lt=now),
        Invitation.objects.filter(ended),
        LoginPause.objects.filter(tried_at__lt=now - throttle.FORGOTTEN_AFTER),
        LoginAttempt.objects.filter(created_at__lt=now - throttle.ATTEMPTS_KEPT),
        LoginAttempt.objects.order_by("-id")[throttle.MOST_ATTEMPTS :],
    )
    return sum(delete_some(rows) for rows in kinds)


def delete_some(rows: QuerySet[Any], most: int = MOST) -> int:
    """Delete at most `most` of the rows; return their number."""
    keys = list(islice(rows.values_list("pk", flat=True).iterator(most), most))
    return rows.model._default_manager.filter(pk__in=keys).delete()[0]

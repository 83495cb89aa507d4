"""Secrets of webhooks, and the signature of a delivery."""

import base64
import hashlib
import hmac
from datetime import datetime

from django.conf import settings

from memories.models import Webhook

# How a message proves where it comes from: as in https://www.standardwebhooks.com.
# `webhook-signature` holds a signature by each valid secret, the newest first: receivers may take
# their time after a change of the secret.

LABEL = "whsec_"


def secret_of(webhook: Webhook, nonce: str = "") -> str:
    """The secret as the receiver gets it. Derived each time; the database holds no secret."""
    of = f"webhook {webhook.pk} {nonce or webhook.nonce}".encode()
    made = hmac.new(settings.SECRET_KEY.encode(), of, hashlib.sha256).digest()
    return LABEL + base64.b64encode(made).decode()


def secrets_of(webhook: Webhook, now: datetime) -> list[str]:
    """The valid secrets, the newest first."""
    good = [secret_of(webhook)]
    if webhook.previous_nonce and webhook.previous_until and webhook.previous_until > now:
        good.append(secret_of(webhook, webhook.previous_nonce))
    return good


def signed(secrets: list[str], name: str, moment: int, body: bytes) -> dict[str, str]:
    """The headers of a message: its id, its time (Unix time), and its signature."""
    text = f"{name}.{moment}.".encode() + body
    marks = []
    for secret in secrets:
        key = base64.b64decode(secret.removeprefix(LABEL))
        digest = hmac.new(key, text, hashlib.sha256).digest()
        marks.append(f"v1,{base64.b64encode(digest).decode()}")
    return {
        "webhook-id": name,
        "webhook-timestamp": str(moment),
        "webhook-signature": " ".join(marks),
    }

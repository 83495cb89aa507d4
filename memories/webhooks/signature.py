"""How what is sent proves where it comes from: as https://www.standardwebhooks.com has it.

`webhook-signature` holds a signature by each secret that is good, the newest first: after a change
of the secret receivers may take their time.
"""

import base64
import hashlib
import hmac
from datetime import datetime

from django.conf import settings

from memories.models import Webhook

LABEL = "whsec_"


def secret_of(webhook: Webhook, nonce: str = "") -> str:
    """As a receiver is told it. Made anew each time; nothing in the database is one."""
    of = f"webhook {webhook.pk} {nonce or webhook.nonce}".encode()
    made = hmac.new(settings.SECRET_KEY.encode(), of, hashlib.sha256).digest()
    return LABEL + base64.b64encode(made).decode()


def secrets_of(webhook: Webhook, now: datetime) -> list[str]:
    """Those that are good, the newest first."""
    good = [secret_of(webhook)]
    if webhook.previous_nonce and webhook.previous_until and webhook.previous_until > now:
        good.append(secret_of(webhook, webhook.previous_nonce))
    return good


def signed(secrets: list[str], name: str, moment: int, body: bytes) -> dict[str, str]:
    """The headers of a message: its id, when it was sent (Unix time), and who says so."""
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

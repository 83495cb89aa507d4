"""The second factor: a code of six digits from an app, or one of ten recovery codes, each once."""

import base64
import secrets
import string
import uuid

import pyotp
import segno
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac

from workspaces.models import RecoveryCode, SecondFactor, User

ISSUER = "memoryproject"
STEP = 30  # seconds
DRIFT = 1  # steps by which a clock may be off
CODES, LETTERS = 10, 10
ALPHABET = "".join(sorted({*string.ascii_lowercase, *string.digits} - set("01lo")))


def is_on(user: User) -> bool:
    return SecondFactor.objects.filter(user=user, confirmed_at__isnull=False).exists()


def offer(user: User) -> SecondFactor:
    """The factor that `user` may confirm: the same one until that is done."""
    return SecondFactor.objects.get_or_create(user=user, defaults={"nonce": secrets.token_hex(32)})[0]


def secret_of(factor: SecondFactor) -> str:
    """Return the secret in base32, as people type it into apps. A nonce copied from another
    person's row makes another secret."""
    salt = "workspaces.door.second_factor"
    # Apps from release 0.1.0 have a secret of the nonce alone; the upgrade sealed its owner.
    if not constant_time_compare(factor.seal, seal_of(factor.user_id, factor.nonce)):
        salt += f":{factor.user_id}"
    made = salted_hmac(salt, factor.nonce, algorithm="sha256")
    return base64.b32encode(made.digest()[:20]).decode()


def seal_of(user_id: uuid.UUID, nonce: str) -> str:
    salt = f"workspaces.door.second_factor.seal:{user_id}"
    return salted_hmac(salt, nonce, algorithm="sha256").hexdigest()


def picture_of(factor: SecondFactor) -> str:
    """The QR code that an app reads, as SVG."""
    name = factor.user.get_username()
    uri = pyotp.TOTP(secret_of(factor)).provisioning_uri(name=name, issuer_name=ISSUER)
    return segno.make_qr(uri, error="m").svg_inline(scale=5, border=2, light="#fff")


def confirm(user: User, code: str) -> list[str]:
    """Turn the offered factor on if the code is right; return recovery codes, shown only now, else
    none.

    The person's sessions end: they were let in by less.
    """
    if not _uses_step(user, code):
        return []
    codes = ["".join(secrets.choice(ALPHABET) for _ in range(LETTERS)) for _ in range(CODES)]
    with transaction.atomic():
        SecondFactor.objects.filter(user=user).update(confirmed_at=timezone.now())
        RecoveryCode.objects.filter(user=user).delete()
        RecoveryCode.objects.bulk_create(RecoveryCode(user=user, digest=_digest(user, code)) for code in codes)
        end_sessions(user)
    return [f"{code[:5]}-{code[5:]}" for code in codes]


def accepts(user: User, code: str) -> bool:
    """Tell whether the code is right and was not used before, and use it up."""
    plain = "".join(code.lower().replace("-", " ").split())
    if plain.isdigit() and len(plain) == 6:
        return _uses_step(user, plain)
    return bool(RecoveryCode.objects.filter(user=user, digest=_digest(user, plain)).delete()[0])


@transaction.atomic
def turn_off(user: User) -> bool:
    """Turn the second factor off; tell whether there was one."""
    RecoveryCode.objects.filter(user=user).delete()
    return bool(SecondFactor.objects.filter(user=user).delete()[0])


def end_sessions(user: User) -> None:
    """End all sessions of a user at once. The browser that asks for it keeps its own by Django's
    `update_session_auth_hash`."""
    user.session_number += 1
    user.save(update_fields=["session_number"])


def _uses_step(user: User, code: str) -> bool:
    factor = SecondFactor.objects.filter(user=user).first()
    if factor is None:
        return False
    totp, now = pyotp.TOTP(secret_of(factor)), int(timezone.now().timestamp()) // STEP
    for step in range(now - DRIFT, now + DRIFT + 1):
        if secrets.compare_digest(totp.at(step * STEP).encode(), code.strip().encode()):
            # A step not newer than the last one was used: of two people who send it at once,
            # only one gets in. A last step in the future was accepted by a wrong clock.
            unused = Q(last_step__lt=step) | Q(last_step__gt=now + DRIFT)
            return bool(SecondFactor.objects.filter(unused, user=user).update(last_step=step))
    return False


def _digest(user: User, code: str) -> str:
    salt = f"workspaces.door.recovery:{user.pk}"
    return salted_hmac(salt, code, algorithm="sha256").hexdigest()

"""The only readers of environment variables. Each refuses invalid values and names the variable in
its error."""

import os
import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off"}


def env_str(name: str, default: str = "", *, choices: tuple[str, ...] = ()) -> str:
    """The variable without surrounding blanks; empty counts as not set."""
    value = os.environ.get(name, "").strip() or default
    if choices and value not in choices:
        raise ImproperlyConfigured(f"{name}={value!r}: must be one of {', '.join(choices)}")
    return value


def env_default(name: str, value: str) -> None:
    """Set a variable that a library reads at import, unless somebody has set it."""
    os.environ.setdefault(name, value)


def env_bool(name: str, default: bool = False) -> bool:
    value = env_str(name).lower()
    if not value:
        return default
    if value not in TRUE | FALSE:
        raise ImproperlyConfigured(f"{name}={value!r}: must be true or false")
    return value in TRUE


def env_int(name: str, default: int, *, minimum: int = 0, maximum: int = 2**31 - 1) -> int:
    value = env_str(name, str(default))
    try:
        number = int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name}={value!r}: must be a whole number") from None
    if not minimum <= number <= maximum:
        raise ImproperlyConfigured(f"{name}={number}: must be between {minimum} and {maximum}")
    return number


def env_float(name: str, default: float, *, minimum: float = 0, maximum: float = 1e9) -> float:
    value = env_str(name, str(default))
    try:
        number = float(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name}={value!r}: must be a number") from None
    if not minimum <= number <= maximum:  # also refuses nan
        raise ImproperlyConfigured(f"{name}={number}: must be between {minimum} and {maximum}")
    return number


def env_list(name: str, default: tuple[str, ...] = ()) -> list[str]:
    """Comma-separated values, blanks around them dropped."""
    value = env_str(name)
    if not value:
        return list(default)
    return [part.strip() for part in value.split(",") if part.strip()]


def env_secret(name: str, default: str = "") -> str:
    """The variable, or the content of the file that `<name>_FILE` names (Docker and systemd
    secrets)."""
    file = env_str(f"{name}_FILE")
    if not file:
        return env_str(name, default)
    if env_str(name):
        raise ImproperlyConfigured(f"{name} and {name}_FILE are both set: keep one")
    try:
        return Path(file).read_text().strip()
    except OSError as error:
        raise ImproperlyConfigured(f"{name}_FILE={file!r}: {error.strerror}") from None


def user_data_folder(program: str) -> Path:
    """The folder below which a program keeps what is this user's, as the XDG rules name it."""
    named = Path(env_str("XDG_DATA_HOME"))
    return (named if named.is_absolute() else Path.home() / ".local" / "share") / program


def kept_secret(file: Path) -> str:
    """The secret in `file`; made on first use, readable by its owner alone.

    Several processes may start at once: each writes its own proposal, and `link` lets exactly one
    win.
    """
    try:
        if not file.exists():
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            proposal = file.with_name(f".{file.name}.{os.getpid()}.{secrets.token_hex(4)}")
            with open(os.open(proposal, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
                out.write(secrets.token_urlsafe(48))
            link_once(proposal, file)
        return file.read_text().strip()
    except OSError as error:
        raise ImproperlyConfigured(f"{file}: {error.strerror} (is it another user's?)") from None


def link_once(proposal: Path, file: Path) -> None:
    try:
        os.link(proposal, file)
    except FileExistsError:
        pass  # another process was first: its secret counts
    finally:
        proposal.unlink()

"""Credentials as variables of the child, never in an address: every user can read a process's arguments."""

import json
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from stowplan.agents.attempt.failure import AttemptError
from stowplan.schema.agents.cache_config import SOURCE_SECRET_ENV, VOLUME_SECRET_ENV
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.juicefs.sync_keys import KEY_VARIABLES

AMBIENT = (
    "AWS_ROLE_ARN",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_STS_REGIONAL_ENDPOINTS",
)
"""Variables that a cluster sets in pods which authenticate by an identity instead of keys."""

_OWN = frozenset({"PATH", "HOME", "LD_PRELOAD", "LD_LIBRARY_PATH"})


def given(environment: Mapping[str, str], name: str) -> str:
    """Return a value of a Secret without the line end that `echo | base64` adds."""
    return environment.get(name, "").strip("\r\n")


def volume_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the client's variables from the volume's Secret.

    Raises AttemptError (exit code 2) unless they are a JSON object of strings.
    """
    text = given(environment, VOLUME_SECRET_ENV["envs"])
    if not text.strip():
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
        raise AttemptError(ExitCode.BAD_SPEC, "BadSecret", "The volume Secret's key `envs` is no JSON object of texts")
    return {name: value for name, value in found.items() if name not in _OWN}


def source_variables(source: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return variables for the source's keys.

    Raises AttemptError (exit code 2) if JuiceFS accepts keys only in such an address.
    """
    access, secret = (given(environment, SOURCE_SECRET_ENV[key]) for key in ("access-key", "secret-key"))
    ambient = {name: environment[name] for name in AMBIENT if name in environment}
    if not access and not secret:
        return ambient
    scheme = urlsplit(source).scheme.lower() or "file"
    if scheme == "file":
        return {}
    names = KEY_VARIABLES.get(scheme)
    if names is None:
        message = (
            f"JuiceFS takes the keys of {scheme}:// in the address alone, where all can read them: use s3:// or one of "
        )
        raise AttemptError(ExitCode.BAD_SPEC, "BadSource", message + ", ".join(sorted(KEY_VARIABLES)))
    region = {name: value for name, value in ambient.items() if name.endswith("REGION")}
    return {**region, names[0]: access, names[1]: secret}


def secrets(environment: Mapping[str, str]) -> list[str]:
    """Return all secrets in the environment of this process."""
    found = [given(environment, name) for name in (*SOURCE_SECRET_ENV.values(), VOLUME_SECRET_ENV["access-key"])]
    found.append(given(environment, VOLUME_SECRET_ENV["secret-key"]))
    for name in ("metaurl", "bucket"):
        written = _parts(given(environment, VOLUME_SECRET_ENV[name]))[1]
        found += [written, unquote(written)]
    try:
        found += [
            value
            for value in json.loads(given(environment, VOLUME_SECRET_ENV["envs"])).values()
            if isinstance(value, str)
        ]
    except (ValueError, AttributeError, RecursionError):
        found.append(given(environment, VOLUME_SECRET_ENV["envs"]))
    # Logs are read line by line.
    return [each for value in found for each in dict.fromkeys([value, *value.splitlines()]) if each]


def password_apart(address: str) -> tuple[str, str]:
    """Split the address of a metadata engine into the address without its password, and the decoded password."""
    plain, written = _parts(address)
    return plain, unquote(written)


def _parts(address: str) -> tuple[str, str]:
    """Split an address as `password_apart` does, but leave the password percent-encoded."""
    head, _, rest = address.partition("://")
    if not rest:
        head, rest = "redis", address
    user, at, place = rest.rpartition("@")
    name, _, password = user.partition(":")
    return f"{head}://{name}{at}{place}", password

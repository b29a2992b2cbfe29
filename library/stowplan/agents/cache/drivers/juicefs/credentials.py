"""Credentials as environment variables of the child process.

They are never part of its arguments, since every user of a machine can read the arguments of a process.
"""

import json
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from stowplan.agents.attempt.failure import AttemptError
from stowplan.schema.agents.agent_config import SOURCE_SECRET_ENV, VOLUME_SECRET_ENV
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.juicefs.sync_keys import KEY_VARIABLES

AMBIENT = (
    "AWS_ROLE_ARN",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_STS_REGIONAL_ENDPOINTS",
)
"""Environment variables that a cluster sets in a pod that gets access to storage by its identity, without keys."""

_OWN = frozenset({"PATH", "HOME", "LD_PRELOAD", "LD_LIBRARY_PATH"})


def given(environment: Mapping[str, str], name: str) -> str:
    """Return the value of an environment variable that comes from a Secret; empty if it is not set.

    Line ends around the value are removed, since `echo | base64` adds one.
    """
    return environment.get(name, "").strip("\r\n")


def volume_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables for JuiceFS that the volume's Secret has under the key `envs`.

    They are empty if the Secret has no such key. Variables that could change which program runs, such as PATH, are left
    out. Raises AttemptError (exit code 2) if the value of the key is not a JSON object of strings.
    """
    text = given(environment, VOLUME_SECRET_ENV["envs"])
    if not text.strip():
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
        raise AttemptError(
            ExitCode.BAD_SPEC, "BadSecret", "The volume Secret's key `envs` is no JSON object of strings"
        )
    return {name: value for name, value in found.items() if name not in _OWN}


def source_variables(source: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables by which JuiceFS gets access to the sync's source.

    `source` is the URL of the source. With keys in the environment, the variables hold the keys. Without keys they are
    those of the pod's identity (`AMBIENT`). Raises AttemptError (exit code 2) if JuiceFS accepts keys for this kind of
    source only in the URL.
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
    """Return all secret strings in this environment, for redaction. Each line of a secret is also returned alone."""
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
    # Output is redacted line by line, so each line of a secret must be known.
    return [each for value in found for each in dict.fromkeys([value, *value.splitlines()]) if each]


def password_apart(address: str) -> tuple[str, str]:
    """Split the address of a metadata engine into the address without its password, and the password.

    The password's percent-encoding is decoded; it is empty if there is none. An address without a scheme is one of
    Redis.
    """
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

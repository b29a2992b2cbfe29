"""Creation of a JuiceFS volume that does not exist. An existing volume is never changed."""

from collections.abc import Mapping

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.cache.drivers.juicefs.child import Child
from stowplan.agents.cache.drivers.juicefs.credentials import given, password_apart
from stowplan.agents.runtime.log import Log
from stowplan.schema.agents.agent_config import VOLUME_SECRET_ENV
from stowplan.schema.agents.exit_codes import ExitCode

SECONDS = 120.0
"""Maximum seconds for the creation."""


def format_volume(child: Child, environment: Mapping[str, str], log: Log) -> bool:
    """Create a volume by `juicefs format`, with the values of its Secret; not if another program has done so meanwhile.

    Return False, without an attempt, if the Secret lacks the keys `storage` and `bucket`; otherwise True. Raises
    AttemptError if the creation fails, or if the Secret has credentials where others could read them.
    """
    values = {key: given(environment, name) for key, name in VOLUME_SECRET_ENV.items()}
    storage, bucket = values["storage"], values["bucket"]
    if not storage or not bucket:
        return False
    address, password = password_apart(values["metaurl"])
    if "@" in bucket.partition("://")[2].partition("/")[0]:
        message = "The volume Secret's `bucket` holds credentials: give them as `access-key` and `secret-key`"
        raise AttemptError(ExitCode.BAD_SPEC, "BadSecret", message)
    if "?" in address:
        message = (
            "The volume is not formatted, and the options in its `metaurl` may be secret: run `juicefs format` once"
        )
        raise AttemptError(ExitCode.NOT_FOUND, "NotFormatted", message)
    keys = {"ACCESS_KEY": values["access-key"], "SECRET_KEY": values["secret-key"], "META_PASSWORD": password}
    more = {name: value for name, value in keys.items() if value}
    log.info("The volume is not formatted: making it")
    words = ("--no-update", f"--storage={storage}", f"--bucket={bucket}")
    ended = child.run("format", *words, address, values["name"], seconds=SECONDS, more=more)
    if ended.code:
        said = "; ".join(line.shown for line in ended.complaints[-2:]) or f"juicefs format ended with {ended.code}"
        code = ExitCode.CONFLICT if "is not empty" in said else ExitCode.TRANSIENT
        raise AttemptError(code, "NotFormatted", f"The volume cannot be made: {said}")
    return True

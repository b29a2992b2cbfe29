"""Creation of a JuiceFS volume that does not exist. An existing volume is never changed."""

from collections.abc import Mapping
from dataclasses import dataclass

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.cache.drivers.juicefs.child import Child
from stowplan.agents.cache.drivers.juicefs.credentials import given, password_apart
from stowplan.agents.runtime.log import Log
from stowplan.schema.agents.agent_config import VOLUME_SECRET_ENV
from stowplan.schema.agents.exit_codes import ExitCode

SECONDS = 120.0
"""Maximum seconds for the creation."""


@dataclass(frozen=True)
class Formatting:
    """Creates one volume by `juicefs format`, with the values of the volume's Secret."""

    child: Child
    environment: Mapping[str, str]
    log: Log

    def can(self) -> bool:
        """Return whether this program may create the volume: the Secret has the keys `storage` and `bucket`."""
        return bool(self._value("storage") and self._value("bucket"))

    def run(self) -> None:
        """Create the volume; do nothing if another program has created it meanwhile. Raises AttemptError."""
        address, password = password_apart(self._value("metaurl"))
        bucket = self._value("bucket")
        if "@" in bucket.partition("://")[2].partition("/")[0]:
            message = "The volume Secret's `bucket` holds credentials: give them as `access-key` and `secret-key`"
            raise AttemptError(ExitCode.BAD_SPEC, "BadSecret", message)
        if "?" in address:
            message = (
                "The volume is not formatted, and the options in its `metaurl` may be secret: run `juicefs format` once"
            )
            raise AttemptError(ExitCode.NOT_FOUND, "NotFormatted", message)
        keys = {"ACCESS_KEY": self._value("access-key"), "SECRET_KEY": self._value("secret-key")}
        more = {name: value for name, value in {**keys, "META_PASSWORD": password}.items() if value}
        words = ("--no-update", f"--storage={self._value('storage')}", f"--bucket={bucket}")
        self.log.info("The volume is not formatted: making it")
        ended = self.child.run("format", *words, address, self._value("name"), seconds=SECONDS, more=more)
        if ended.code:
            said = "; ".join(line.shown for line in ended.complaints[-2:]) or f"juicefs format ended with {ended.code}"
            code = ExitCode.CONFLICT if "is not empty" in said else ExitCode.TRANSIENT
            raise AttemptError(code, "NotFormatted", f"The volume cannot be made: {said}")

    def _value(self, key: str) -> str:
        return given(self.environment, VOLUME_SECRET_ENV[key])

"""Content of a run's marker file. `stowplan.schema.agents.marker` defines the file's path and its meaning."""

from pydantic import ValidationError

from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.marker import Marker


def written(run: str, code: ExitCode) -> str:
    """Return the content of the marker file, as a line of JSON, for a run that ended with this code for good."""
    fields = {"run": run, "result": "failed" if code else "succeeded", "exitCode": int(code)}
    return Marker.model_validate(fields).model_dump_json(by_alias=True) + "\n"


def read(content: bytes | None) -> Marker | None:
    """Parse the content of a marker file; None if `content` is None or invalid."""
    if content is None:
        return None
    try:
        return Marker.model_validate_json(content)
    except ValidationError:
        return None


def succeeded(content: bytes | None, run: str) -> bool:
    """Return whether the content of the marker file records the success of this run. False for None."""
    marker = read(content)
    return marker is not None and marker.run == run and marker.result == "succeeded"

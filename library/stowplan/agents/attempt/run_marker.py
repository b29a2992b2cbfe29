"""Content of a run's marker. `stowplan.schema.agents.marker` defines its path and its meaning for readers."""

from pydantic import ValidationError

from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.marker import Marker


def written(run: str, code: ExitCode) -> str:
    """Return the marker's content for a run that has ended with this code and is not retried."""
    fields = {"run": run, "result": "failed" if code else "succeeded", "exitCode": int(code)}
    return Marker.model_validate(fields).model_dump_json(by_alias=True) + "\n"


def read(content: bytes | None) -> Marker | None:
    """Parse the marker; None if it is missing or invalid."""
    if content is None:
        return None
    try:
        return Marker.model_validate_json(content)
    except ValidationError:
        return None


def succeeded(content: bytes | None, run: str) -> bool:
    """Return whether the marker records the success of this run."""
    marker = read(content)
    return marker is not None and marker.run == run and marker.result == "succeeded"

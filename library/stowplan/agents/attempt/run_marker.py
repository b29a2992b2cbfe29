"""What the marker of a run says. Where it lies, and what it means for others, is in `stowplan.schema.agents.marker`."""

from pydantic import ValidationError

from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.marker import Marker


def written(run: str, code: ExitCode) -> str:
    """The content of the marker of a run that ended with this code for good."""
    fields = {"run": run, "result": "failed" if code else "succeeded", "exitCode": int(code)}
    return Marker.model_validate(fields).model_dump_json(by_alias=True) + "\n"


def read(content: bytes | None) -> Marker | None:
    """The marker; None if there is none, or something else."""
    if content is None:
        return None
    try:
        return Marker.model_validate_json(content)
    except ValidationError:
        return None


def succeeded(content: bytes | None, run: str) -> bool:
    """Whether it says that this very run has succeeded."""
    marker = read(content)
    return marker is not None and marker.run == run and marker.result == "succeeded"

"""The configuration that the agent of a DataCube reads, compiled from the spec."""

from decimal import ROUND_CEILING

from stowplan.library.builders import transfer
from stowplan.library.builders.job import soft_deadline
from stowplan.library.dialects.data_cube import options
from stowplan.library.dialects.data_cube.cube import Cube
from stowplan.library.dialects.data_cube.remotes.flags import BASE
from stowplan.library.dialects.data_cube.remotes.s3 import LEAST_PART
from stowplan.library.dialects.shared import claim_paths
from stowplan.library.dialects.shared.context import Context
from stowplan.library.values.names import content_hash
from stowplan.library.values.quantities import amount
from stowplan.library.values.variable_references import escaped
from stowplan.schema.agents.agent_config import StatusTarget
from stowplan.schema.agents.marker import STATE_DIRECTORY
from stowplan.schema.agents.transfer_config import (
    CA_DIRECTORY,
    CA_FILE,
    LOCK_DIRECTORY,
    Mirror,
    PvcEndpoint,
    State,
    TransferConfig,
)
from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.remotes.remote import option_env

_PART_SIZE = 16
_MEBIBYTE = 1 << 20


def of_cube(cube: Cube, context: Context) -> TransferConfig:
    """Return the configuration of the cube's agent. The cube must have no errors."""
    path, links = claim_paths.canonical(cube.claim.sub_path or ""), cube.claim.links or "follow"
    claim = PvcEndpoint(claim=cube.claim.name or "", path=path, links=links)
    remote = cube.kind.endpoint(cube)
    retries = cube.setting("request_retries")
    return TransferConfig(
        target=StatusTarget(kind="DataCube", namespace=cube.id.namespace, name=cube.id.name),
        reportPhase=context.site.agents_report_phase,
        source=claim if cube.uploads else remote,
        sink=remote if cube.uploads else claim,
        mirror=Mirror(allowEmpty=bool(cube.given.allow_empty), maxDelete=cube.setting("max_delete"))
        if cube.given.sync
        else None,
        softDeadlineSeconds=soft_deadline(cube.given.active_deadline_seconds),
        requestRetries=5 if retries is None else retries,
        parallelism=cube.setting("parallelism") or 8,
        partSizeMiB=_part_size(cube),
        maxBytesPerSecond=cube.given.max_bytes_per_second,
        memoryMiB=transfer.memory(cube.resources["limits"]),
        state=_state(cube, claim.path),
        caBundle=f"{CA_DIRECTORY}/{CA_FILE}" if cube.reference.ca_bundle else None,
    )


def _part_size(cube: Cube) -> int:
    """Return the size in MiB of one part of a large file: from `partSize`, else from the flags, else 16."""
    size = amount(cube.given.part_size) if cube.given.part_size else None
    if size is not None:
        return int((size / _MEBIBYTE).to_integral_value(ROUND_CEILING))
    return int(cube.arguments.settings.get("part_size_mib", _PART_SIZE))


def part_size_findings(cube: Cube) -> list[Finding]:
    """Return findings about a part size that S3 refuses or that does not fit into the pod's memory."""
    given, places = cube.given.part_size, cube.arguments.places
    path: FieldPath = ("spec", "executor", "options", "partSize")
    if given is None and "part_size_mib" not in places:
        return []
    if given is not None and amount(given) is None:
        return [finding("SP206", path, f'"{given}" is not a size.', "Write for example `64Mi`.")]
    if given is None:
        path = (*BASE, places["part_size_mib"])
    size, limit = _part_size(cube), transfer.memory(cube.resources["limits"]) // 4
    if not LEAST_PART <= size <= limit:
        message = f"Parts of {size} MiB; allowed are {LEAST_PART} to {limit}, a quarter of the memory limit."
        return [finding("SP205", path, message, "Choose another size, or more memory.")]
    return []


def _state(cube: Cube, path: str) -> State | None:
    """Return the paths of the agent's state directory and lock; None if the claim is a read-only source.

    `path` is the path of the data in the claim. Cubes that write to one path of a claim share a lock; an upload has a
    lock of its own.
    """
    if cube.uploads and cube.claim.read_only:
        return None
    lock = content_hash("source", cube.id.name) if cube.uploads else content_hash("sink", path)
    return State(directory=f"{STATE_DIRECTORY}/datacubes/{cube.id.name}", lock=f"{LOCK_DIRECTORY}/{lock}")


def from_flags(cube: Cube) -> dict[str, str]:
    """Return values of environment variables by name, for options that only flags give."""
    known, settings = cube.kind.options, cube.arguments.settings
    return {
        option_env(name): escaped(str(value))
        for name, value in settings.items()
        if name in known and not options.given(cube.reference, name) and known[name].acts_on(cube.side)
    }

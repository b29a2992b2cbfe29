"""The configuration that the agent of a DataCube reads, compiled from the spec."""

from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING

from stowplan.library.builders import transfer
from stowplan.library.builders.job import soft_deadline
from stowplan.library.dialects.data_cube import options, paths
from stowplan.library.dialects.data_cube.arguments import BASE, LEAST_PART
from stowplan.library.dialects.data_cube.cube import Cube
from stowplan.library.dialects.data_cube.git_url import GitUrl
from stowplan.library.dialects.data_cube.variable_references import escaped
from stowplan.library.dialects.shared.context import Context
from stowplan.library.values.names import content_hash
from stowplan.library.values.quantities import amount
from stowplan.schema.agents.cache_config import Target
from stowplan.schema.agents.marker import STATE_DIRECTORY
from stowplan.schema.agents.transfer_config import (
    CA_DIRECTORY,
    CA_FILE,
    LOCK_DIRECTORY,
    GitEndpoint,
    HuggingFaceEndpoint,
    Mirror,
    PvcEndpoint,
    S3Endpoint,
    State,
    TransferConfig,
    option_env,
)
from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.kinds.data_cube import GitSettings, S3Settings

_PART_SIZE = 16
_MEBIBYTE = 1 << 20
_FLAG_OPTIONS = ("revision", "repo-type", "commit-message", "ref", "s3-region", "s3-no-check-bucket")
"""Options that flags of the old tools can give."""


def of_cube(cube: Cube, context: Context) -> TransferConfig:
    """Return the configuration of the cube's agent. The cube must have no errors."""
    claim = PvcEndpoint(claim=cube.claim.name or "", path=paths.canonical(cube.claim.sub_path or ""))
    remote = _REMOTES[cube.remote.type](cube)
    retries = cube.setting("request_retries")
    return TransferConfig(
        target=Target(kind="DataCube", namespace=cube.id.namespace, name=cube.id.name),
        reportPhase=context.site.agents_report_phase,
        source=claim if cube.uploads else remote,
        sink=remote if cube.uploads else claim,
        mirror=Mirror(allowEmpty=bool(cube.options.allow_empty), maxDelete=cube.setting("max_delete"))
        if cube.options.sync
        else None,
        softDeadlineSeconds=soft_deadline(cube.options.active_deadline_seconds),
        requestRetries=5 if retries is None else retries,
        parallelism=cube.setting("parallelism") or 8,
        partSizeMiB=_part_size(cube),
        memoryMiB=transfer.memory(cube.resources["limits"]),
        state=_state(cube, claim.path),
        caBundle=f"{CA_DIRECTORY}/{CA_FILE}" if cube.remote.ca_bundle else None,
    )


def _part_size(cube: Cube) -> int:
    """Return the size in MiB of one part of a large file: from `partSize`, else from the flags, else 16."""
    size = amount(cube.options.part_size) if cube.options.part_size else None
    if size is not None:
        return int((size / _MEBIBYTE).to_integral_value(ROUND_CEILING))
    return int(cube.arguments.settings.get("part_size_mib", _PART_SIZE))


def part_size_findings(cube: Cube) -> list[Finding]:
    """Return findings about a part size that S3 refuses or that does not fit into the pod's memory."""
    given, places = cube.options.part_size, cube.arguments.places
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


def _env(cube: Cube, option: str) -> str | None:
    """Return the name of the environment variable that carries `option`, an option of the remote side.

    Return None if the option has no effect on this side, or if neither the options nor the flags give it.
    """
    acts = options.OPTIONS[cube.remote.type][option].side in (None, cube.side)
    has_value = options.given(cube.remote, option) or option in cube.arguments.settings
    return option_env(option) if acts and has_value else None


def _s3(cube: Cube) -> S3Endpoint:
    reference, settings = cube.remote, cube.remote.s3 or S3Settings()
    anonymous = bool(settings.anonymous)
    keys = {
        field: None if anonymous else options.env_name(reference, option)
        for field, option in (
            ("accessKeyIdEnv", "s3-access-key-id"),
            ("secretAccessKeyEnv", "s3-secret-access-key"),
            ("sessionTokenEnv", "s3-session-token"),
        )
    }
    return S3Endpoint.model_validate(
        {
            **keys,
            "uri": options.literal(reference, "s3-uri"),
            "kind": settings.kind or "auto",
            "endpointEnv": _env(cube, "s3-endpoint"),
            "regionEnv": _env(cube, "s3-region"),
            "pathStyle": cube.setting("path_style"),
            "anonymous": anonymous,
            "noCheckBucketEnv": _env(cube, "s3-no-check-bucket"),
            "createBucket": bool(settings.create_bucket),
            "verifyParts": bool(settings.verify_parts),
        }
    )


def _hugging_face(cube: Cube) -> HuggingFaceEndpoint:
    reference, settings = cube.remote, cube.remote.huggingface
    kind = options.literal(reference, "repo-type") or cube.arguments.settings.get("repo-type") or "model"
    return HuggingFaceEndpoint.model_validate(
        {
            "repoEnv": option_env("repo"),
            "tokenEnv": _env(cube, "token"),
            "revisionEnv": _env(cube, "revision"),
            "repoType": kind,
            "files": [] if cube.uploads else options.files(reference),
            "include": cube.setting("include") or [],
            "exclude": cube.setting("exclude") or [],
            "pathInRepoEnv": _env(cube, "path-in-repo"),
            "commitMessageEnv": _env(cube, "commit-message"),
            "hosts": (settings and settings.hosts) or [],
        }
    )


def _git(cube: Cube) -> GitEndpoint:
    settings = cube.remote.git or GitSettings()
    url = cube.git if isinstance(cube.git, GitUrl) else GitUrl("")
    return GitEndpoint(
        urlEnv=option_env("url"),
        tokenEnv=url.token_env or _env(cube, "token"),
        username=url.username,
        usernameEnv=url.username_env,
        refEnv=_env(cube, "ref"),
        depth=cube.setting("depth"),
        lfs=settings.lfs is not False,
        submodules=bool(cube.setting("submodules")),
        hosts=settings.hosts or [],
    )


_REMOTES: Mapping[str, Callable[[Cube], S3Endpoint | HuggingFaceEndpoint | GitEndpoint]] = {
    "git": _git,
    "huggingface": _hugging_face,
    "s3": _s3,
}
"""Functions that build the remote endpoint, by type of the remote side."""


def from_flags(cube: Cube) -> dict[str, str]:
    """Return values of environment variables by name, for options that only flags give."""
    known, settings = options.OPTIONS[cube.remote.type], cube.arguments.settings
    return {
        option_env(name): escaped(str(settings[name]))
        for name in _FLAG_OPTIONS
        if name in settings and not options.given(cube.remote, name) and known[name].side in (None, cube.side)
    }

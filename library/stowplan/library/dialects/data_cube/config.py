"""What the agent of a DataCube reads, made from the spec."""

from decimal import ROUND_CEILING
from typing import NamedTuple

from stowplan.library.builders import transfer
from stowplan.library.builders.job import soft_deadline
from stowplan.library.dialects.data_cube import claim as data_cube_claim
from stowplan.library.dialects.data_cube import git_url, paths
from stowplan.library.dialects.data_cube import options as data_cube_options
from stowplan.library.dialects.data_cube.arguments import BASE, LEAST_PART, Arguments
from stowplan.library.dialects.data_cube.options import Side
from stowplan.library.dialects.data_cube.pod import Amounts
from stowplan.library.dialects.data_cube.rules import options_of, remote, remote_side, setting
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
from stowplan.schema.kinds.data_cube import DataCube, DataReference, GitSettings, S3Settings
from stowplan.schema.meta import SpecId

_PART_SIZE = 16
_MEBIBYTE = 1 << 20
_FLAG_OPTIONS = ("revision", "repo-type", "commit-message", "ref", "s3-region", "s3-no-check-bucket")
"""Options that flags of the old tools can give."""


def of_cube(model: DataCube, spec: SpecId, context: Context, arguments: Arguments, amounts: Amounts) -> TransferConfig:
    """The configuration of a cube without errors. `amounts` are its pod's."""
    options = options_of(model)
    claim = _claim(model)
    far = _Remote(remote(model), remote_side(model), arguments)
    upload = far.side == "sink"
    parallelism, retries = (setting(model, arguments, name) for name in ("parallelism", "request_retries"))
    return TransferConfig(
        target=Target(kind="DataCube", namespace=spec.namespace, name=spec.name),
        reportPhase=context.site.agents_report_phase,
        source=claim if upload else _remote(model, far),
        sink=_remote(model, far) if upload else claim,
        mirror=Mirror(allowEmpty=bool(options.allow_empty), maxDelete=setting(model, arguments, "max_delete"))
        if options.sync
        else None,
        softDeadlineSeconds=soft_deadline(options.active_deadline_seconds),
        requestRetries=5 if retries is None else retries,
        parallelism=parallelism or 8,
        partSizeMiB=part_size(model, arguments),
        memoryMiB=transfer.memory(amounts["limits"]),
        state=_state(model, spec, claim.path, upload=upload),
        caBundle=f"{CA_DIRECTORY}/{CA_FILE}" if far.reference.ca_bundle else None,
    )


def part_size(model: DataCube, arguments: Arguments) -> int:
    """MiB of one part of a large file."""
    given = options_of(model).part_size
    size = amount(given) if given else None
    if size is not None:
        return int((size / _MEBIBYTE).to_integral_value(ROUND_CEILING))
    return int(arguments.settings.get("part_size_mib", _PART_SIZE))


def part_size_findings(model: DataCube, amounts: Amounts, arguments: Arguments) -> list[Finding]:
    """Whether parts have a size that S3 takes, and that fits into the memory of the pod."""
    given = options_of(model).part_size
    path: FieldPath = ("spec", "executor", "options", "partSize")
    if given is None and "part_size_mib" not in arguments.places:
        return []
    if given is not None and amount(given) is None:
        return [finding("SP206", path, f'"{given}" is not a size.', "Write for example `64Mi`.")]
    if given is None:
        path = (*BASE, arguments.places["part_size_mib"])
    size, limit = part_size(model, arguments), transfer.memory(amounts["limits"]) // 4
    if not LEAST_PART <= size <= limit:
        message = f"Parts of {size} MiB; allowed are {LEAST_PART} to {limit}, a quarter of the memory limit."
        return [finding("SP205", path, message, "Choose another size, or more memory.")]
    return []


def _claim(model: DataCube) -> PvcEndpoint:
    claim = data_cube_claim.of_cube(model)
    return PvcEndpoint(claim=claim.name or "", path=paths.canonical(claim.sub_path or ""))


def _state(model: DataCube, spec: SpecId, path: str, *, upload: bool) -> State | None:
    """Cubes that write to one path share a lock; cubes that only read share none."""
    if upload and data_cube_claim.of_cube(model).read_only:
        return None
    lock = content_hash("source", spec.name) if upload else content_hash("sink", path)
    return State(directory=f"{STATE_DIRECTORY}/datacubes/{spec.name}", lock=f"{LOCK_DIRECTORY}/{lock}")


class _Remote(NamedTuple):
    """The remote side, which of the two it is, and what flags say of it."""

    reference: DataReference
    side: Side
    arguments: Arguments

    def env(self, option: str) -> str | None:
        """The variable of an option that was given, or that a flag stands for, and that acts on this side."""
        acts = data_cube_options.OPTIONS[self.reference.type][option].side in (None, self.side)
        if not acts or not (data_cube_options.given(self.reference, option) or option in self.arguments.settings):
            return None
        return option_env(option)


def _remote(model: DataCube, far: _Remote) -> S3Endpoint | HuggingFaceEndpoint | GitEndpoint:
    match far.reference.type:
        case "s3":
            return _s3(model, far)
        case "huggingface":
            return _hugging_face(model, far)
        case _:
            return _git(model, far)


def _s3(model: DataCube, far: _Remote) -> S3Endpoint:
    settings = far.reference.s3 or S3Settings()
    anonymous = bool(settings.anonymous)
    keys = {
        field: None if anonymous else data_cube_options.env_name(far.reference, option)
        for field, option in (
            ("accessKeyIdEnv", "s3-access-key-id"),
            ("secretAccessKeyEnv", "s3-secret-access-key"),
            ("sessionTokenEnv", "s3-session-token"),
        )
    }
    return S3Endpoint.model_validate(
        {
            **keys,
            "uri": data_cube_options.literal(far.reference, "s3-uri"),
            "kind": settings.kind or "auto",
            "endpointEnv": far.env("s3-endpoint"),
            "regionEnv": far.env("s3-region"),
            "pathStyle": setting(model, far.arguments, "path_style"),
            "anonymous": anonymous,
            "noCheckBucketEnv": far.env("s3-no-check-bucket"),
            "createBucket": bool(settings.create_bucket),
            "verifyParts": bool(settings.verify_parts),
        }
    )


def _hugging_face(model: DataCube, far: _Remote) -> HuggingFaceEndpoint:
    reference, arguments = far.reference, far.arguments
    kind = data_cube_options.literal(reference, "repo-type") or arguments.settings.get("repo-type") or "model"
    return HuggingFaceEndpoint.model_validate(
        {
            "repoEnv": option_env("repo"),
            "tokenEnv": far.env("token"),
            "revisionEnv": far.env("revision"),
            "repoType": kind,
            "files": data_cube_options.files(reference) if far.side == "source" else [],
            "include": setting(model, arguments, "include") or [],
            "exclude": setting(model, arguments, "exclude") or [],
            "pathInRepoEnv": far.env("path-in-repo"),
            "commitMessageEnv": far.env("commit-message"),
            "hosts": (reference.huggingface and reference.huggingface.hosts) or [],
        }
    )


def _git(model: DataCube, far: _Remote) -> GitEndpoint:
    settings = far.reference.git or GitSettings()
    parts = git_url.split(data_cube_options.literal(far.reference, "url") or "$(URL)")
    user = parts if isinstance(parts, git_url.GitUrl) else git_url.GitUrl("")
    return GitEndpoint(
        urlEnv=option_env("url"),
        tokenEnv=user.token_env or far.env("token"),
        username=user.username,
        usernameEnv=user.username_env,
        refEnv=far.env("ref"),
        depth=setting(model, far.arguments, "depth"),
        lfs=settings.lfs is not False,
        submodules=bool(setting(model, far.arguments, "submodules")),
        hosts=settings.hosts or [],
    )


def from_flags(model: DataCube, arguments: Arguments) -> dict[str, str]:
    """Variables of options that only flags give, with their values."""
    reference = remote(model)
    return {
        option_env(name): escaped(str(arguments.settings[name]))
        for name in _FLAG_OPTIONS
        if name in arguments.settings
        and not data_cube_options.given(reference, name)
        and data_cube_options.OPTIONS[reference.type][name].side in (None, remote_side(model))
    }

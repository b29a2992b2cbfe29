"""Rules of a DataCube's remote side: its address, its settings, and who may write there."""

from collections.abc import Iterator

from stowplan.library.dialects.data_cube import git_url, options, paths
from stowplan.library.dialects.data_cube.options import Side
from stowplan.library.dialects.data_cube.variable_references import references
from stowplan.schema.agents.transfer_config import option_env
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, Severity, finding
from stowplan.schema.kinds.data_cube import DataCube, DataReference


def findings(model: DataCube, reference: DataReference, side: Side) -> list[Finding]:
    """What is wrong with the side that is no claim."""
    return [
        *_address(reference, ("spec", side)),
        *_s3(reference, side),
        *_one_sided(reference, side),
        *_nobody(model, reference, side),
    ]


def _address(reference: DataReference, base: FieldPath) -> Iterator[Finding]:
    """The literal URL or URI."""
    if reference.type == "git" and (url := options.literal(reference, "url")):
        path = options.path_of(reference, "url", base)
        parts = git_url.split(url)
        if isinstance(parts, git_url.Unusable):
            yield finding("SP603" if parts.secret else "SP495", path, parts.message, parts.hint)
        elif option_env("token") in references(parts.url):
            message = "The token stands in the address itself, which Git writes into the repository's configuration."
            hint = "Remove it there; the agent authenticates with the option `token`."
            yield finding("SP495", path, message, hint)
    if reference.type == "s3" and (uri := options.literal(reference, "s3-uri")):
        yield from paths.s3_uri(uri, options.path_of(reference, "s3-uri", base))
    if endpoint := options.literal(reference, "s3-endpoint"):
        yield from _endpoint(endpoint, options.path_of(reference, "s3-endpoint", base))


def _endpoint(endpoint: str, path: FieldPath) -> Iterator[Finding]:
    if "@" in endpoint:
        message = "The endpoint carries credentials; what is committed to Git is no secret any more."
        hint = "Give them as `s3-access-key-id` and `s3-secret-access-key` from a Secret."
        yield finding("SP603", path, message, hint)
    elif "$" not in endpoint and ("://" in endpoint and not endpoint.startswith(("http://", "https://"))):
        message = f'"{endpoint}" is neither an http nor an https URL.'
        yield finding("SP494", path, message, "Write for example https://minio.example.com.")


def _s3(reference: DataReference, side: Side) -> Iterator[Finding]:
    settings = reference.s3
    if reference.type != "s3" or settings is None:
        return
    base: FieldPath = ("spec", side, "s3")
    uri = options.literal(reference, "s3-uri")
    if settings.kind == "file" and (uri.endswith("/") or uri.removeprefix("s3://").count("/") == 0):
        message = f'"{uri}" is a prefix or a bucket, and cannot be one file.'
        yield finding("SP494", (*base, "kind"), message, "Name the object, or remove `kind`.")


def _one_sided(reference: DataReference, side: Side) -> Iterator[Finding]:
    """Settings that have no effect on this side."""
    for block, field, key, acts in _ONE_SIDED:
        settings = getattr(reference, block)
        if block == reference.type and side != acts and settings and getattr(settings, field) is not None:
            message = f"`{key}` has no effect on a {side}."
            yield finding("SP406", ("spec", side, block, key), message, "Remove it.", anchor=Anchor.KEY)


_ONE_SIDED: tuple[tuple[str, str, str, Side], ...] = (
    ("s3", "create_bucket", "createBucket", "sink"),
    ("s3", "verify_parts", "verifyParts", "source"),
    ("git", "depth", "depth", "source"),
    ("git", "submodules", "submodules", "source"),
)
"""Block, field, its key, and the side where it acts."""


def _nobody(model: DataCube, reference: DataReference, side: Side) -> Iterator[Finding]:
    """An upload without a token to a place that takes none from strangers."""
    if side == "source" or reference.type == "s3" or options.certain(reference, "token"):
        return
    url = options.literal(reference, "url")
    parts = git_url.split(url) if url else None
    elsewhere = {str(each.get("name")) for each in (model.spec.executor and model.spec.executor.env) or ()}
    if (isinstance(parts, git_url.GitUrl) and parts.token_env) or (reference.type == "git" and not url):
        return
    if reference.type == "git" or "HF_TOKEN" not in elsewhere:
        message = "The upload has no token, so only a server that lets anybody write would take it."
        hint = "Add the option `token`, from a Secret."
        yield finding("SP494", ("spec", side, "options"), message, hint, severity=Severity.WARNING)

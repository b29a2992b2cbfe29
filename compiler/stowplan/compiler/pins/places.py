"""Places of a document that refer to something which can be pinned.

Documents may have errors: what has another form than it should have is passed over. What follows its source on purpose
has no place here: a Dataset with `refresh`, a DataCube with `schedule`.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from stowplan.compiler.kubernetes.fields import mapping
from stowplan.compiler.pins import images
from stowplan.compiler.pins.pin import Place, Section
from stowplan.library.dialects.data_cube.remotes import git_url
from stowplan.library.dialects.data_cube.variable_references import references
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.s3_uri import S3Uri

COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
HUB = "https://huggingface.co"

_HEAD = "HEAD"
"""What stands in keys for the branch that a remote takes by itself."""

_WANTED = {"git": "ref", "huggingface": "revision"}
"""The option of a DataCube's source that names its branch, by type."""

_OWN_REF = ("-b", "--branch", "--revision")
"""Arguments of the old tools by which a DataCube may name its branch, instead of by an option."""


class _Spot(NamedTuple):
    """Where a place is: `path`, `at` and `option` of `Place`."""

    path: FieldPath
    at: FieldPath
    option: str = ""


def of_document(data: Any) -> Iterator[Place]:
    """Yield the places of a document of `specs`: a spec, or a plain object."""
    yield from images.places(data)
    kind, spec = data.get("kind"), mapping(data, "spec")
    if kind == "Training":
        yield from _git(mapping(spec, "code", "git"), ("spec", "code", "git"))
    elif kind == "Dataset" and not spec.get("refresh"):
        yield from _source(mapping(spec, "source"), ("spec", "source"))
    elif kind == "DataCube" and not spec.get("schedule"):
        yield from _side(mapping(spec, "source"), mapping(spec, "executor"))


def _source(source: Any, path: FieldPath) -> Iterator[Place]:
    yield from _git(mapping(source, "git"), (*path, "git"))
    hub = mapping(source, "huggingface")
    if hub:
        at = (*path, "huggingface")
        given = hub.get("revision")
        spot = _Spot((*at, "revision") if given else at, (*at, "revision"))
        yield from _of_hub((HUB, hub.get("type", "dataset"), hub.get("repo")), given, spot)
    yield from _s3(mapping(source, "s3"), (*path, "s3"))


def _git(place: Any, path: FieldPath) -> Iterator[Place]:
    if place:
        ref = place.get("ref")
        yield from _of_git(place.get("url"), ref, _Spot((*path, "ref") if ref else path, (*path, "ref")))


def _s3(place: Any, path: FieldPath) -> Iterator[Place]:
    given, endpoint, region = place.get("uri"), place.get("endpoint") or "", place.get("region") or ""
    uri = S3Uri.parse(given) if isinstance(given, str) else None
    if uri is None or place.get("revision") or not (isinstance(endpoint, str) and isinstance(region, str)):
        return
    name = f"{uri.bucket}/{uri.key.rstrip('/')}/" if uri.key.rstrip("/") else f"{uri.bucket}/"
    server = endpoint.rstrip("/")
    key = f"s3://{name} {server}" if server else f"s3://{name}"
    in_path = place.get("pathStyle", bool(server)) is not False
    yield Place(Section.S3, key, (*path, "uri"), (*path, "revision"), server, name, region=region, path_style=in_path)


def _side(side: Any, executor: Any) -> Iterator[Place]:
    """Yield the place of a DataCube's source, unless a variable or an argument of an old tool says what it is."""
    listed, wanted = side.get("options"), _WANTED.get(str(side.get("type")), "")
    arguments = mapping(executor, "options").get("extraArgs") or ()
    if not (wanted and isinstance(listed, list)) or any(str(each).partition("=")[0] in _OWN_REF for each in arguments):
        return
    own = {each["name"]: index for index, each in enumerate(listed) if isinstance(each, dict) and "name" in each}
    values = {name: listed[index].get("value") for name, index in own.items() if not listed[index].get("valueFrom")}
    if wanted in own and wanted not in values:
        return
    path: FieldPath = ("spec", "source", "options")
    written: FieldPath = (*path, own[wanted], "value") if wanted in own else path
    spot = _Spot(written, written) if wanted in own else _Spot(written, (*path, len(listed)), wanted)
    if wanted == "ref":
        yield from _of_git(values.get("url"), values.get(wanted), spot)
    else:
        repository = _hub_of(executor), values.get("repo-type") or "model", values.get("repo")
        yield from _of_hub(repository, values.get(wanted), spot)


def _hub_of(executor: Any) -> Any:
    """Return the address of the Hub that a DataCube copies from; None if only the cluster knows it."""
    variables = executor.get("env")
    for each in variables if isinstance(variables, list) else ():
        if isinstance(each, dict) and each.get("name") == "HF_ENDPOINT":
            return str(each["value"]).rstrip("/") if each.get("value") else None
    return HUB


def _of_git(url: Any, ref: Any, spot: _Spot) -> Iterator[Place]:
    parts = git_url.split(url) if isinstance(url, str) else None
    if isinstance(parts, git_url.GitUrl) and _literal(parts.url, ref or ""):
        revision = ref or _HEAD
        key = f"{parts.url}#{revision}"
        yield Place(Section.GIT, key, spot.path, spot.at, parts.url, revision=revision, option=spot.option)


def _of_hub(repository: tuple[Any, Any, Any], revision: Any, spot: _Spot) -> Iterator[Place]:
    """Yield the place of a repository, given by the address of its Hub, its type and its name."""
    hub, kind, repo = repository
    if repo and _literal(hub, kind, repo, revision or ""):
        name, wanted = f"{kind}s/{repo}", revision or _HEAD
        key = f"{name}@{wanted}" if hub == HUB else f"{hub}/{name}@{wanted}"
        yield Place(Section.HUGGINGFACE, key, spot.path, spot.at, hub, name, wanted, option=spot.option)


def _literal(*texts: Any) -> bool:
    """Whether all are strings without references to variables, and the last one is no commit."""
    return all(isinstance(each, str) and not references(each) for each in texts) and not COMMIT.fullmatch(texts[-1])

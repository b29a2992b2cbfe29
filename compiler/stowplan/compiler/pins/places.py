"""Places of a document that refer to something which can be pinned.

Documents may have errors: what has another form than it should have is passed over. What follows its source on purpose
has no place here: a Dataset with `refresh`, a DataCube with `schedule`.
"""

import re
from collections.abc import Iterator
from typing import Any

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

_OWN_REF = ("-b", "--branch", "--revision")
"""Arguments of the old tools by which a DataCube may name its branch, instead of by an option."""


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
        yield from _of_hub(HUB, hub.get("repo"), hub.get("type", "dataset"), given, at, (*at, "revision"))
    yield from _s3(mapping(source, "s3"), (*path, "s3"))


def _git(place: Any, path: FieldPath) -> Iterator[Place]:
    if place:
        yield from _of_git(place.get("url"), place.get("ref"), path, (*path, "ref"))


def _s3(place: Any, path: FieldPath) -> Iterator[Place]:
    given, endpoint, region = place.get("uri"), place.get("endpoint") or "", place.get("region") or ""
    uri = S3Uri.parse(given) if isinstance(given, str) else None
    if uri is None or place.get("revision") or not (isinstance(endpoint, str) and isinstance(region, str)):
        return
    name = f"{uri.bucket}/{uri.key.rstrip('/')}/" if uri.key.rstrip("/") else f"{uri.bucket}/"
    server = endpoint.rstrip("/")
    key = f"s3://{name} {server}" if server else f"s3://{name}"
    yield Place(Section.S3, key, (*path, "uri"), (*path, "revision"), server, name, region=region)


def _side(side: Any, executor: Any) -> Iterator[Place]:
    """Yield the place of a DataCube's source, unless a variable or an argument of an old tool says what it is."""
    listed = side.get("options")
    arguments = mapping(executor, "options").get("extraArgs") or ()
    if not isinstance(listed, list) or any(str(each).partition("=")[0] in _OWN_REF for each in arguments):
        return
    own = {each["name"]: index for index, each in enumerate(listed) if isinstance(each, dict) and "name" in each}
    values = {name: listed[index].get("value") for name, index in own.items() if not listed[index].get("valueFrom")}
    path: FieldPath = ("spec", "source", "options")
    wanted = {"git": "ref", "huggingface": "revision"}.get(side.get("type"), "")
    if not wanted or (wanted in own and wanted not in values):
        return
    written: FieldPath = (*path, own[wanted], "value") if wanted in own else path
    option = "" if wanted in own else wanted
    at = written if wanted in own else (*path, len(listed))
    given = values.get(wanted)
    if wanted == "ref":
        yield from _of_git(values.get("url"), given, written, at, option)
    else:
        hub = _hub_of(executor)
        yield from _of_hub(hub, values.get("repo"), values.get("repo-type") or "model", given, written, at, option)


def _hub_of(executor: Any) -> Any:
    """Return the address of the Hub that a DataCube copies from; None if only the cluster knows it."""
    variables = executor.get("env")
    for each in variables if isinstance(variables, list) else ():
        if isinstance(each, dict) and each.get("name") == "HF_ENDPOINT":
            return str(each["value"]).rstrip("/") if each.get("value") else None
    return HUB


def _of_git(url: Any, ref: Any, path: FieldPath, at: FieldPath, option: str = "") -> Iterator[Place]:
    parts = git_url.split(url) if isinstance(url, str) else None
    if not isinstance(parts, git_url.GitUrl) or not _literal(parts.url, ref or ""):
        return
    written = path if option or path == at or not ref else at
    revision = ref or _HEAD
    yield Place(Section.GIT, f"{parts.url}#{revision}", written, at, parts.url, revision=revision, option=option)


def _of_hub(
    hub: Any, repo: Any, kind: Any, revision: Any, path: FieldPath, at: FieldPath, option: str = ""
) -> Iterator[Place]:
    if not _literal(hub, repo, kind, revision or "") or not repo:
        return
    name, wanted = f"{kind}s/{repo}", revision or _HEAD
    key = f"{name}@{wanted}" if hub == HUB else f"{hub}/{name}@{wanted}"
    written = path if option or path == at or not revision else at
    yield Place(Section.HUGGINGFACE, key, written, at, hub, name, wanted, option=option)


def _literal(*texts: Any) -> bool:
    """Whether all are strings without references to variables, and the last one is no commit."""
    return all(isinstance(each, str) and not references(each) for each in texts) and not COMMIT.fullmatch(texts[-1])

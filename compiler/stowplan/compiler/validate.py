"""Documents into specs: kind, fields, types, embedded Kubernetes values, names."""

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

from stowplan.compiler import kinds, secret_keys
from stowplan.compiler.kubernetes_schemas import definition_problems
from stowplan.compiler.model import Program, Sources, Spec, SpecModel
from stowplan.compiler.source import Data, Document, Location, Report, diagnose, diagnose_at
from stowplan.library.names import is_dns_label, is_dns_subdomain
from stowplan.schema.diagnostics import FieldPath, Finding, did_you_mean, dotted, finding, has_errors
from stowplan.schema.legacy import modernise
from stowplan.schema.meta import Model, SpecId
from stowplan.schema.platform import Platform
from stowplan.schema.reading import embedded, read
from stowplan.schema.sample_set import SampleSet
from stowplan.schema.wording import ANY_TEXT, mistyped

PLATFORM_FILE = "stowplan.yaml"

_METADATA = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_PLACEHOLDER = re.compile(r"<[A-Za-z][\w .-]*>")
_PLACEHOLDER_INSIDE = re.compile(r"<[A-Z][A-Z0-9_]+>")
"""Inside a longer text only what is written in capitals is taken for a placeholder."""

_SERVICE_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")


def validate(sources: Sources, report: Report) -> Program:
    """The specs among the documents, in the order of the documents, and the platform they are compiled for.

    Documents with errors are left out of the program; their diagnostics are in the report.
    """
    platform = _platform(sources.platform, report)
    specs: list[Spec] = []
    passed: list[Document] = []
    refused: set[SpecId] = set()
    for document in sources.documents:
        placeholders = list(_placeholders(document.root.data, ()))
        report.add_findings(document, placeholders)
        kind = document.root.data.get("kind")
        if isinstance(kind, str) and kind in kinds.MODELS:
            spec = None if placeholders else _spec(document, kind, platform, report)
            specs += [spec] if spec else []
            refused |= set() if spec else {_identity(kind, document, platform)}
        elif placeholders:
            continue
        else:
            found = _foreign(document, platform)
            report.add_findings(document, found)
            passed += [] if has_errors(found) else [document]
    keys = secret_keys.defined(sources.documents, platform.default_namespace)
    return Program(platform, sources.platform, tuple(specs), tuple(passed), keys, frozenset(refused))


def _identity(kind: str, document: Document, platform: Platform) -> SpecId:
    """What a document would be if it had no errors; without a name, nothing that exists."""
    metadata = document.root.data.get("metadata")
    given = metadata if isinstance(metadata, dict) else {}
    return SpecId(kind, str(given.get("namespace") or platform.default_namespace), str(given.get("name", "")))


def _platform(document: Document | None, report: Report) -> Platform:
    if document is None:
        platform: Platform | None = Platform()
    else:
        platform, found = read(Platform, document.root.data)
        report.add_findings(document, found)
    if platform is None:
        return Platform()
    for note in _platform_notes(platform):
        if document:
            report.add(diagnose(document, note))
        else:
            report.add(diagnose_at(Location(PLATFORM_FILE, 1, 1), note))
    return platform


def _platform_notes(platform: Platform) -> Iterator[Finding]:
    if platform.images.registry is None:
        message = "`images.registry` is not given, so agent images are named local/stowplan-<agent>."
        hint = "Build the images in library/images, push them to your registry, and name it here."
        yield finding("SP606", ("images",), message, hint)
    if platform.argocd.repo_url is None:
        message = "`argocd.repoURL` is not given, so no Argo CD objects are written."
        yield finding("SP536", ("argocd",), message, "Name the Git repository that holds the output.")
    if platform.images.tag == "latest":
        message = "With the tag `latest`, a pod may run another version tomorrow."
        yield finding("SP607", ("images", "tag"), message, "Name a version, or give `images.digests`.")
    if platform.juicefs.task_user == 0:
        message = "Tasks run as root, which Pod Security `restricted` and `baseline` namespaces may refuse."
        hint = "Leave it at 65532 unless the old privileged runtime wrote the files of your volumes."
        yield finding("SP602", ("juicefs", "taskUser"), message, hint)
    if platform.argocd.destination.name and platform.argocd.destination.server:
        message = "A destination has a `name` or a `server`, not both."
        yield finding("SP601", ("argocd", "destination", "name"), message, "Remove one of them.")


def _placeholders(value: Data, path: FieldPath) -> Iterator[Finding]:
    match value:
        case str():
            for name in [value] if _PLACEHOLDER.fullmatch(value) else _PLACEHOLDER_INSIDE.findall(value):
                yield finding("SP114", path, f"The placeholder {name} was left in.", "Put your own value in its place.")
        case dict():
            for key, below in value.items():
                yield from _placeholders(below, (*path, key))
        case list():
            for index, below in enumerate(value):
                yield from _placeholders(below, (*path, index))


def _spec(document: Document, kind: str, platform: Platform, report: Report) -> Spec | None:
    data, found = modernise(kind, document.root.data)
    found += _version(kind, data)
    if has_errors(found):
        report.add_findings(document, found)
        return None
    model, problems = read(kinds.MODELS[kind], data, unknown=platform.policy.unknown_fields)
    found += problems
    if model is None:
        report.add_findings(document, found)
        return None
    found += [*_metadata(model, data, platform), *_embedded(model, platform)]
    report.add_findings(document, found)
    namespace = model.metadata.namespace or platform.default_namespace
    identity = SpecId(kind, namespace, model.metadata.name)
    return None if has_errors(found) else Spec(identity, document, model, _digest(model, namespace))


def _version(kind: str, data: dict[str, Any]) -> list[Finding]:
    version, expected = data.get("apiVersion"), kinds.API_VERSIONS[kind]
    if version == expected:
        return []
    path: FieldPath = ("apiVersion",)
    found = f'Found "{version}"' if "apiVersion" in data else "The apiVersion is missing"
    return [finding("SP208", path, f"{found}; a {kind} has {expected}.", f"Write `apiVersion: {expected}`.")]


def _metadata(model: SpecModel, data: dict[str, Any], platform: Platform) -> Iterator[Finding]:
    meta = model.metadata
    if isinstance(model, SampleSet) and not _SERVICE_NAME.fullmatch(meta.name):
        message = f'"{meta.name}" cannot name the Service of a SampleSet.'
        hint = "Use lower-case letters, digits and `-`, beginning with a letter and not ending in `-`."
        yield finding("SP210", ("metadata", "name"), message, hint)
    elif not is_dns_subdomain(meta.name):
        message = f'"{meta.name}" is not a name that Kubernetes allows.'
        hint = "Use lower-case letters, digits, `-` and `.`, beginning and ending with a letter or digit."
        yield finding("SP210", ("metadata", "name"), message, hint)
    if meta.namespace is not None and not is_dns_label(meta.namespace):
        message = f'"{meta.namespace}" is not a namespace that Kubernetes allows.'
        hint = "Use lower-case letters, digits and `-`, at most 63, beginning and ending with a letter or digit."
        yield finding("SP210", ("metadata", "namespace"), message, hint)
    rest = {key: data["metadata"][key] for key in ("labels", "annotations", "finalizers") if key in data["metadata"]}
    for problem in definition_problems(platform.kubernetes_version, _METADATA, rest):
        yield finding("SP210", ("metadata", *problem.path), problem.message, problem.hint, anchor=problem.anchor)


def _embedded(model: Model, platform: Platform) -> Iterator[Finding]:
    for path, definition, value in embedded(model):
        for problem in definition_problems(platform.kubernetes_version, definition, value):
            yield finding("SP213", (*path, *problem.path), problem.message, problem.hint, anchor=problem.anchor)


def _digest(model: SpecModel, namespace: str) -> str:
    """Over the content of the spec: not its place, layout, legacy spelling or status."""
    content = model.model_dump(mode="json", exclude_unset=True)
    canonical = json.dumps([namespace, content], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _foreign(document: Document, platform: Platform) -> list[Finding]:
    """What to say of a document that is no spec: nothing if the platform lets it through."""
    data = document.root.data
    version, kind = data.get("apiVersion"), data.get("kind")
    if not isinstance(kind, str) or not isinstance(version, str):
        return [_nameless(data, "apiVersion" if isinstance(kind, str) else "kind")]
    if kind == "Platform":
        message = f"A Platform stands among the specs; the platform file is {PLATFORM_FILE} beside the specs folder."
        return [finding("SP113", ("kind",), message, "Move it there.")]
    if kinds.allowed(platform, version, kind):
        return _plain(data)
    if kinds.is_built_in(platform.kubernetes_version, version, kind):
        message = f"{kind} is a plain Kubernetes object, not a spec."
        hint = "Keep it outside the specs folder, or list its kind in `passThrough` of the platform file."
        return [finding("SP209", ("kind",), message, hint)]
    message = f'"{kind}" of {version} is not a kind of spec.'
    hint = f"{did_you_mean(kind, kinds.MODELS)} To write it unchanged, list it in `passThrough` of the platform file."
    return [finding("SP207", ("kind",), message, hint)]


def _nameless(data: dict[str, Any], field: str) -> Finding:
    if field in data:
        return finding("SP203", (field,), *mistyped(data[field], ANY_TEXT))
    hint = f"Add `{field}`."
    if field == "kind":
        hint += f" Specs are of the kinds {', '.join(sorted(kinds.MODELS))}."
    return finding("SP202", (field,), f'The field "{field}" is missing.', hint)


def _plain(data: dict[str, Any]) -> list[Finding]:
    """A plain object needs a name, since it is filed by it."""
    metadata = data.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("name"), str):
        return []
    path: FieldPath = ("metadata", "name")
    return [finding("SP202", path, f'The field "{dotted(path)}" is missing.', "Add the name of the object.")]

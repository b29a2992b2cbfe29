"""Validation of documents as specs: kind, fields, types, embedded Kubernetes values, names."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.locations import PLATFORM_FILE
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.kubernetes import system_namespaces
from stowplan.compiler.kubernetes.fields import mapping, namespace_and_name
from stowplan.compiler.kubernetes.list_map_keys import LIST_MAP_KEYS
from stowplan.compiler.kubernetes.schema_problem import SchemaProblem
from stowplan.compiler.kubernetes.schemas import definition_problems
from stowplan.compiler.model import Program, Spec
from stowplan.compiler.specs import digests, fitting_parts, kinds, placeholders, secret_keys
from stowplan.compiler.specs import platform as platform_file
from stowplan.library.builders.pods.training_pod import MERGE_KEYS
from stowplan.library.dialects.shared import run_order
from stowplan.library.values.names import is_dns_label, is_dns_subdomain
from stowplan.schema.diagnostics import FieldPath, Finding, did_you_mean, dotted, finding, has_errors
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.legacy import modernise
from stowplan.schema.meta import PATCH, Model, SpecId
from stowplan.schema.parse_model import embedded, read
from stowplan.schema.platform.platform import Platform
from stowplan.schema.wording import ANY_TEXT, mistyped

_METADATA = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_POD_TEMPLATE = "io.k8s.api.core.v1.PodTemplateSpec"
_SERVICE_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")


def validate(platform_document: Document, documents: Sequence[Document], report: Report) -> Program:
    """Return the program: the specs among the documents, in the order of the documents, and the platform.

    Documents with errors are not in the program; their diagnostics are in the report. If the platform file has errors,
    specs are only checked one by one and the program is empty: all other checks depend on the platform.
    """
    platform = platform_file.platform(platform_document, report)
    if platform is None:
        for document in documents:
            if is_spec(document):
                read_spec(document, Platform(), report, sound=False)
        return Program(Platform(), platform_document, ())
    specs: list[Spec] = []
    passed: list[Document] = []
    refused: set[SpecId] = set()
    for document in documents:
        if is_spec(document):
            spec = read_spec(document, platform, report)
            specs += [spec] if spec else []
            refused |= set() if spec else {identity_of(document, platform.default_namespace)}
        else:
            found = [*placeholders.findings(document.data), *_foreign(document, platform)]
            report.add_findings(document, found)
            passed += [] if has_errors(found) else [document]
    keys = secret_keys.defined(documents, platform.default_namespace)
    return Program(platform, platform_document, tuple(specs), tuple(passed), keys, frozenset(refused))


def is_spec(document: Document) -> bool:
    """Whether the kind of a document is one of Stowplan's, so that the document is a spec or should be one."""
    kind = document.data.get("kind")
    return isinstance(kind, str) and kind in KINDS


def identity_of(document: Document, default_namespace: str) -> SpecId:
    """Return the identity in a document for which `is_spec` holds. Without a name it equals that of no spec."""
    return SpecId(document.data["kind"], *namespace_and_name(document.data, default_namespace))


def read_spec(document: Document, platform: Platform, report: Report, *, sound: bool = True) -> Spec | None:
    """Return the spec in a document for which `is_spec` holds; None if it has errors. Its findings go to `report`."""
    spec, found = examine(document, platform, sound=sound)
    report.add_findings(document, found)
    return spec


def examine(document: Document, platform: Platform, *, sound: bool = True) -> tuple[Spec | None, list[Finding]]:
    """Return the spec in a document for which `is_spec` holds, None if it has errors, and its findings.

    If only Kubernetes values or the metadata have errors, the rules of the kind judge the rest. They depend on the
    platform, so they need a `sound` platform file.
    """
    kind = document.data["kind"]
    left_in = []
    if placeholders.suspected(document):
        left_in = [*placeholders.findings(document.data), *placeholders.templates(document.data)]
    data, found = modernise(KINDS[kind].model, document.data)
    found += left_in or _version(kind, data)
    if has_errors(found):
        return None, found
    model, problems = read(KINDS[kind].model, data, unknown=platform.policy.unknown_fields)
    found += problems
    if model is None:
        return None, found
    embedded_problems = list(_embedded(model, platform))
    found += [
        *_metadata(model, data, platform),
        *_finalizers(model, document),
        *(each for _, each in embedded_problems),
    ]
    if sound and has_errors(found):
        unfit = ((value, each.path[len(value) :]) for value, each in embedded_problems)
        found += fitting_parts.findings(model, unfit, platform)
    if has_errors(found):
        return None, found
    namespace = model.metadata.namespace or platform.default_namespace
    identity = SpecId(kind, namespace, model.metadata.name)
    return Spec(identity, document, model, *digests.of_spec(model, namespace)), found


def _version(kind: str, data: dict[str, Any]) -> list[Finding]:
    version, expected = data.get("apiVersion"), KINDS[kind].api_version
    if version == expected:
        return []
    path: FieldPath = ("apiVersion",)
    found = f'Found "{version}"' if "apiVersion" in data else "The apiVersion is missing"
    return [finding("SP208", path, f"{found}; a {kind} has {expected}.", f"Write `apiVersion: {expected}`.")]


def _metadata(model: CustomResource, data: dict[str, Any], platform: Platform) -> Iterator[Finding]:
    meta = model.metadata
    if model.SERVICE and not _SERVICE_NAME.fullmatch(meta.name):
        message = f'"{meta.name}" cannot name the Service of a {model.kind}.'
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
    yield from run_order.refused(model.kind, meta.annotations)
    rest = {key: data["metadata"][key] for key in ("labels", "annotations", "finalizers") if key in data["metadata"]}
    for problem in definition_problems(platform.kubernetes_version, _METADATA, rest):
        yield finding("SP210", ("metadata", *problem.path), problem.message, problem.hint, anchor=problem.anchor)


def _finalizers(model: CustomResource, document: Document) -> Iterator[Finding]:
    """Yield a finding for each finalizer, which the custom resource does not get; the model has none of old operators.

    The model keeps them, so that its digest stays what it was in versions that compiled them.
    """
    given = document.data["metadata"].get("finalizers")
    for index, name in enumerate(given if isinstance(given, list) else ()):
        if name in model.metadata.finalizers:
            message = (
                f'The finalizer "{name}" was left out: nothing of Stowplan removes it when the resource is deleted.'
            )
            hint = "Remove it. A controller of yours can add it to the resource in the cluster."
            yield finding("SP211", ("metadata", "finalizers", index), message, hint)


def _embedded(model: Model, platform: Platform) -> Iterator[tuple[FieldPath, Finding]]:
    """Yield findings about embedded Kubernetes values, each with the path of the whole value."""
    for path, definition, value in embedded(model):
        for problem in definition_problems(platform.kubernetes_version, definition, value):
            if not _is_merged(definition, problem):
                at = (*path, *problem.path)
                yield path, finding("SP213", at, problem.message, problem.hint, anchor=problem.anchor)


def _is_merged(definition: str, problem: SchemaProblem) -> bool:
    """Whether a problem is a duplicate entry in a list that lowering merges: there the last entry counts.

    Such lists are in containers of users' pod templates.
    """
    return (
        definition.removeprefix(PATCH) == _POD_TEMPLATE
        and problem.keyword == LIST_MAP_KEYS
        and problem.path[-1] in MERGE_KEYS
    )


def _foreign(document: Document, platform: Platform) -> list[Finding]:
    """Return the findings about a document that is no spec; none for a valid plain object that the platform allows."""
    data = document.data
    version, kind = data.get("apiVersion"), data.get("kind")
    if not isinstance(kind, str) or not isinstance(version, str):
        return [_nameless(data, "apiVersion" if isinstance(kind, str) else "kind")]
    if kind == "Platform":
        message = f"A Platform is among the specs; the platform file is {PLATFORM_FILE} next to the specs folder."
        return [finding("SP113", ("kind",), message, "Move it there.")]
    if kinds.allowed(platform, version, kind):
        return [*_plain(data), *_of_the_system(data, platform)]
    if kinds.is_built_in(platform.kubernetes_version, version, kind):
        message = f"{kind} is a plain Kubernetes object, not a spec."
        hint = "Keep it outside the specs folder, or list its kind in `passThrough` of the platform file."
        return [finding("SP209", ("kind",), message, hint)]
    return [finding("SP207", ("kind",), *_unknown_kind(version, kind))]


def _unknown_kind(version: str, kind: str) -> tuple[str, str]:
    """Return message and hint for a kind that is neither Stowplan's nor built into Kubernetes nor allowed."""
    unchanged = "To write it unchanged, list it in `passThrough` of the platform file."
    message = f'"{kind}" of {version} is not a kind of spec.'
    if kind == "List" or kind.removesuffix("List") in KINDS:
        return message, 'Write its `items` as documents of their own, each begun by a line "---".'
    return message, f"{did_you_mean(kind, KINDS)} {unchanged}"


def _nameless(data: dict[str, Any], field: str) -> Finding:
    if field in data:
        return finding("SP203", (field,), *mistyped(data[field], ANY_TEXT))
    hint = f"Add `{field}`."
    if field == "kind":
        hint += f" Specs are of the kinds {', '.join(sorted(KINDS))}."
    return finding("SP202", (field,), f'The field "{field}" is missing.', hint)


def _plain(data: dict[str, Any]) -> list[Finding]:
    """Return SP202 for a plain object without a name, because its file is named after it; otherwise an empty list."""
    if isinstance(mapping(data, "metadata").get("name"), str):
        return []
    path: FieldPath = ("metadata", "name")
    return [finding("SP202", path, f'The field "{dotted(path)}" is missing.', "Add the name of the object.")]


def _of_the_system(data: dict[str, Any], platform: Platform) -> Iterator[Finding]:
    """Yield SP615 for a plain object in a system namespace, or for the Namespace object of a system namespace.

    The labels of a Namespace decide which pods Kubernetes admits in it.
    """
    field = "name" if (data["apiVersion"], data["kind"]) == ("v1", "Namespace") else "namespace"
    if field == "namespace" and not kinds.is_namespaced(platform, data["apiVersion"], data["kind"]):
        return
    named = mapping(data, "metadata").get(field) or platform.default_namespace
    problem = system_namespaces.refused(str(named), platform)
    if problem:
        yield finding("SP615", ("metadata", field), *problem)

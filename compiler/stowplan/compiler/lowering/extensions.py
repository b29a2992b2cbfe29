"""Extensions: Python files of the platform team that add objects to the output and patch compiled ones.

`platform.extensions` lists them. Each defines `build(app, program)`: `app` is a cdk8s App whose
`spec(kind, namespace, name)` returns the objects of a spec, `program` is the compiled `Program`. Extensions run in
order, each on the result of the previous one; an extension that fails changes nothing.

Security: an extension is trusted code. It is executed with all rights of the user who calls the command. Its objects
must pass the check stage and the list of kinds. The isolation here only separates one execution from the next; it is no
sandbox. Anyone who may change these files has the rights of the CI job: let the platform team own and review them.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.locations import Location
from stowplan.compiler.diagnostics.report import Diagnostic, diagnose
from stowplan.compiler.kubernetes.rules import CLUSTER_SCOPED
from stowplan.compiler.lowering import output_layout
from stowplan.compiler.lowering.app_checks import AppChecks, document_of
from stowplan.compiler.lowering.extension_file import Failure, locate, run
from stowplan.compiler.model import OutputFile, Program
from stowplan.library.dialects.shared.context import Context
from stowplan.library.manifest import Json, Manifest, Unit, group_of
from stowplan.library.values.names import SUBDOMAIN_LIMIT, is_dns_label
from stowplan.schema.codes import CATALOGUE
from stowplan.schema.diagnostics import Severity, finding
from stowplan.schema.platform.platform import Platform

if TYPE_CHECKING:
    from stowplan.library.constructs import Displaced, Extended

FAILED, NOT_ITS_OWN = "SP560", "SP561"
_RESHAPE = "Give every object apiVersion, kind and a name that Kubernetes allows."
_KIND = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.:]*[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True)
class Extensions:
    """Result of the extensions: all units in their order, patched or not; the added objects; and the diagnostics.

    `made` are the documents of specs that constructs stand for; their units follow the others in this order. `context`
    knows them. The source of an added object is the path of the extension's file in the repository.
    """

    units: tuple[Unit, ...]
    context: Context
    made: tuple[Document, ...] = ()
    additions: tuple[OutputFile, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def extend(program: Program, extended: Extensions, root: Path, checks: AppChecks) -> Extensions:
    """Execute the platform's extensions in their listed order, on `extended`. `root` is the repository's folder.

    Without extensions nothing is imported and no Node.js process starts. A failure is SP560; a compiled object that an
    extension removed, renamed or moved is SP561. After either, the extension has no effect on the result.
    """
    for index in range(len(program.platform.extensions)):
        extended = _extend(program, extended, index, root, checks)
    return extended


def _extend(program: Program, before: Extensions, index: int, root: Path, checks: AppChecks) -> Extensions:
    """Execute the extension at `index` of the platform's list on `before`, the result of the earlier ones."""
    file = locate(root, program.platform.extensions[index].path)
    if isinstance(file, Failure):
        found = finding(FAILED, ("extensions", index, "path"), file.message, file.hint)
        return _add_problems(before, [diagnose(program.platform_document, found)])
    path = file.relative_to(root.resolve()).as_posix()
    from stowplan.library.constructs import SpecApp  # noqa: PLC0415  # starts Node

    built = run(file, program, SpecApp(before.context, before.units, root.resolve(), checks))
    if isinstance(built, Failure):
        return _add_problems(before, [_at_file(FAILED, path, built)])
    return taken(before, *built, program, path)


def taken(before: Extensions, extended: "Extended", line: int, program: Program, path: str) -> Extensions:
    """Return the result of the program `path` on `before`; its problems are reported at the `line`."""
    manifests = [_manifest(body, program.platform) for body in extended.added]
    problems = [_at_file(NOT_ITS_OWN, path, _displaced(each, line)) for each in extended.displaced]
    problems += [_at_file(FAILED, path, Failure(each, _RESHAPE, line)) for each in manifests if isinstance(each, str)]
    if problems:
        return _add_problems(before, problems)
    folder = f"{'app' if path == program.app else 'extension'}-{PurePosixPath(path).stem}"
    additions = [output_layout.of_file(each, folder, path) for each in manifests if isinstance(each, Manifest)]
    made = [document_of(each, index) for index, each in enumerate(extended.made)]
    said = [diagnose(at, found) for at, each in zip(made, extended.made, strict=True) for found in each.findings]
    return Extensions(
        extended.units,
        extended.context,
        (*before.made, *made),
        (*before.additions, *additions),
        (*before.diagnostics, *said),
    )


def _add_problems(before: Extensions, problems: list[Diagnostic]) -> Extensions:
    return replace(before, diagnostics=(*before.diagnostics, *problems))


def _displaced(displaced: "Displaced", line: int) -> Failure:
    message = (
        f"{displaced.object} of {displaced.spec} is gone. An extension may patch our objects, "
        "but not remove, rename or move them or change their kind."
    )
    return Failure(message, "Leave kind, name and namespace alone, or change the spec itself.", line)


def _at_file(code: str, path: str, failure: Failure) -> Diagnostic:
    severity = Severity(CATALOGUE[code].severity)
    return Diagnostic(code, severity, Location(path, failure.line or 1, 1), "", failure.message, failure.hint)


def _manifest(body: Json, platform: Platform) -> Manifest | str:
    """Return the manifest of an object that an extension added, or the reason why it cannot be one.

    A namespaced object without a namespace gets the platform's default one. A cluster-scoped object loses the namespace
    of its chart. Cluster-scoped kinds are the ones of Kubernetes, and those that the platform file marks so in the
    `kinds` of an extension. Names become file names, so only letters, digits and `-_.:` are allowed.
    """
    api_version, kind, metadata = body.get("apiVersion"), body.get("kind"), body.get("metadata")
    if not isinstance(api_version, str) or not isinstance(kind, str) or not _KIND.fullmatch(kind):
        return f"An object has apiVersion {api_version!r} and kind {kind!r}; both must be given."
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(metadata, dict) or not isinstance(name, str) or not _is_name(name):
        return f"A {kind} has the name {name!r}; allowed are letters, digits and `-_.:`."
    placed = {key: value for key, value in metadata.items() if key != "namespace"}
    if (group_of(api_version), kind) not in _cluster_scoped(platform):
        namespace = metadata.get("namespace") or platform.default_namespace
        if not isinstance(namespace, str) or not is_dns_label(namespace):
            return f"{kind} {name} has the namespace {namespace!r}, which is no DNS label."
        placed["namespace"] = namespace
    return Manifest({**body, "metadata": placed}, name)


def _is_name(name: str) -> bool:
    return len(name) <= SUBDOMAIN_LIMIT and _NAME.fullmatch(name) is not None


def _cluster_scoped(platform: Platform) -> Iterable[tuple[str, str]]:
    declared = (kind for extension in platform.extensions for kind in extension.kinds)
    return CLUSTER_SCOPED | {(kind.group, kind.kind) for kind in declared if kind.cluster_scoped}

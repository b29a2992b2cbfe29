"""The objects in the committed output."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from stowplan.compiler.diagnostics.report import Diagnostic
from stowplan.compiler.kubernetes.fields import identity, spec_of
from stowplan.compiler.model import OutputFile
from stowplan.compiler.output import inventory_problems, paths
from stowplan.compiler.output.folder import OutputFiles, OutputFolder
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.output.inventory_files import OLD, PENDING, is_inventory, of_spec
from stowplan.compiler.output.inventory_lines import Entry
from stowplan.compiler.output.read_back import reread
from stowplan.compiler.output.render import HEADER_LENGTH, Renderings, carries_header
from stowplan.library.engines.registry import STARTING_KINDS
from stowplan.library.manifest import Json
from stowplan.library.values.names import LABEL_LIMIT, shorten
from stowplan.schema.meta import ObjectId, SpecId


def previous(
    outputs: Sequence[OutputFile], inventory: Inventory, tree: OutputFiles, renderings: Renderings
) -> Mapping[ObjectId, Json]:
    """Return the bodies of the objects in the files of `inventory`, without those that `body_of` does not find.

    A file is read only if `outputs`, the new ones, change or remove it. Otherwise the body of the output is returned,
    because it equals the committed one. Raises `OSError` if a file cannot be read.
    """
    new = {output.path: output for output in outputs}
    objects: dict[ObjectId, Json] = {}
    for entry in inventory.entries:
        output = new.get(entry.path)
        file = renderings.find(output) if output else None
        same = output and file and file.sha256 == entry.sha256
        body = output.manifest.body if output and same else body_of(entry, tree)
        if body is not None:
            objects[entry.id] = body
    return objects


def unlisted(inventory: Inventory, tree: OutputFiles) -> Iterator[tuple[ObjectId, Json]]:
    """Yield identity and body of each object in a generated file that the inventory does not list.

    Such files exist if the inventory was lost or merged badly.
    """
    for path in _unlisted(inventory, tree):
        if body := reread(tree.read(path) or b""):
            yield identity(body), body


def lost_inventory(
    inventory: Inventory, tree: OutputFolder, specs: Iterable[SpecId]
) -> list[tuple[SpecId | None, Diagnostic]]:
    """Return SP516 for each of `specs` that `inventory` has no entry of although `tree` has generated files of it.

    Runs of constructs in extensions of version 0.1.0 are such, too: they were objects of no spec. If `tree` has
    generated files, but no file of an inventory, return one SP516 for None as the spec. After a crash, return nothing.
    """
    present = {path for some in (tree.files, tree.others) for path in some if is_inventory(path)}
    if PENDING in tree.leftovers:
        return []
    if not present:
        return [(None, inventory_problems.missing(tree.root))] if any(_unlisted(inventory, tree)) else []
    unknown = [each for each in specs if each not in inventory.by_spec and of_spec(each) not in present]
    found = dict(_runs_of_no_spec(inventory, tree, unknown))
    folders = {f"{spec.namespace}/{paths.spec_folder(spec)}": spec for spec in unknown}
    if OLD not in present and not folders.keys().isdisjoint(tree.folders):
        used = {path.rpartition("/")[0] for path in _unlisted(inventory, tree)}
        found |= {folders[each]: each for each in folders.keys() & used}
    return [(spec, inventory_problems.missing_of(spec, found[spec], tree.root)) for spec in sorted(found)]


def _runs_of_no_spec(inventory: Inventory, tree: OutputFolder, specs: Iterable[SpecId]) -> Iterator[tuple[SpecId, str]]:
    """Yield each of `specs` that a run among the objects of no spec is of, with the folder of the run."""
    named = {spec._replace(name=shorten(spec.name, LABEL_LIMIT)): spec for spec in specs}
    for entry in inventory.of([None]).entries if named else ():
        if entry.id.kind in STARTING_KINDS and (body := body_of(entry, tree)) and (spec := spec_of(body)) in named:
            yield named[spec], entry.path.rpartition("/")[0]


def _unlisted(inventory: Inventory, tree: OutputFiles) -> Iterator[str]:
    """Return the paths of files with Stowplan's header that the inventory does not list, sorted."""
    others = sorted({*tree.files}.difference(entry.path for entry in inventory.entries))
    return (path for path in others if path.endswith(".yaml") and carries_header(_head(tree, path)))


def _head(tree: OutputFiles, path: str) -> bytes:
    try:
        return tree.head(path, HEADER_LENGTH)
    except OSError:
        return b""


def body_of(entry: Entry, tree: OutputFiles) -> Json | None:
    """Return the body of the object in a file; None if it is missing or holds something else. Raises `OSError`."""
    body = reread(tree.read(entry.path) or b"") if entry.path in tree.files else None
    return body if body and identity(body) == entry.id else None

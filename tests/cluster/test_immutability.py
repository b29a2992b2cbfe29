"""The compiler's table of immutable fields, compared with the server cell by cell.

If the compiler cannot know the server's rule, the cell states the reason. Here is one cell of each kind for each answer
of the server; `tests/nightly/cluster` has all others.
"""

from collections.abc import Iterator, Mapping

import pytest

from stowplan.compiler.checks.history import immutability
from stowplan.compiler.kubernetes.fields import identity
from stowplan.library.builders.job import Task, group_hash
from stowplan.schema.meta import ObjectId
from tests.cluster import sync
from tests.cluster.cells import engines, network, settings, storage, work
from tests.cluster.client import Client, Manifest, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.edits import Edit, Row, Verdict, at, judge
from tests.cluster.shared import engine_crd, parameters
from tests.repositories import CASES, case
from tests.unit.compiler.checks.given import changed, objects

_CUSTOM_GROUPS = {
    "stowplan.dev",
    "argoproj.io",
    "batch.paddlepaddle.org",
    "kubeflow.org",
    "mxnet.mlkube.io",
    "paddlepaddle.org",
    "tensorstack.dev",
}

Cell = tuple[Manifest, Edit]

BUILT_IN = {**storage.ROWS, **work.ROWS, **settings.ROWS, **network.ROWS}
ROWS = {**BUILT_IN, **engines.ROWS}


def cells(rows: dict[str, Row], *verdicts: Verdict) -> dict[str, Cell]:
    """The cells of the rows that the server judges so, by an id of their own."""
    return {
        f"{name}-{number}-{edit.path}": (row.manifest, edit)
        for name, row in rows.items()
        for number, edit in enumerate(row.edits)
        if edit.server in verdicts
    }


def some(found: dict[str, Cell]) -> dict[str, Cell]:
    """The first cell of each kind that the server and the table judge in the same way."""
    first: dict[tuple[str, Verdict, bool], str] = {}
    for name, (manifest, edit) in found.items():
        first.setdefault((manifest["kind"], edit.server, bool(edit.because)), name)
    return {name: found[name] for name in first.values()}


def live_rows(cluster: Cluster, rows: Mapping[str, Row]) -> Iterator[dict[ObjectId, Manifest]]:
    """The objects of rows as the server has them, in the state in which they are edited."""
    client = cluster.admin
    cluster.namespace("ml")
    manifests = [manifest for row in rows.values() for manifest in (row.manifest, *row.companions)]
    sync.apply(client, manifests)
    for row in rows.values():
        _await_state(client, row)
    yield {identity(row.manifest): client.get(row.manifest) for row in rows.values()}
    for manifest in manifests:
        client.delete(manifest)


@pytest.fixture(scope="module")
def live(cluster: Cluster) -> Iterator[dict[ObjectId, Manifest]]:
    """Those that Kubernetes knows itself."""
    yield from live_rows(cluster, BUILT_IN)


@pytest.fixture(scope="module")
def live_of_engines(jobset_cluster: Cluster) -> Iterator[dict[ObjectId, Manifest]]:
    """Those of engines."""
    yield from live_engine_rows(jobset_cluster)


def live_engine_rows(jobset_cluster: Cluster) -> Iterator[dict[ObjectId, Manifest]]:
    for group in ("scheduling.volcano.sh", "scheduling.x-k8s.io"):
        sync.establish(jobset_cluster.admin, engine_crd(group, "PodGroup"))
    yield from live_rows(jobset_cluster, engines.ROWS)


def _await_state(client: Client, row: Row) -> None:
    if row.until:
        wait_for(lambda: at(client.get(row.manifest), row.until), what=f"{row.until} of {row.manifest['kind']}")


ALL, OF_ENGINES = cells(BUILT_IN, *Verdict), cells(engines.ROWS, *Verdict)


@pytest.mark.parametrize("cell", parameters(some(ALL), "cells"))
def test_table_and_server_agree(cluster: Cluster, live: dict[ObjectId, Manifest], cell: Cell) -> None:
    assert_agree(cluster, live, cell)


@pytest.mark.parametrize("cell", parameters(some(OF_ENGINES), "cells"))
def test_table_and_engines_agree(
    jobset_cluster: Cluster, live_of_engines: dict[ObjectId, Manifest], cell: Cell
) -> None:
    assert_agree(jobset_cluster, live_of_engines, cell)


def assert_agree(cluster: Cluster, live: dict[ObjectId, Manifest], cell: Cell) -> None:
    """What is refused would be fine in a new object: the cell is about the change, not about the value."""
    manifest, edit = cell
    edited = edit.of(manifest)
    verdict = judge(cluster.admin, live[identity(manifest)], manifest, edit)
    assert verdict is edit.server
    if verdict is Verdict.REFUSED:
        cluster.admin.apply(_under_another_name(edited), dry_run=True)
    agree = _table_refuses(manifest, edited) is (verdict is Verdict.REFUSED)
    assert agree is not bool(edit.because)


def _table_refuses(old: Manifest, new: Manifest) -> bool:
    return bool(immutability.check(objects(new), {identity(old): old}))


def _under_another_name(manifest: Manifest) -> Manifest:
    """The name of a CRD is made of what it defines."""
    if manifest["kind"] != "CustomResourceDefinition":
        return changed(manifest, "metadata.name", "fresh")
    group, plural = f"fresh.{manifest['spec']['group']}", manifest["spec"]["names"]["plural"]
    return changed(changed(manifest, "spec.group", group), "metadata.name", f"{plural}.{group}")


@pytest.mark.parametrize("cell", parameters(cells(work.JOBS, Verdict.CHANGES, Verdict.REFUSED), "cells"))
def test_job_of_ours_gets_another_name_where_the_table_refuses(cell: Cell) -> None:
    manifest, edit = cell
    edited = edit.of(manifest)
    old, new = (group_hash([Task("a", "sync", "ml", each["spec"])], "") for each in (manifest, edited))
    assert (old != new) is _table_refuses(manifest, edited)


def test_every_field_that_is_compiled_has_a_cell() -> None:
    """Of built-in kinds; definitions of ours and of Argo CD fix nothing, as `test_edited_specs` shows."""
    tried = {(row.manifest["kind"], *edit.path.split(".")[:2]) for row in ROWS.values() for edit in row.edits}
    tried |= {cell[:2] for cell in tried}
    written = {
        (manifest.kind, *field)
        for name in CASES
        for manifest in (output.manifest for output in case(name).outputs)
        if manifest.group not in _CUSTOM_GROUPS
        for field in _fields(manifest.body)
    }
    assert written <= tried


def _fields(manifest: Manifest) -> Iterator[tuple[str, ...]]:
    for key in manifest.keys() - {"apiVersion", "kind", "metadata"}:
        yield from ((key, name) for name in manifest[key]) if key == "spec" else [(key,)]

"""A run is compiled once: its committed files are kept while its spec does not change."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from stowplan.compiler.committed.last_output import Committed
from stowplan.compiler.committed.objects import previous
from stowplan.compiler.committed.recompile import Recompile
from stowplan.compiler.committed.runs import Reused, reuse, starts, without_recompiled
from stowplan.compiler.committed.vouching import Base, vouchers
from stowplan.compiler.model import OutputFile
from stowplan.compiler.output.folder import seen
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.output.render import Renderings, entry_of, render
from stowplan.schema.meta import ObjectId, SpecId
from tests.unit.outputs import INVENTORY, SPEC, config_map, files, job, last_inventory, output, written

OTHER = SpecId("SampleJob", "ml", "warm")
NONE = Recompile()
FOLDER = "ml/sampleset-imagenet"
JOB_FILE, CONFIG_FILE = f"{FOLDER}/job-sync.yaml", f"{FOLDER}/configmap-sync.yaml"
WARM_FILE = "ml/samplejob-warm/job-warm.yaml"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def run(name: str, value: str, *, path: str = JOB_FILE, spec: SpecId = SPEC, digest: str = "d1") -> OutputFile:
    return output(path, job(name, value), spec=spec, digest=digest, run=True)


def custom_resource(*, spec: SpecId = SPEC, digest: str = "d1") -> OutputFile:
    return output(f"ml/{spec.name}.yaml", config_map(spec.name), spec=spec, digest=digest)


def reused(out: Path, outputs: Iterable[OutputFile], recompile: Recompile = NONE, base: Base | None = None) -> Reused:
    return chosen(out, tuple(outputs), last_inventory(out), recompile, base)


def chosen(
    out: Path, outputs: Sequence[OutputFile], last: Inventory, recompile: Recompile = NONE, base: Base | None = None
) -> Reused:
    return reuse(outputs, last, Committed.read(out, (), base, recompile), Renderings())


def reviewed(out: Path) -> Base:
    """Return the present output folder as a base commit."""
    return Base("main", vouchers(files(out)))


def started(out: Path, found: Reused) -> tuple[ObjectId, ...]:
    before = previous(found.outputs, last_inventory(out), seen(out), Renderings())
    return tuple(each.run for each in starts(found.outputs, before))


def values(found: Reused) -> dict[str, str]:
    bodies = {output.path: output.manifest.body for output in found.outputs}
    return {path: (body["spec"] if "spec" in body else body["data"])["value"] for path, body in bodies.items()}


def job_id(name: str) -> ObjectId:
    return ObjectId("batch", "Job", "ml", name)


def test_a_newer_compiler_keeps_the_run_of_an_unchanged_spec_byte_for_byte(out: Path) -> None:
    written(out, [custom_resource(), run("sync-oldhash2", "old")])
    clean = files(out)
    found = reused(out, [custom_resource(), run("sync-newhash2", "new")])
    assert values(found) == {"ml/imagenet.yaml": "1", JOB_FILE: "old"}
    assert (started(out, found), found.diagnostics) == ((), ())
    result, _ = written(out, found.outputs)
    assert result.unchanged == (INVENTORY, "ml/imagenet.yaml", JOB_FILE)
    assert files(out) == clean


def test_a_kept_output_equals_the_committed_file(out: Path) -> None:
    old, new = run("sync-oldhash2", "old"), run("sync-newhash2", "new")
    written(out, [old])
    (found,) = reused(out, [new]).outputs
    assert found.manifest.body == old.manifest.body
    assert (found.manifest.run, found.manifest.stem) == (True, "sync")
    assert render(found) == found.reused == render(old)


def test_files_that_are_not_part_of_a_run_are_always_compiled_anew(out: Path) -> None:
    written(out, [output(f"{FOLDER}/configmap-s.yaml", config_map("s-hash2222", "old")), run("sync-oldhash2", "old")])
    found = reused(
        out, [output(f"{FOLDER}/configmap-s.yaml", config_map("s-hash2222", "new")), run("sync-oldhash2", "new")]
    )
    assert values(found) == {JOB_FILE: "old", f"{FOLDER}/configmap-s.yaml": "new"}


def test_a_changed_spec_starts_its_run_anew(out: Path) -> None:
    written(out, [custom_resource(), run("sync-oldhash2", "old")])
    found = reused(out, [custom_resource(digest="d2"), run("sync-newhash2", "new", digest="d2")])
    assert values(found)[JOB_FILE] == "new"
    assert started(out, found) == (job_id("sync-newhash2"),)


def test_files_of_a_run_that_the_compiler_no_longer_makes_are_kept_where_a_base_has_them(out: Path) -> None:
    settings = output(CONFIG_FILE, config_map("sync-oldhash2", "old"), run=True)
    written(out, [custom_resource(), run("sync-oldhash2", "old"), settings])
    base = reviewed(out)
    found = reused(out, [custom_resource(), run("sync-newhash2", "new", path=f"{FOLDER}/job-other.yaml")], base=base)
    assert found.diagnostics == ()
    assert values(found) == {CONFIG_FILE: "old", "ml/imagenet.yaml": "1", JOB_FILE: "old"}
    assert reused(out, [custom_resource()], base=base) == found
    refused = reused(out, [custom_resource()])
    assert [(each.code, each.severity) for each in refused.diagnostics] == [("SP519", "error")] * 2


def test_a_file_that_only_a_newer_compiler_counts_to_the_run_is_kept(out: Path) -> None:
    service = output(f"{FOLDER}/configmap-s.yaml", config_map("s-hash2222", "old"))
    written(out, [service, run("sync-oldhash2", "old")])
    found = reused(
        out,
        [output(f"{FOLDER}/configmap-s.yaml", config_map("s-hash2222", "new"), run=True), run("sync-newhash2", "new")],
    )
    assert values(found) == {JOB_FILE: "old", f"{FOLDER}/configmap-s.yaml": "old"}


def test_a_file_that_a_newer_compiler_counts_out_of_the_run_is_compiled_anew(out: Path) -> None:
    written(
        out,
        [output(f"{FOLDER}/configmap-s.yaml", config_map("s-hash2222", "old"), run=True), run("sync-oldhash2", "old")],
    )
    found = reused(
        out, [output(f"{FOLDER}/configmap-s.yaml", config_map("s-hash2222", "new")), run("sync-newhash2", "new")]
    )
    assert values(found) == {JOB_FILE: "old", f"{FOLDER}/configmap-s.yaml": "new"}


def test_a_job_that_a_newer_compiler_adds_to_an_equal_run_does_not_start(out: Path) -> None:
    """Such as a warmup after a sync that is over. Where its file is there, only its line of the inventory was lost."""
    known = [custom_resource(), run("sync-oldhash2", "old")]
    further = [run("warm-newhash2", "new", path=f"{FOLDER}/job-warm.yaml")]
    further += [output(CONFIG_FILE, config_map("warm-newhash2"), run=True)]
    written(out, known)
    found = reused(out, [*known, *further])
    assert {each.path for each in found.outputs} == {each.path for each in known}
    assert found.diagnostics == ()
    (out / further[0].path).write_bytes(render(further[0]))
    assert len(reused(out, [*known, *further]).outputs) == 4


def test_a_first_run_of_an_unchanged_spec_starts(out: Path) -> None:
    written(out, [custom_resource()])
    found = reused(
        out, [custom_resource(), run("sync-oldhash2", "new"), output("ml/c.yaml", config_map("c"), run=True)]
    )
    assert len(found.outputs) == 3
    assert started(out, found) == (job_id("sync-oldhash2"),)


@pytest.mark.parametrize("edit", [b"", b"garbage", b"# Generated by Stowplan from specs/a.yaml. Do not edit.\n", None])
def test_a_run_that_was_edited_or_deleted_is_compiled_anew_as_a_whole(out: Path, edit: bytes | None) -> None:
    settings = output(CONFIG_FILE, config_map("sync-oldhash2", "old"), run=True)
    other = run("warm-oldhash2", "old", path=WARM_FILE, spec=OTHER)
    written(out, [run("sync-oldhash2", "old"), settings, other])
    path = out / CONFIG_FILE
    path.unlink() if edit is None else path.write_bytes(edit)
    new = output(CONFIG_FILE, config_map("sync-newhash2", "new"), run=True)
    found = reused(out, [run("sync-newhash2", "new"), new, run("warm-newhash2", "new", path=WARM_FILE, spec=OTHER)])
    assert values(found) == {CONFIG_FILE: "new", JOB_FILE: "new", WARM_FILE: "old"}
    assert started(out, found) == (job_id("sync-newhash2"),)
    assert [(each.code, each.location.file) for each in found.diagnostics] == [("SP513", f"out/{CONFIG_FILE}")]


def test_a_hand_edit_of_the_same_length_is_seen(out: Path) -> None:
    written(out, [run("sync-oldhash2", "old")])
    path = out / JOB_FILE
    path.write_bytes(path.read_bytes().replace(b"value: old", b"value: bad"))
    assert values(reused(out, [run("sync-newhash2", "new")])) == {JOB_FILE: "new"}


def test_a_committed_run_behind_a_link_is_not_read(out: Path, tmp_path: Path) -> None:
    written(out, [run("sync-oldhash2", "old")])
    (out / "ml").rename(tmp_path / "elsewhere")
    (out / "ml").symlink_to(tmp_path / "elsewhere")
    assert values(reused(out, [run("sync-newhash2", "new")])) == {JOB_FILE: "new"}


@pytest.mark.parametrize("name", ["imagenet", "ml/imagenet", "SampleSet ml/imagenet", None])
def test_a_run_is_renewed_on_request(out: Path, name: str | None) -> None:
    written(out, [run("sync-oldhash2", "old"), run("warm-oldhash2", "old", path=WARM_FILE, spec=OTHER)])
    recompile = Recompile(names=frozenset({name})) if name else Recompile(everything=True)
    found = reused(
        out, [run("sync-newhash2", "new"), run("warm-oldhash2", "new", path=WARM_FILE, spec=OTHER)], recompile
    )
    expected = {JOB_FILE: "new", WARM_FILE: "old" if name else "new"}
    assert values(found) == expected
    assert started(out, found) == (job_id("sync-newhash2"),)


def suspended(name: str, *, digest: str, suspend: bool) -> OutputFile:
    body = {**job(name, "same"), "spec": {"value": "same", "suspend": suspend}}
    return output(JOB_FILE, body, spec=SPEC, digest=digest, run=True)


@pytest.mark.parametrize(
    ("before", "after", "starting"), [(True, False, True), (True, True, False), (False, True, False)]
)
def test_a_suspended_run_starts_when_it_is_resumed(out: Path, *, before: bool, after: bool, starting: bool) -> None:
    written(out, [suspended("sync-oldhash2", digest="d1", suspend=before)])
    found = reused(out, [suspended("sync-oldhash2", digest="d2", suspend=after)])
    assert started(out, found) == ((job_id("sync-oldhash2"),) if starting else ())


def test_a_run_renewed_on_request_is_not_reported(out: Path) -> None:
    written(
        out, [custom_resource(), run("sync-oldhash2", "old"), run("warm-oldhash2", "old", path=WARM_FILE, spec=OTHER)]
    )
    last = last_inventory(out)
    left = without_recompiled(
        previous((), last, seen(out), Renderings()), last, Recompile(names=frozenset({"imagenet"}))
    )
    assert [known.name for known in left] == ["imagenet", "warm-oldhash2"]


def test_the_committed_object_is_known_if_the_new_one_cannot_be_written(out: Path) -> None:
    """The following checks report the error."""
    written(out, [custom_resource(), run("sync-oldhash2", "old")])
    outputs = [custom_resource(), run("sync-oldhash2", "half a pair: \ud800")]
    found = chosen(out, outputs, last_inventory(out), Recompile(everything=True))
    assert found.outputs == tuple(outputs)
    before = previous(found.outputs, last_inventory(out), seen(out), Renderings())
    assert before[job_id("sync-oldhash2")] == run("sync-oldhash2", "old").manifest.body


def test_each_output_is_rendered_once(out: Path) -> None:
    outputs = [custom_resource(), run("sync-oldhash2", "old")]
    written(out, outputs)
    tree, last, renderings = seen(out), last_inventory(out), Renderings()
    found = reuse(outputs, last, Committed.read(out, (), None, NONE), renderings)
    made = renderings.of(outputs[1])
    assert made.content is None, "the run is in place, and was read for that"
    previous(found.outputs, last, tree, renderings)
    ours, job_file = renderings.all(found.outputs, tree)
    assert job_file is made
    assert ours.sha256 == renderings.of(outputs[0]).sha256


def test_names_without_a_spec_are_reported() -> None:
    recompile = Recompile(names=frozenset({"imagenet", "b", "a", "ml/warm"}))
    assert recompile.unknown([SPEC, OTHER]) == ["a", "b"]


def test_an_output_folder_that_is_a_file_has_no_runs(out: Path) -> None:
    out.write_text("mine")
    assert started(out, chosen(out, [run("sync-oldhash2", "new")], Inventory())) == (job_id("sync-oldhash2"),)


def forged(out: Path, content: bytes) -> Inventory:
    """An inventory that lists `content` as the committed run of the spec, with the right digest."""
    (out / FOLDER).mkdir(parents=True)
    (out / JOB_FILE).write_bytes(content)
    return Inventory((entry_of(run("sync-oldhash2", "x"), content),))


JOB = b"apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: sync-oldhash2\n  namespace: ml\n"
LABELS = b"  labels:\n    stowplan.dev/kind: SampleSet\n    stowplan.dev/name: imagenet\n"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"a: b: c",
        b"- 1",
        b"kind: Job",
        JOB + b"---\n" + JOB,
        JOB.replace(b"sync-oldhash2", b"other"),
        JOB.replace(b"sync-oldhash2", b"[1]"),
        JOB.replace(b"Job", b"CronJob"),
        JOB + b"x: &a {}\ny: *a\n",
        JOB + b"x: 2020-01-01\n",
        JOB + b"x: 2020-99-99\n",
        JOB + b"x: .nan\n",
        JOB + b"x: !!python/object:os.system {}\n",
        JOB + b"1: 2\n",
        JOB + b"? [a]\n: 2\n",
        JOB + b"x: " + b"[" * 5000,
        JOB + b"x: " + b"[" * 200 + b"]" * 200,
        JOB + b'  annotations:\n    argocd.argoproj.io/sync-wave: "x"\n',
        JOB + b"  annotations: []\n",
    ],
    ids=lambda content: ascii(content)[:60],
)
def test_a_forged_run_that_our_emitter_cannot_have_written_is_refused(out: Path, content: bytes) -> None:
    found = chosen(out, [run("sync-newhash2", "new")], forged(out, content))
    assert values(found) == {JOB_FILE: "new"}
    assert [each.code for each in found.diagnostics] == ["SP513"]


def test_output_that_equals_the_emitters_is_accepted(out: Path) -> None:
    """The forged cases above differ from this real run only in the forged values."""
    last = forged(out, JOB + LABELS + b"spec:\n  value: old\n")
    found = chosen(out, [run("sync-newhash2", "new")], last)
    assert values(found) == {JOB_FILE: "old"}


def test_outputs_come_back_sorted_by_path_whatever_their_order(out: Path) -> None:
    outputs = [run("b", "1", path="b.yaml"), output("c.yaml", spec=None), custom_resource()]
    found = chosen(out, outputs, Inventory())
    assert [each.path for each in found.outputs] == ["b.yaml", "c.yaml", "ml/imagenet.yaml"]
    assert chosen(out, outputs[::-1], Inventory()) == found

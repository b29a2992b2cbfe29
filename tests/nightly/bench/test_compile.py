"""The parts of `tests.bench.compile` on two specs: they measure what they claim to measure."""

from pathlib import Path

import pytest

from stowplan.compiler.cache import stamp
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.repository.layout import Repository
from tests.absent import skip
from tests.bench.compile import fleet, workload
from tests.bench.compile.bench import Bench
from tests.bench.compile.peers import BUILT, HELM_CHECKED, PEERS, Peers, environment
from tests.bench.compile.phases import ORDER
from tests.bench.compile.process import run
from tests.bench.compile.programs import (
    BASELINE,
    OWN,
    PHASES,
    SYNTH,
    VALIDATE,
    VALIDATE_AGAIN,
    VALIDATE_CHANGED,
    WATCH,
    Work,
)
from tests.cluster.binaries import Missing, obtain
from tests.repositories import validated


def test_a_spec_compiles_to_eight_objects(tmp_path: Path) -> None:
    workload.write(tmp_path / "repo", list(workload.specs(4)))
    report = Report()
    compiled = validated(tmp_path / "repo", report)
    assert not report.diagnostics
    assert len([output for output in compiled.outputs if output.spec]) == 4 * workload.OBJECTS


def test_the_baseline_writes_what_synth_writes_and_stages_are_found(tmp_path: Path) -> None:
    wanted = [program for program in OWN if program.name in (SYNTH, BASELINE)]
    bench = Bench(tmp_path, wanted, 1, 60, lambda _, __: None, memory=False)
    bench.size(2, [PHASES, WATCH])
    assert {name for name, _ in bench.rows} == {SYNTH, BASELINE, WATCH}
    stages = bench.phases[2]
    assert list(stages) == list(ORDER)
    assert all(seconds > 0 for seconds in stages.values()), stages


def test_validate_is_cold_or_goes_on_from_the_last_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [program for program in OWN if program.name in (VALIDATE, VALIDATE_AGAIN, VALIDATE_CHANGED)]
    bench = Bench(tmp_path, wanted, 2, 60, lambda _, __: None, memory=False)
    bench.size(2, [])
    assert [len(row.seconds) for row in bench.rows.values()] == [2, 2, 2]
    work, seen = bench.works[2], {}
    for program in wanted:
        program.prepare(work, program.name)
        monkeypatch.setenv("XDG_CACHE_HOME", program.variables(work)["XDG_CACHE_HOME"])
        repo = Path(program.command(work)[-1])
        monkeypatch.setenv("XDG_STATE_HOME", program.variables(work)["XDG_STATE_HOME"])
        look = stamp.look(Repository(repo))
        seen[program.name] = bool(look.unchanged)
    assert seen == {VALIDATE: False, VALIDATE_AGAIN: True, VALIDATE_CHANGED: False}


@pytest.fixture(scope="module")
def installed() -> None:
    """The peers, which are fetched and built where nobody has measured with them yet."""
    if isinstance(reason := environment(), str):
        skip(reason)
    for tool in BUILT.values():
        if isinstance(found := obtain(tool), Missing):
            skip(str(found))


def test_peers_write_the_same_documents(installed: None, tmp_path: Path) -> None:
    names = list(PEERS)
    synth = next(program for program in OWN if program.name == SYNTH)
    peers = Peers(tmp_path / "peers", names)
    bench = Bench(tmp_path, [synth, *peers.programs()], 1, 60, peers.compare, memory=False)
    bench.size(2, [])
    assert [name for name, _ in bench.rows] == [SYNTH, *names]
    for name in names:
        next((tmp_path / "2" / "out" / name.replace(" ", "-")).rglob("*.yaml")).write_text("{kind: Job}")
        with pytest.raises(SystemExit, match=f"{name} gave other documents"):
            peers.compare(bench.works[2], name)


def test_kubeconform_finds_the_schemas(installed: None, tmp_path: Path) -> None:
    work = Work(2, tmp_path)
    (checked,) = Peers(tmp_path / "peers", [HELM_CHECKED]).programs()
    work.empty(HELM_CHECKED)
    ran = run(checked.command(work), 60, checked.variables(work))
    assert "16 resources found in 2 files - Valid: 14, Invalid: 0, Errors: 0, Skipped: 2" in ran.output


def test_a_fleet_is_measured_beside_one_environment(tmp_path: Path) -> None:
    first, alone = fleet.measured(tmp_path / "one", 2, 1, 1, 0)
    row, _ = fleet.measured(tmp_path / "more", 2, 1, 2, alone)
    one, more = ([cell.strip() for cell in each.strip("|").split("|")] for each in (first, row))
    assert (one[1:3], one[5], more[1:3]) == (["1", "1"], "1.00", ["1", "2"])
    assert int(more[-1]) == 2 * int(one[-1])

"""The end of a gate, which takes a minute."""

from pathlib import Path

from tests.cluster.client import ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.gates import DATASET, TRAINING, Closed
from tests.cluster.reporters import Site


def test_gate_ends_a_minute_after_it_opened_its_run(cluster: Cluster, tmp_path: Path) -> None:
    run = Closed(Site(cluster, cluster.namespace("gate-end", "baseline"), tmp_path))
    run.site.apply([DATASET, TRAINING])
    run.report()
    with run.gate() as gate:
        wait_for(run.is_open, what="an open run")
        # It watches for a minute.
        assert gate.process.wait(120) == 0
        assert [each["message"] for each in gate.events()].count("Opened") == 1
    cluster.admin.delete(ref("v1", "Namespace", run.site.namespace))

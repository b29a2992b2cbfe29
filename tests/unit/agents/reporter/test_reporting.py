"""The reporter of one namespace."""

from pathlib import Path
from typing import Any, cast

from stowplan.agents.cluster.access import Access
from stowplan.agents.reporter.reporting import Reporting
from stowplan.agents.reporter.settings import ReporterSettings
from tests.unit.agents.reporter.given import NAMESPACE, resource


def test_rules_see_the_platforms_setting_of_mxnet() -> None:
    access = Access("https://server.example.com", Path("token"), Path("authorities"))
    settings = ReporterSettings(access, NAMESPACE, job_sets=False, mxnet_success="worker")
    reporting = Reporting(settings, client=cast("Any", None), log=cast("Any", None))
    reporting.caches.resources["MxJob"].put(resource("MxJob"))
    seen = reporting.caches.observed(("MxJob", "it"))
    assert seen
    assert seen.mxnet_success == "worker"

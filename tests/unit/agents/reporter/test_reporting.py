"""The reporter of one namespace."""

import asyncio
from dataclasses import dataclass, field
from typing import Any, cast

from stowplan.agents.cluster.answers import Manifest
from stowplan.agents.reporter.reporting import Reporting
from stowplan.agents.runtime.log import Log
from stowplan.schema.agents.reporter_config import ReporterConfig
from tests.unit.agents.reporter.given import NAMESPACE, resource


def reporter(client: object = None) -> Reporting:
    config = ReporterConfig(namespace=NAMESPACE, jobSets=False, mxnetSuccess="worker")
    return Reporting(config, client=cast("Any", client), log=Log())


def test_rules_see_the_platforms_setting_of_mxnet() -> None:
    reporting = reporter()
    reporting.caches.resources["MxJob"].put(resource("MxJob"))
    seen = reporting.caches.observed(("MxJob", "it"))
    assert seen
    assert seen.mxnet_success == "worker"


@dataclass
class Busy:
    """Answers after an agent has changed the same resource again, and the watch has told it."""

    reporting: list[Reporting] = field(default_factory=list)

    async def apply_status(self, _: object, applied: Manifest, __: str) -> Manifest:
        resources = self.reporting[0].caches.resources["SampleJob"]
        resources.put(at_version("2", applied["status"]))
        resources.put(at_version("3", {**applied["status"], "attempts": []}))
        return at_version("2", applied["status"])


def at_version(version: str, status: Manifest) -> Manifest:
    return resource("SampleJob", status=status, resourceVersion=version)


def test_an_answer_that_is_older_than_what_the_watch_has_told_changes_nothing() -> None:
    """Otherwise the server would refuse every later report, which names the version that it is about."""
    client = Busy()
    reporting = reporter(client)
    client.reporting.append(reporting)
    reporting.caches.resources["SampleJob"].put(at_version("1", {"observedGeneration": 1}))
    asyncio.run(reporting.look(("SampleJob", "it")))
    seen = reporting.caches.observed(("SampleJob", "it"))
    assert seen
    assert seen.resource.version == "3"

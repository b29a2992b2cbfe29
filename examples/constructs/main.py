"""Specs as constructs, in a cdk8s app of one's own.

Run it in this folder with `python main.py`. It writes what `stowplan synth` writes for the same specs in YAML, and a
quota of our own. `python main.py --check --base origin/main` is for CI.
"""

import sys
from pathlib import Path

# First: it brings the Node.js that cdk8s runs on.
from stowplan.compiler.app import App

# isort: split
from cdk8s import ApiObject, Chart, JsonPatch
from constructs import Construct

from stowplan.library.constructs import SampleJob, SampleSet


class Flowers(Chart):
    """A dataset, whose caches are filled again every morning."""

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id, namespace="vision")
        flowers = SampleSet(
            self,
            "flowers",
            partitions=2,
            source={"uri": "s3://flowers.s3.example.com/train/", "secretRef": {"name": "flowers-source"}},
            secret_ref={"name": "flowers-volume"},
        )
        SampleJob(
            self,
            "flowers-morning",
            type="warmup",
            sample_set_ref={"name": flowers.spec_id.name},
            schedule="0 6 * * *",
        )


def build(out: str | None = None) -> App:
    """The app, not yet written."""
    app = App(str(Path(__file__).parent), out=out)
    Flowers(app, "flowers")
    ours = Chart(app, "ours", namespace="vision", labels={"team": "vision"})
    quota = ApiObject(ours, "quota", api_version="v1", kind="ResourceQuota", metadata={"name": "flowers"})
    quota.add_json_patch(JsonPatch.add("/spec", {"hard": {"pods": "20"}}))
    return app


if __name__ == "__main__":
    build().synth(sys.argv[1:])

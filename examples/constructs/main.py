"""A cdk8s app of one's own with Stowplan's constructs in it.

Run it in this folder with `python main.py [OUTDIR]`; cdk8s writes one file per chart, into `dist` by default. The
objects of the two specs are those that `stowplan synth` writes; a quota of our own is added.
"""

import sys
from pathlib import Path

import yaml

# First: it brings the Node.js that cdk8s runs on.
from stowplan.library.constructs import SampleJob, SampleSet

# isort: split
from cdk8s import ApiObject, App, Chart, JsonPatch

from stowplan.schema.platform.platform import Platform

HERE = Path(__file__).parent
SOURCE = "specs/flowers.yaml"


def build(outdir: str = "dist") -> App:
    """The app, not yet written."""
    platform = Platform.model_validate(yaml.safe_load((HERE / "stowplan.yaml").read_text()))
    dataset, warmup = yaml.safe_load_all((HERE / SOURCE).read_text())

    app = App(outdir=outdir)
    flowers = SampleSet(
        Chart(app, "vision.sampleset-flowers"), "flowers", spec=dataset, platform=platform, source=SOURCE
    )
    SampleJob(
        Chart(app, "vision.samplejob-flowers-morning"),
        "flowers-morning",
        spec=warmup,
        sample_set=flowers,
        source=SOURCE,
    )

    ours = Chart(app, "ours", namespace="vision", labels={"team": "vision"})
    quota = ApiObject(ours, "quota", api_version="v1", kind="ResourceQuota", metadata={"name": "flowers"})
    quota.add_json_patch(JsonPatch.add("/spec", {"hard": {"pods": "20"}}))
    return app


if __name__ == "__main__":
    build(*sys.argv[1:2]).synth()

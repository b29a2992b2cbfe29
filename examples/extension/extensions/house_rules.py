"""What the platform team asks of every namespace with datasets in it.

Stowplan calls `build(app, program)` after it compiled the specs. `app` is a cdk8s App; objects made below it are added
to the output, and constructs of specs are specs of the repository. `app.spec(kind, namespace, name)` is the construct
of a spec in a file, and `object(kind, name)` one of its objects, which may be patched. `program.specs` are these specs,
`program.platform` is `stowplan.yaml`.
"""

from typing import Any

from cdk8s import ApiObject, Chart, JsonPatch

from stowplan.compiler.model import Program
from stowplan.library.constructs import SampleJob, SpecApp

CONTACT = "ml-platform@example.com"


def build(app: SpecApp, program: Program) -> None:
    """Add a quota and a contact to each namespace; fill caches every morning, and let them wait for late readers."""
    rules = {
        namespace: Chart(app, f"house-rules-{namespace}", namespace=namespace)
        for namespace in sorted({spec.id.namespace for spec in program.specs})
    }
    for chart in rules.values():
        _object(chart, "ResourceQuota", "datasets", "spec", {"hard": {"count/jobs.batch": "50"}})
        _object(chart, "ConfigMap", "contact", "data", {"mail": CONTACT})

    for spec in program.specs:
        if spec.id.kind == "SampleSet":
            dataset = spec.id.name
            runtime = app.spec("SampleSet", spec.id.namespace, dataset).object("StatefulSet", f"{dataset}-runtime")
            runtime.metadata.add_annotation("example.com/contact", CONTACT)
            runtime.add_json_patch(JsonPatch.replace("/spec/template/spec/terminationGracePeriodSeconds", 120))
            SampleJob(
                rules[spec.id.namespace],
                f"{dataset}-morning",
                type="warmup",
                sample_set_ref={"name": dataset},
                schedule="0 6 * * *",
            )


def _object(chart: Chart, kind: str, name: str, field: str, value: dict[str, Any]) -> None:
    made = ApiObject(chart, f"{kind}-{name}", api_version="v1", kind=kind, metadata={"name": name})
    made.add_json_patch(JsonPatch.add(f"/{field}", value))

"""What the platform team asks of every namespace with datasets in it.

Stowplan calls `build(app, program)` after it compiled the specs. `app` is a cdk8s App; objects made below it are
added to the output. `app.spec(kind, namespace, name).object(kind, name)` is one of Stowplan's own objects, which may
be patched. `program.specs` are the specs, `program.platform` is `stowplan.yaml`.
"""

from cdk8s import ApiObject, Chart, JsonPatch

CONTACT = "ml-platform@example.com"


def build(app, program):
    """Add a quota and a contact to each namespace; let cache pods wait longer for their last readers."""
    for namespace in sorted({spec.id.namespace for spec in program.specs}):
        chart = Chart(app, f"house-rules-{namespace}", namespace=namespace)
        _object(chart, "ResourceQuota", "datasets", "spec", {"hard": {"count/jobs.batch": "50"}})
        _object(chart, "ConfigMap", "contact", "data", {"mail": CONTACT})

    for spec in program.specs:
        if spec.id.kind == "SampleSet":
            runtime = app.spec("SampleSet", spec.id.namespace, spec.id.name).object(
                "StatefulSet", f"{spec.id.name}-runtime"
            )
            runtime.metadata.add_annotation("example.com/contact", CONTACT)
            runtime.add_json_patch(JsonPatch.replace("/spec/template/spec/terminationGracePeriodSeconds", 120))


def _object(chart, kind, name, field, value):
    made = ApiObject(chart, f"{kind}-{name}", api_version="v1", kind=kind, metadata={"name": name})
    made.add_json_patch(JsonPatch.add(f"/{field}", value))

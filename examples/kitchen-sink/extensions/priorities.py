"""A priority for pods that train on cached datasets; see examples/extension for what an extension can do."""

from cdk8s import ApiObject, Chart, JsonPatch


def build(app, program):
    """Add one cluster-scoped object."""
    chart = Chart(app, "priorities")
    priority = ApiObject(
        chart,
        "training",
        api_version="scheduling.k8s.io/v1",
        kind="PriorityClass",
        metadata={"name": "dataset-training"},
    )
    priority.add_json_patch(JsonPatch.add("/value", 1000))

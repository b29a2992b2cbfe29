"""A priority for the pods that train on datasets; see examples/extension for what an extension can do."""

from cdk8s import ApiObject, Chart, JsonPatch

from stowplan.compiler.model import Program
from stowplan.library.constructs import SpecApp


def build(app: SpecApp, program: Program) -> None:
    """Add one cluster-scoped object, named after the namespace that it is meant for."""
    chart = Chart(app, "priorities")
    priority = ApiObject(
        chart,
        "training",
        api_version="scheduling.k8s.io/v1",
        kind="PriorityClass",
        metadata={"name": f"{program.platform.default_namespace}-training"},
    )
    priority.add_json_patch(JsonPatch.add("/value", 1000))

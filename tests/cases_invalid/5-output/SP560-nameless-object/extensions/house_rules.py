"""An extension whose object has a name that no file can have."""

from cdk8s import ApiObject, Chart


def build(app, program):
    chart = Chart(app, "rules")
    ApiObject(chart, "settings", api_version="v1", kind="ConfigMap", metadata={"name": "../settings"})

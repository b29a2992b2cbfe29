"""An extension that adds a kind which the platform file does not list."""

from cdk8s import ApiObject, Chart, JsonPatch


def build(app, program):
    quota = ApiObject(Chart(app, "rules"), "quota", api_version="v1", kind="ResourceQuota", metadata={"name": "jobs"})
    quota.add_json_patch(JsonPatch.add("/spec", {"hard": {"count/jobs.batch": "50"}}))

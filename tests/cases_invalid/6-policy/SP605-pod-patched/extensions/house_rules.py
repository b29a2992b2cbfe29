"""An extension that gives our pods the rights of root."""

from cdk8s import JsonPatch


def build(app, program):
    """Let the cache agent do as it likes."""
    runtime = app.spec("SampleSet", "default", "imagenet").object("StatefulSet", "imagenet-runtime")
    rights = {"privileged": True}
    runtime.add_json_patch(JsonPatch.replace("/spec/template/spec/containers/0/securityContext", rights))

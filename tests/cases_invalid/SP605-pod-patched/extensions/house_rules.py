"""An extension that gives our pods the rights of root."""

from cdk8s import JsonPatch


def build(app, program):
    runtime = app.spec("SampleSet", "default", "imagenet").object("StatefulSet", "imagenet-runtime")
    runtime.add_json_patch(
        JsonPatch.add("/spec/template/spec/hostNetwork", True),
        JsonPatch.add("/spec/template/spec/containers/0/securityContext/privileged", True),
    )

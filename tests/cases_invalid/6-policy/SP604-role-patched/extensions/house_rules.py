"""An extension that gives our agents more rights."""

from cdk8s import JsonPatch


def build(app, program):
    role = app.spec("SampleSet", "default", "imagenet").object("Role", "imagenet-sampleset")
    rule = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "*"]}
    role.add_json_patch(JsonPatch.add("/rules/-", rule))

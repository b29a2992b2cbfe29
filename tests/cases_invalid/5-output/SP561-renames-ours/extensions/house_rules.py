"""An extension that renames an object of ours."""

from cdk8s import JsonPatch


def build(app, program):
    claim = app.spec("SampleSet", "default", "imagenet").object("PersistentVolumeClaim", "imagenet")
    claim.add_json_patch(JsonPatch.replace("/metadata/name", "samples"))

"""An extension with an image of its own."""

from cdk8s import JsonPatch


def build(app, program):
    runtime = app.spec("SampleSet", "default", "imagenet").object("StatefulSet", "imagenet-runtime")
    runtime.add_json_patch(JsonPatch.replace("/spec/template/spec/containers/0/image", "registry.example.com/cache"))

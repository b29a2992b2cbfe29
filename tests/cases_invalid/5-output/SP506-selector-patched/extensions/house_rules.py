"""An extension after which a Service finds no pods."""

from cdk8s import JsonPatch


def build(app, program):
    """Select pods that nobody makes."""
    service = app.spec("SampleSet", "default", "imagenet").object("Service", "imagenet-runtime-service")
    service.add_json_patch(JsonPatch.replace("/spec/selector", {"app": "web"}))

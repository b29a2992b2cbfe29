"""An extension with a slip."""


def build(app, program):
    app.spec("SampleSet", "default", "imagnet")

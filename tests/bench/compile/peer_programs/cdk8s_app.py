"""cdk8s as in its documentation: one App, and for each spec a Chart of ApiObjects with JSON patches, and a file."""

import json

from cdk8s import ApiObject, ApiObjectMetadata, App, Chart, JsonPatch
from inputs import FILES, OUT, fill, specs  # type: ignore[import-not-found]

templates = json.loads((FILES / "bodies.json").read_bytes())
app = App(outdir=str(OUT))
for name, values in specs():
    chart = Chart(app, name)
    for number, template in enumerate(templates[values["kind"]]):
        body = fill(template, values)
        metadata = ApiObjectMetadata(**body.pop("metadata"))
        made = ApiObject(
            chart, str(number), api_version=body.pop("apiVersion"), kind=body.pop("kind"), metadata=metadata
        )
        made.add_json_patch(*(JsonPatch.add(f"/{key}", value) for key, value in body.items()))
app.synth()

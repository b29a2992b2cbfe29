"""Helm's Go SDK in the process, a chart for each kind, one render and one file for each spec. No checks."""

from helm_python import Chart  # type: ignore[import-not-found]
from inputs import FILES, OUT, specs, write  # type: ignore[import-not-found]

OUT.mkdir()
charts = {each.name: Chart.load(str(each)) for each in (FILES / "charts").iterdir()}
for name, values in specs():
    manifests = charts[values["kind"]].render(values, name=name, namespace=values["namespace"])
    write(name, "\n---\n".join(manifests.values()))

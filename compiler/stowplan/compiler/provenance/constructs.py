"""The construct of an object in the output."""

from collections.abc import Iterable
from dataclasses import replace

from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.lowering.lower import context_of, lower
from stowplan.compiler.lowering.platform_objects import charts_of_platform, places
from stowplan.compiler.model import OutputFile
from stowplan.compiler.provenance.source_map import SourceMap
from stowplan.library.composition.tree import ChartSource, chart_of, paths


def path_of(output: OutputFile, found: SourceMap) -> str:
    """Return the path of the construct of an output; empty for a plain object, or one that an extension made."""
    wanted = (output.manifest.kind, output.manifest.stem, output.manifest.namespace)
    for chart in _charts(output, found):
        for path, manifest in paths(chart):
            namespace = "" if manifest.clustered else manifest.namespace or chart.namespace
            if (manifest.kind, manifest.stem, namespace) == wanted:
                return path
    return ""


def _charts(output: OutputFile, found: SourceMap) -> Iterable[ChartSource]:
    program = found.program
    if spec := output.spec and program.spec(output.spec):
        (unit,) = lower([spec], program, context_of(program, found.version), Report())
        chart = chart_of(unit)
        return (replace(chart, id=spec.document.construct or chart.id),)
    if output.source != program.platform_file:
        return ()
    of_specs = places(each for each in found.outputs if each.spec)
    others = [each for each in found.outputs if each.spec is None and each.source != program.platform_file]
    return (each.chart for each in charts_of_platform(of_specs, others, program.platform))

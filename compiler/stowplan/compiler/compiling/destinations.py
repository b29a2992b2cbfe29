"""The targets of a repository: which environments and clusters its platform file has."""

from collections.abc import Sequence
from pathlib import Path

from stowplan.compiler.committed import argocd_name
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.environments import rules
from stowplan.compiler.environments.target import Target, names, targets
from stowplan.compiler.repository.load import Checkout
from stowplan.compiler.specs.platform import other_version
from stowplan.schema.diagnostics import has_errors
from stowplan.schema.parse_model import read as read_model
from stowplan.schema.platform.platform import Platform


def destinations(checkout: Checkout, out: Path, report: Report) -> Sequence[Target]:
    """Return all targets of a repository whose output is in the folder `out`.

    There are none if a platform file with environments has errors, which are in the report then. Errors of one without
    are reported when its only target is read.
    """
    document = checkout.platform
    if not document.data.get("environments"):
        return (Target.whole(document),)
    checkout.report_platform(report)
    model, found = None, other_version(document.data)
    if not found:
        model, found = read_model(Platform, document.data)
        found += rules.findings(model) if model else []
    report.add_findings(document, found)
    if model is None or has_errors(found):
        return ()
    return targets(document, model, {name: argocd_name.committed(out / name) for name in names(document)})

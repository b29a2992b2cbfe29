"""The targets of a repository: which environments and clusters its platform file has."""

from collections.abc import Mapping, Sequence

from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.environments import rules
from stowplan.compiler.environments.target import Target, targets
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.repository.load import platform_document
from stowplan.compiler.specs import required_version
from stowplan.schema.diagnostics import has_errors
from stowplan.schema.parse_model import read as read_model
from stowplan.schema.platform.platform import Platform


def destinations(repo: Repository, report: Report) -> tuple[Sequence[Target], Mapping[str, str]]:
    """Return all targets of a repository, and the content of the platform file by its path.

    There are none without environments, or if the platform file has errors, which are in the report.
    """
    document, texts = platform_document(repo, report)
    if document is None or not document.data.get("environments"):
        return (), texts
    model, found = None, required_version.findings(document.data)
    if not found:
        model, found = read_model(Platform, document.data)
        found += rules.findings(model) if model else []
    report.add_findings(document, found)
    return (targets(document, model) if model and not has_errors(found) else ()), texts

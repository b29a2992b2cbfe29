"""Finished runs that a repository lists in `stowplan.runs.yaml`: they are kept out of the output for good.

A run is known by its spec and by a hash of what it depends on. So an edited spec runs again, and a spec that comes back
unchanged, such as from an older branch, does not.
"""

from collections.abc import Sequence

from pydantic import Field

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.model import Spec
from stowplan.library.values.names import content_digest, content_hash
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.forms import RUN, SPEC
from stowplan.schema.meta import Digest, Model, SpecId
from stowplan.schema.parse_model import read


class RetiredRun(Model):
    """One finished run."""

    spec: str = Field(
        description="Kind, namespace and name of the spec, such as `SampleJob ml/clean`.",
        pattern=SPEC,
        max_length=400,
    )
    run: str = Field(description="Hash of what the run depends on.", pattern=RUN)
    digest: Digest | None = Field(
        default=None,
        description="Whole digest of the same. Without it, each run of the spec with the hash is over.",
    )
    environment: str | None = Field(
        default=None,
        description="Environment of the platform file in which the run is over. Without it, all.",
        max_length=63,
    )


class RetiredRuns(Model):
    """The list of finished runs."""

    runs: list[RetiredRun] = Field(description="The runs.", max_length=100_000)


def of_spec(spec: Spec, environment: str | None = None) -> RetiredRun:
    """Return the entry for the run to which a spec, as after `resolve`, compiles now; None is for all environments."""
    run, digest = content_hash(spec.run_digest), content_digest(spec.run_digest)
    return RetiredRun(spec=str(spec.id), run=run, digest=digest, environment=environment)


def kept_out(
    document: Document | None, specs: Sequence[Spec], environment: str | None, report: Report
) -> frozenset[SpecId]:
    """Return the specs whose present run is listed for the environment, each of which is reported at its entry.

    `document` is the list, or None if there is none. Without a list, and if it has errors, which are reported, the
    result is empty. `specs` are as after `resolve`. `environment` is None if the platform file has no environments.
    """
    if document is None:
        return frozenset()
    model, problems = read(RetiredRuns, document.data)
    report.add_findings(document, problems)
    entries: dict[tuple[str, str], list[tuple[int, RetiredRun]]] = {}
    for index, each in enumerate(model.runs if model else ()):
        if each.environment in (None, environment):
            entries.setdefault(_key(each), []).append((index, each))
    found: dict[SpecId, int] = {}
    for spec in specs if entries else ():
        own = of_spec(spec)
        same = (index for index, each in entries.get(_key(own), ()) if each.digest in (None, own.digest))
        if (first := next(same, None)) is not None:
            found[spec.id] = first
    ordered = sorted(found.items(), key=lambda each: each[1])
    report.add_findings(document, [_finding(spec, index) for spec, index in ordered])
    return frozenset(found)


def _key(entry: RetiredRun) -> tuple[str, str]:
    return entry.spec, entry.run


def _finding(spec: SpecId, index: int) -> Finding:
    message = f"The run of {spec} is over, so its Jobs are kept out of the output."
    hint = "Remove the entry to bring the Jobs back: they would run again."
    return finding("SP757", ("runs", index, "spec"), message, hint)

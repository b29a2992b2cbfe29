"""What claims are filled from when they are made."""

from collections.abc import Iterator

from stowplan.compiler.diff.change import Danger, Risk
from stowplan.compiler.kubernetes.fields import items, mapping
from stowplan.library.manifest import Json


def filled_from(spec: Json) -> Iterator[str]:
    """Yield the sources of a claim, such as `VolumeSnapshot finance/payroll`; `spec` is that of the claim."""
    for field in ("dataSource", "dataSourceRef"):
        source = mapping(spec, field)
        if source:
            place = f"{source['namespace']}/" if source.get("namespace") else ""
            yield f"{source.get('kind')} {place}{source.get('name')}"


def of_claim(body: Json) -> Iterator[Risk]:
    """Yield a risk for each source of a PersistentVolumeClaim."""
    for source in filled_from(mapping(body, "spec")):
        yield Risk(Danger.RIGHTS, f"The claim is filled from {source}.")


def of_templates(body: Json) -> Iterator[Risk]:
    """Yield a risk for each source of the claims that a StatefulSet makes."""
    for template in items(body, "spec", "volumeClaimTemplates"):
        for source in filled_from(mapping(template, "spec")):
            yield Risk(Danger.RIGHTS, f"Its claims are filled from {source}.")

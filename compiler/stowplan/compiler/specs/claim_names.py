"""Names of claims in specs that are probably misspelt: nearly the name of a claim that the repository makes.

The claims that plain objects name must exist anyway (SP506).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from stowplan.compiler.kubernetes.fields import namespace_and_name
from stowplan.compiler.model import Program
from stowplan.compiler.specs.spec_facts import SpecFacts
from stowplan.schema.diagnostics import FieldPath, Finding, finding, nearest
from stowplan.schema.kinds.table import DATASET_KINDS

_CLAIM = "PersistentVolumeClaim"
_ALIKE = 0.8
"""Minimum similarity of two parts of names for a typo: one wrong letter in five."""

_WORD = 4
"""Minimum length of a part of a name, between hyphens, for a typo: `data-a` and `data-b` are two names."""


@dataclass
class ClaimNames:
    """The claims of a repository: those that it makes, by namespace and name, and all that it surely knows."""

    made: dict[str, dict[str, str]] = field(default_factory=dict)
    """What makes each claim, for messages, by namespace and name of the claim."""
    known: set[tuple[str, str]] = field(default_factory=set)
    """Namespace and name of other claims that exist or may exist."""

    def look(self, namespace: str, claim: str, path: FieldPath) -> Iterator[Finding]:
        """Yield SP324 if nothing makes the claim, but something makes a claim with nearly this name.

        `path` is the path of the name in the document.
        """
        made = self.made.get(namespace, {})
        if claim in made or (namespace, claim) in self.known:
            return
        near = nearest(claim, [each for each in made if _is_typo(claim, each)])
        if near is not None:
            message = f"Nothing here makes the claim {claim}, but {made[near]} makes {near}."
            hint = f'Did you mean "{near}"? If it is a claim that is made elsewhere, nothing is wrong.'
            yield finding("SP324", path, message, hint)


def of(program: Program, specs: Sequence[SpecFacts]) -> ClaimNames:
    """Return the claims that the specs and the plain objects make; those that specs with errors may make are known."""
    names = ClaimNames()
    for spec in specs:
        for claim in _made(spec):
            names.made.setdefault(spec.id.namespace, {}).setdefault(claim, str(spec.id))
    for document in program.passed_through:
        if document.data.get("kind") == _CLAIM:
            namespace, claim = namespace_and_name(document.data, program.platform.default_namespace)
            names.made.setdefault(namespace, {}).setdefault(claim, document.file)
    names.known.update((each.namespace, each.name) for each in program.refused)
    return names


def _made(spec: SpecFacts) -> Iterator[str]:
    """Yield the names of the claims that a spec makes."""
    if spec.write and spec.write.template:
        yield spec.write.claim
    elif spec.id.kind in DATASET_KINDS and spec.claim is None:
        yield spec.id.name


def _is_typo(name: str, other: str) -> bool:
    """Return whether `name` may be a typo of `other`: digits are equal, and only long parts of the names differ."""
    if re.sub(r"\D", "", name) != re.sub(r"\D", "", other):
        return False
    parts, others = name.split("-"), other.split("-")
    if len(parts) != len(others):
        return name.replace("-", "") == other.replace("-", "")
    different = [pair for pair in zip(parts, others, strict=True) if pair[0] != pair[1]]
    return all(min(map(len, pair)) >= _WORD and SequenceMatcher(None, *pair).ratio() >= _ALIKE for pair in different)

"""Documents that need a grant of the platform file; each needs only the grant that its diagnostic names.

The documents are those of the old systems (outside of this repository), of the README and the pages, of the examples
and of `cases`.
"""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from stowplan.schema.kinds.table import KINDS
from tests.repositories import CASES, CORPUS, EXAMPLES, REPOSITORY, Result, compiled, corpus

HOST_NETWORK = {"allow": ["hostNetwork"]}
NEEDED: dict[str, dict[str, Any]] = {
    "mx-job-template": HOST_NETWORK,
    "paddle-job-intranet-host": HOST_NETWORK,
    "paddle-job-live-object": HOST_NETWORK,
    "platform-namespaces": {"namespaces": ["kube-system"]},
    "training-host-network": HOST_NETWORK,
    "training-job-host-network": HOST_NETWORK,
    "training-job-host-network-collective": HOST_NETWORK,
    "training-job-host-network-tensorflow": HOST_NETWORK,
    "training-profiles": {"allow": ["capabilities"]},
}
"""`policy` of the platform file for cases that are more than `baseline`. All other documents do without."""

WITH_POLICY = [name for name, path in CASES.items() if "policy:" in path.read_text()]
REFUSALS = {"SP603", "SP609", "SP610", "SP614", "SP615", "SP616", "SP617"}
_TEXTS = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs/pages").rglob("*.md"))]
BLOCKS = [
    block
    for path in _TEXTS
    for block in re.findall(r"^```yaml\n(.*?)^```$", path.read_text(), re.DOTALL | re.MULTILINE)
]
SPECS = [block for block in BLOCKS if any(f"kind: {kind}\n" in block for kind in KINDS)]


def without_policy(text: str) -> str:
    """The file of a case without `policy`, if it begins with a platform."""
    first, line, rest = text.partition("\n---\n")
    platform = yaml.safe_load(first)
    if platform.get("kind") != "Platform":
        return text
    platform.pop("policy", None)
    return yaml.safe_dump(platform) + line + rest


def refused(result: Result) -> list[tuple[str, str]]:
    return [(found.code, found.hint) for found in result.diagnostics if found.code in REFUSALS]


@pytest.mark.skipif(not CORPUS, reason="the documents of the old systems are not beside this repository")
def test_documents_of_the_old_systems_need_no_grant(tmp_path: Path) -> None:
    empty = "kind: Platform\n---\n"
    files = corpus()
    assert len(files) >= 14
    assert refused(compiled(tmp_path, {"_.yaml": empty, **files})) == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_need_no_grant(name: str, tmp_path: Path) -> None:
    platform = yaml.safe_load((EXAMPLES[name] / "stowplan.yaml").read_text())
    for key in ("policy", "extensions"):
        platform.pop(key, None)
    files = {path.name: path.read_text() for path in sorted(EXAMPLES[name].glob("specs/**/*.yaml"))}
    assert refused(compiled(tmp_path, {"_.yaml": f"{yaml.safe_dump(platform)}\n---\n", **files})) == []


def test_specs_of_the_documentation_need_no_grant(tmp_path: Path) -> None:
    assert len(SPECS) >= 2
    assert refused(compiled(tmp_path, {f"{index}.yaml": block for index, block in enumerate(SPECS)})) == []


@pytest.mark.parametrize("name", WITH_POLICY)
def test_cases_need_the_grant_that_their_error_names(name: str, tmp_path: Path) -> None:
    """And no other: with it they keep the rule that a case has no errors, as those without a policy do."""
    text = CASES[name].read_text()
    found = refused(compiled(tmp_path, {f"{name}.yaml": without_policy(text)}))
    expected = NEEDED.get(name, {})
    named = {hint.partition("`policy.")[2].partition("`")[0] for _, hint in found}
    assert named == {f"{key}: [{value}]" for key, values in expected.items() for value in values}
    if name in NEEDED:
        assert yaml.safe_load(text.partition("\n---\n")[0])["policy"] == expected

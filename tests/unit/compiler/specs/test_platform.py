"""`requires` of the platform file: a version in development counts as the release that it becomes."""

import pytest

from stowplan.compiler.specs import platform


@pytest.mark.parametrize(
    ("own", "requires", "allowed"),
    [
        ("0.2.0.dev0", ">=0.2", True),
        ("0.2.0.dev0", ">=0.2,<1", True),
        ("0.2.0.dev0", "==0.2.*", True),
        ("0.2.0.dev0", "==0.2.0.dev0", True),
        ("0.2.0rc1", ">=0.2.0rc1", True),
        ("0.2.0rc1", "==0.2.0rc1", True),
        ("0.2.0", ">=0.2", True),
        ("0.2.0.dev0", ">=0.1,<0.2", False),
        ("0.2.0.dev0", "<0.2", False),
        ("0.2.0.dev0", ">=0.3", False),
        ("0.2.0.dev0", "==0.1.*", False),
        ("0.2.0rc1", "==0.2.0rc2", False),
    ],
)
def test_requires(monkeypatch: pytest.MonkeyPatch, own: str, requires: str, *, allowed: bool) -> None:
    monkeypatch.setattr(platform, "version", lambda _: own)
    found = platform.other_version({"requires": requires})
    assert [each.code for each in found] == ([] if allowed else ["SP811"])

"""Lists of keys for `juicefs sync`."""

import pytest

from stowplan.agents.cache.drivers.juicefs.listing import wanted
from stowplan.agents.cache.drivers.juicefs.listing.wanted import WantedKeys

KEYS = ["", "a", "a ", "b c", "d\u00a0", "\u00e4/*?[x]", "e\u3000", "\U0001f600"]


def test_keys_that_a_list_cannot_hold_are_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Go's `unicode.IsSpace` says what JuiceFS cuts."""
    monkeypatch.setattr(wanted, "MOST", 3)
    with WantedKeys.kept() as keys:
        for _ in range(2):
            with keys.adding() as add:
                for each in KEYS:
                    add(each, 10)
        assert (keys.count, keys.bytes) == (8, 80)
        assert list(keys.keys()) == KEYS
        lists = [path.read_text(encoding="utf-8") for path in keys.lists()]
        assert lists == ["a\nb c\n\u00e4/*?[x]\n", "\U0001f600\n"]
        assert list(keys.unlisted()) == ["", "a ", "d\u00a0", "e\u3000"]


def test_no_keys() -> None:
    with WantedKeys.kept() as keys:
        assert [*keys.lists(), *keys.unlisted()] == []

"""Numbers in the format of the old operator."""

import pytest

from stowplan.agents.runtime import number_format


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (9, "9 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (10 * 1024 - 1, "10 KiB"),
        (60_817_409, "58 MiB"),
        (4_509_715_660, "4.2 GiB"),
        (1 << 50, "1.0 PiB"),
        (10 << 60, "10 EiB"),
        (1 << 80, "1048576 EiB"),
    ],
)
def test_size(count: int, text: str) -> None:
    assert number_format.size(count) == text

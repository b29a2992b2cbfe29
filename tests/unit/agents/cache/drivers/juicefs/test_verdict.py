"""The result derived from the output of `juicefs`."""

import pytest

from stowplan.agents.attempt.redaction import MASK, Redactor
from stowplan.agents.cache.drivers.juicefs.child import SHOWN, ChildEnd, LogLine, _line
from stowplan.agents.cache.drivers.juicefs.verdict import Count, count, failure

HEAD = "2026/11/21 22:15:37.788980 juicefs[22831]"
FINE = (
    f"{HEAD} <INFO>: Found: 5, excluded: 1 (0 B), skipped: 2 (0 B), copied: 3 (3.00 KiB), extra: 1 (0 B), checked: 3 "
    "(3.00 KiB), deleted: 1, failed: 0 [Sync@sync.go:1677]"
)


def ended(code: int, *lines: str, secrets: tuple[str, ...] = ()) -> ChildEnd:
    return ChildEnd(code, [_line(each, Redactor(secrets)) for each in lines])


def test_a_log_line_is_parsed() -> None:
    said = f"{HEAD} <WARNING>: Trying [1] again: x [try@sync.go:7]"
    none = Redactor(())
    assert _line(said, none) == LogLine("WARNING", "Trying [1] again: x", "Trying [1] again: x")
    assert _line("panic: oops", none) == LogLine("", "panic: oops", "panic: oops")


def test_a_cut_message_contains_no_part_of_a_secret() -> None:
    """It would not be known any more by whoever takes secrets out."""
    secret = "tk/CANARY 0123 456789+"
    for before in range(SHOWN - 60, SHOWN + 10):
        found = failure(ended(1, f"{HEAD} <ERROR>: {'x' * before}{secret}", secrets=(secret,)), "it")
        assert found
        assert secret[:4] not in str(found)
    found = failure(ended(1, f"{HEAD} <ERROR>: {secret}", secrets=(secret,)), "it")
    assert MASK in str(found)


def test_a_count_may_equal_a_secret() -> None:
    reported = FINE.replace("copied: 3 ", "copied: 4321 ")
    assert count(ended(0, reported, secrets=("4321",))) == Count(5, 1, 2, 4321, 0, 0, 0, 3 * 1024, 1)


def test_a_count_is_read() -> None:
    assert count(ended(0, FINE)) == Count(5, 1, 2, 3, 0, 0, 0, 3 * 1024, 1)
    assert failure(ended(0, FINE), "it") is None


@pytest.mark.parametrize(
    ("code", "said", "wanted"),
    [
        (0, "", 10),
        (1, FINE, 10),
        (0, FINE.replace("failed: 0", "failed: 1"), 10),
        (0, FINE.replace("failed: 0", "failed: 0, lost: 2"), 10),
        (1, f"{HEAD} <FATAL>: unknown option: --x [reorderOptions@main.go:259]", 2),
        (
            1,
            f"{HEAD} <FATAL>: create jfs JFS: load setting: WRONGPASS invalid username-password pair [main@main.go:31]",
            3,
        ),
        (1, f"{HEAD} <ERROR>: Can't list minio://x/: api error ExpiredToken: expired. [listAll@sync.go:1]", 10),
        (0, f"{HEAD} <ERROR>: Failed to copy object d: is a directory [worker@sync.go:1]", 5),
        (1, f"{HEAD} <ERROR>: Can't list minio://x/: api error AccessDenied: Access Denied. [listAll@sync.go:1]", 3),
        (1, f"{HEAD} <ERROR>: Failed to copy object a: permission denied [worker@sync.go:1]", 3),
        (1, f"{HEAD} <FATAL>: list minio://x/: StatusCode: 404, NoSuchBucket [main@main.go:31]", 4),
        (
            1,
            f"{HEAD} <FATAL>: load setting: database is not formatted, please run `juicefs format` [main@main.go:31]",
            4,
        ),
        (1, f"{HEAD} <FATAL>: dial tcp 127.0.0.1:1: connect: connection refused [main@main.go:31]", 10),
        (-9, f"{HEAD} <INFO>: Syncing from a to b [Sync@sync.go:1742]", 10),
    ],
)
def test_failures(code: int, said: str, wanted: int) -> None:
    found = failure(ended(code, said), "it")
    assert found is not None
    assert found.code == wanted


def test_an_object_that_disappeared_is_no_missing_source() -> None:
    gone = f"{HEAD} <ERROR>: Failed to copy object a: StatusCode: 404, NoSuchKey [worker@sync.go:1]"
    found = failure(ended(1, gone, FINE.replace("failed: 0", "failed: 1")), "it")
    assert found is not None
    assert found.code == 10


def test_a_warning_is_not_reported_as_the_cause() -> None:
    warned = f"{HEAD} <WARNING>: parse info: NOPERM for INFO [checkServerConfig@redis.go:3667]"
    found = failure(ended(1, warned, f"{HEAD} <FATAL>: i/o timeout [main@main.go:31]"), "it")
    assert found is not None
    assert found.code == 10

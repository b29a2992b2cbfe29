"""The rules of robfig/cron v3 `ParseStandard`, which the CronJob controller uses."""

import pytest

from stowplan.library.values import cron


@pytest.mark.parametrize(
    "expression",
    [
        "* * * * *",
        "0 3 * * *",
        "*/15 * * * *",
        "5/15 * * * *",
        "0-30/10,45 * * * *",
        "0 0 1-15/2 * *",
        "0 0 ? * MON-FRI",
        "0 0 1 JAN,jul *",
        "59 23 31 12 6",
        "0 0 * * sun",
        " 0  0\t* * * ",
        "@yearly",
        "@annually",
        "@monthly",
        "@weekly",
        "@daily",
        "@midnight",
        "@hourly",
        "@every 1h30m",
        "@every 1.5h",
    ],
)
def test_schedule(expression: str) -> None:
    assert cron.problem(expression) is None


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * 32 * *",
        "* * * 0 *",
        "* * * 13 *",
        "* * * * 7",
        "*/0 * * * *",
        "*/-1 * * * *",
        "30-10 * * * *",
        "1- * * * *",
        "1-2-3 * * * *",
        "1//2 * * * *",
        "a * * * *",
        "MON * * * *",
        "0 0 * MON *",
        "0 0 * * JAN",
        "1.5 * * * *",
        "\u0663 * * * *",
        "*/\u0663 * * * *",
        "@reboot",
        "@Daily",
        "@every",
        "@every 1",
        "@every -1h",
        "TZ=UTC 0 3 * * *",
        "CRON_TZ=Europe/Berlin 0 3 * * *",
    ],
)
def test_no_schedule(expression: str) -> None:
    assert cron.problem(expression) is not None


@pytest.mark.parametrize(
    "expression",
    [
        "0 0 31 2 *",
        "0 0 30 2 *",
        "0 0 30-31 2 *",
        "0 0 30,31 feb ?",
        "0 0 31 4,6,9,11 *",
        "0 0 31 2-2 *",
        "0 0 30/1 2 *",
        "0 0 31 4-11/5 */1",
    ],
)
def test_a_schedule_that_never_comes(expression: str) -> None:
    assert cron.problem(expression) is None
    assert cron.never(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "0 0 29 2 *",
        "0 0 31 1,2 *",
        "0 0 31 2 mon",
        "0 0 31 2 */2",
        "0 0 28/3 2 *",
        "0 0 * 2 *",
        "0 0 */31 2 *",
        "0 0 31 * *",
        "0 0 31 2-3 *",
        "0 0 30 4-11/5 *",
        "@yearly",
        "@every 1h",
    ],
)
def test_a_schedule_that_comes(expression: str) -> None:
    assert cron.problem(expression) is None
    assert not cron.never(expression)

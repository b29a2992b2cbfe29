"""Child processes that may never answer."""

import subprocess
import sys
import time

from stowplan.agents.cache.drivers.bounded_subprocess import ERROR_BYTES, BoundedRunner, Ended


def python(program: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", program]


def test_answer() -> None:
    program = "import sys; print('out'); sys.stderr.write('err'); sys.exit(7)"
    assert BoundedRunner().ask(python(program), {}, 30) == Ended(7, "out\n", "err")


def test_environment_is_not_passed_to_the_child() -> None:
    answer = BoundedRunner().ask(python("import os; print(sorted(os.environ))"), {"LC_ALL": "C"}, 30)
    assert answer == Ended(0, "['LC_ALL']\n", "")


def test_output_before_a_timeout_is_returned() -> None:
    begin = time.monotonic()
    program = "import time; print('half', flush=True); time.sleep(600)"
    assert BoundedRunner().ask(python(program), {}, 1) == Ended(None, "half\n")
    assert time.monotonic() - begin < 30


def test_process_that_outlives_its_kill_is_waited_for() -> None:
    """Like a process in a call that the kernel cannot interrupt. No second process is started meanwhile."""
    asker = BoundedRunner()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as left:
        asker._left = left
        assert asker.ask(python("print('x')"), {}, 0.3) == Ended(None)
    assert asker.ask(python("print('x')"), {}, 30) == Ended(0, "x\n", "")


def test_cut_output_contains_no_part_of_a_password() -> None:
    """The redaction would not recognise a part of it."""
    for count in range(ERROR_BYTES - 30, ERROR_BYTES, 5):
        program = f"import sys; sys.stderr.write('redis://:CANARY0123@redis:6379/1 ' + 'x' * {count})"
        answer = BoundedRunner().ask(python(program), {}, 30)
        assert answer.code is not None
        assert "0123" not in answer.error
        assert len(answer.error) == ERROR_BYTES

"""What tests do more often in a later tier: `STOWPLAN_TIER`, which `make` sets.

The tier of a test is its folder: `nightly`, `on_request`, and all others. The nightly tier runs some files of the
others again: those with kills or races, and those on a control plane.
"""

import os

if service := os.environ.pop("CI", None):
    os.environ["STOWPLAN_TESTS_CI"] = service
"""Commands that tests run are not run by a CI service, even if the tests are. Tests about that set `CI`."""

TIER = os.environ.get("STOWPLAN_TIER", "landing")
KILLS = {"landing": 4, "nightly": 20, "on-request": 200}[TIER]
"""How often each test with kills ends an agent by SIGKILL."""
RACES = {"landing": 10, "nightly": 50, "on-request": 1000}[TIER]
"""How often each test with a second process that swaps files lets it and an agent race."""
COPIES = {"landing": 40, "nightly": 200, "on-request": 2000}[TIER]
"""How many random sources `test_random_copies.py` copies."""
STEPS = {"landing": 40, "nightly": 400, "on-request": 4000}[TIER]
"""How many random steps `test_incremental.py` takes, and how many random inputs tests of `test_fuzz.py` and
`cluster/test_crds.py` read."""
COMPLETE = TIER != "landing" or os.environ.get("STOWPLAN_TESTS_CI") == "true"
"""Whether a program that is missing is a failure. Otherwise its tests are skipped."""

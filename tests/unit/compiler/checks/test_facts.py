"""A cache can store the results of specs as msgpack."""

import pytest

from stowplan.compiler.checks import spec_stage
from stowplan.compiler.checks.spec_stage import Checked
from stowplan.compiler.compiling import reading
from stowplan.compiler.compiling.lookup import Lookup
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.repository.layout import Repository
from tests.repositories import EXAMPLES
from tests.unit.compiler.checks.test_stage import compiled


@pytest.mark.parametrize("name", EXAMPLES)
def test_results_of_a_spec_are_the_same_after_msgpack(name: str) -> None:
    msgspec = pytest.importorskip("msgspec")
    program = reading.read(Repository(EXAMPLES[name]), Report(), Lookup("validate")).program
    outputs = compiled(program)
    known = spec_stage.definitions(outputs, program.platform.kubernetes_version)
    for part in spec_stage.check(outputs, program.platform, known, {}):
        encoded = msgspec.msgpack.encode(part)
        decoded = msgspec.msgpack.decode(encoded, type=Checked)
        assert decoded == part
        types = [type(fact) for facts in decoded.facts.collected for fact in facts]
        assert types == [type(fact) for facts in part.facts.collected for fact in facts]

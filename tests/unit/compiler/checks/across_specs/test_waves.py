"""The check finds the same awaited objects as the model of Argo CD's sync."""

from hypothesis import given, settings
from hypothesis import strategies as st

from stowplan.compiler.checks.across_specs import waves
from stowplan.compiler.checks.across_specs.missing_definitions import DefinedKind
from stowplan.compiler.kubernetes.fields import identity
from stowplan.library.manifest import Json
from tests.sync_model import plan
from tests.unit.compiler.checks.given import annotated, body, changed, definition, graph, output

HOOKS = ("", "", "", "PreSync", "PostSync", "Sync,PostSync", "Skip")


@st.composite
def objects(draw: st.DrawFn) -> list[Json]:
    made = []
    for number in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(["ConfigMap", "Job", "Namespace", "CustomResourceDefinition", "Thing", "Claim"]))
        home = draw(st.sampled_from(["a", "b"]))
        each = {
            "CustomResourceDefinition": changed(definition(), "metadata.name", f"things{number}"),
            "Job": body("Job", f"job{number}", api="batch/v1", namespace=home),
            "Namespace": changed(body("Namespace", home, namespace=""), "metadata.labels", {"number": str(number)}),
            "Thing": body("Thing", f"thing{number}", api="example.com/v1", namespace=home),
            "Claim": body("PersistentVolumeClaim", f"claim{number}", namespace=home, spec={"accessModes": []}),
        }.get(kind) or body("ConfigMap", f"map{number}", namespace=home)
        hook = draw(st.sampled_from(HOOKS))
        marks = {"sync_wave": draw(st.sampled_from(["-1", "0", "2"])), **({"hook": hook} if hook else {})}
        made.append(annotated(each, **marks))
    return list({identity(each): each for each in made}.values())


@settings(max_examples=400)
@given(made=objects())
def test_awaited_objects_equal_those_of_the_sync_model(made: list[Json]) -> None:
    expected = {identity(hold.task.body) for hold in plan(made).holds if hold.next_step}
    known = graph(*(output(each, folder="all") for each in made))
    defined = {each.owner.id: each.kind for each in known.facts(DefinedKind)}
    (members,) = known.applications.values()
    assert {each.id for each in waves.awaited(members, defined)} == expected

"""The index follows from one run to the next as the checks of a whole run would find it."""

from itertools import pairwise
from random import Random

from stowplan.compiler.checks.across_specs import duplicates, files
from stowplan.compiler.checks.facts.facts import Fact, Facts, Origin
from stowplan.compiler.checks.facts.object_index import ObjectIndex
from stowplan.compiler.checks.facts.world import World
from stowplan.schema.meta import ObjectId, SpecId

PATHS = ("ml/a", "ml/b", "ml/A", "ml", "ml/a/x", "ml/a/y", "ai/a", "Ml/c", "ml/.d", "ai/straße", "ai/STRASSE")
RUNS = 3000


def fact(random: Random, spec: SpecId) -> Fact:
    own = ObjectId("", "ConfigMap", "ml", str(random.randrange(12)))
    sound, origin = random.random() > 0.02, Origin(spec, "specs/a.yaml")
    return Fact(own, random.choice(PATHS), origin, authored=True, sound=sound, phase=0, wave=0, gated=False, size=1)


def test_it_knows_whether_all_objects_are_apart() -> None:
    random, index = Random(1), ObjectIndex()  # noqa: S311 - a test
    parts: dict[SpecId | None, Facts] = {}
    outcomes = []
    for _ in range(RUNS):
        for _ in range(random.randrange(3)):
            spec = SpecId("SampleSet", "ml", str(random.randrange(6)))
            if random.random() < 0.5:
                parts.pop(spec, None)
            else:
                parts[spec] = Facts(tuple(fact(random, spec) for _ in range(random.randrange(3))))
        world = World(parts.values())
        apart = not duplicates.check(world) and not files.check(world) and all(each.sound for each in world.everything)
        assert index.follow(dict(parts)) == apart
        if apart:
            assert index.objects == {each.id: each for each in world}
        outcomes.append(apart)
    assert 100 < sum(outcomes) < RUNS - 100
    assert sum(one and two for one, two in pairwise(outcomes)) > 100

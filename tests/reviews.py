"""Reviews as values, with what a real change seldom has all at once."""

from stowplan.compiler.diff.change import Action, Danger, Risk
from stowplan.compiler.pins.pin_changes import PinChange
from stowplan.compiler.review.model import (
    ChangedObject,
    ChangedValue,
    ChangeKind,
    ChangeOrigin,
    DiffLine,
    Figure,
    GraphEdge,
    GraphNode,
    Hazard,
    Matrix,
    MatrixCell,
    NodeKind,
    Review,
    Row,
    RunChange,
    RunFate,
    Secret,
    Side,
    SourceLine,
    Step,
    Verdict,
)
from stowplan.library.dialects.reading.floating import Section
from stowplan.schema.lock import GitPin, ImagePin
from stowplan.schema.meta import SpecId

MARKUP = '</style></title><script>hacked = 1</script><img src=x onerror="hacked = 1">{{ 7 * 7 }}'
"""What must not become a part of the page."""


def every_section(name: str = "llama") -> Review:
    """A review with something in each section; `name` is in every text that users choose."""
    place = SourceLine(f"specs/{name}.yaml", 7)
    run = RunChange(
        RunFate.REPLACED, SpecId("Training", "ml", name), place, "training", (f"spec.image: {name}:1 → {name}:2",)
    )
    return Review(
        summary="3 objects: 1 replaced, 1 created, 1 removed",
        verdict=Verdict(
            runs=(run, *(RunChange(fate, run.spec, place, "sync", ()) for fate in (RunFate.STARTS, RunFate.ENDS))),
            data=(f"Claim ml/{name}: its data is deleted.",),
            rights=(f"Role ml/{name}: it may get Secrets.",),
            security=(f"{name} is no file of Stowplan.",),
        ),
        figures=(
            Figure("GPUs nvidia.com/gpu", "8", "16", more=True),
            Figure("pods", "4", "2", more=False),
            Figure("GPU-hours at most", "no limit", "no limit", more=None),
        ),
        nodes=nodes(name),
        edges=tuple(
            GraphEdge(start.id, end.id, f"waits for {name}"[:24], end.state)
            for start, end in zip(nodes(name), nodes(name)[1:], strict=False)
        ),
        steps=(Step("Wave 0", (f"1 Training {name}",), "Argo CD"), Step("Training runs", (name,), "agents")),
        matrix=Matrix(("dev", name), (Row(name, (MatrixCell(name, ""), MatrixCell("1.4", f"behind {name}"))),)),
        hazards=(Hazard(Risk(Danger.DATA, f"The data of {name} is deleted."), ("a.yaml", "gone.yaml")),),
        pins=(
            PinChange(Section.IMAGES, name, ImagePin(digest=f"sha256:{64 * 'a'}"), None),
            PinChange(Section.GIT, name, None, GitPin(commit=40 * "c", subject=name)),
        ),
        secrets=(Secret("ml", name, (name,), (f"Training ml/{name}",), defined=False, new=True),),
        objects=tuple(changed(f"{path}.yaml", name, action) for path, action in zip("abcde", Action, strict=True)),
        base=name,
    )


def nodes(name: str) -> tuple[GraphNode, ...]:
    """One node of each state and part."""
    return tuple(
        GraphNode(f"{part} {name}", part, name, (f"{name}, 8 GPUs",), state, SourceLine("specs/a.yaml", 3), (path,))
        for part, state, path in zip(
            NodeKind, ChangeKind, ("a.yaml", "b.yaml", "c.yaml", "d.yaml", "e.yaml"), strict=True
        )
    )


def changed(path: str, name: str, action: Action = Action.CHANGED, *, lines: int = 4) -> ChangedObject:
    """A changed object with a diff of some lines, half of them new, and one value with an origin for each new one."""
    diff = [DiffLine(Side.BEFORE if index % 2 else Side.AFTER, index, index, f"key: {name}") for index in range(lines)]
    leaves = [
        ChangedValue(
            f"spec.{name}.{index}",
            f"{name}:1",
            f"{name}:2",
            (ChangeOrigin(name, SourceLine("specs/a.yaml", index + 1)),),
        )
        for index in range(lines // 2)
    ]
    return ChangedObject(
        action,
        path,
        f"Job ml/{name}",
        "specs/a.yaml",
        "",
        (Risk(Danger.RUN, f"The run {name} is ended."),),
        tuple(leaves),
        (*diff, DiffLine(Side.GAP, 0, 0, "12 unchanged lines"), DiffLine(Side.BOTH, 1, 1, f"kind: {name}")),
        (f"Job ml/{name}-2",),
    )

"""All objects of one run, found by identity and by Application."""

from collections.abc import Iterator, Sequence

from stowplan.compiler.checks.manifests import identity, wave_of
from stowplan.compiler.model import Output
from stowplan.schema.meta import ObjectId


class Objects:
    """The outputs that fit their schemas, and an index over these and all others.

    Checks look at sound objects only, so that they need not doubt types; of the others they know that they exist.
    """

    def __init__(self, outputs: Sequence[Output], others: Sequence[Output] = ()) -> None:
        self.outputs = tuple(outputs)
        self._by_id = {identity(output.manifest.body): output for output in outputs}
        self._others = {identity(output.manifest.body) for output in others}
        self._by_kind: dict[str, list[Output]] = {}
        self._applications: dict[str, list[Output]] = {}
        for output in self.outputs:
            self._by_kind.setdefault(str(output.manifest.kind), []).append(output)
            self._applications.setdefault(application_of(output), []).append(output)
        self._last = {name: max(members, key=_wave) for name, members in self._applications.items()}

    def find(self, wanted: ObjectId) -> Output | None:
        """The sound output of that identity, if there is one."""
        return self._by_id.get(wanted)

    def exists(self, wanted: ObjectId) -> bool:
        """Whether there is an output of that identity, sound or not."""
        return wanted in self._by_id or wanted in self._others

    def of_kind(self, *kinds: str) -> Iterator[Output]:
        """The outputs of these kinds, whatever their group."""
        for kind in kinds:
            yield from self._by_kind.get(kind, ())

    @property
    def applications(self) -> dict[str, list[Output]]:
        """The outputs by the folder that one Application of Argo CD syncs."""
        return self._applications

    def last(self, output: Output) -> Output:
        """An output of the same Application that stands in its highest wave."""
        return self._last[application_of(output)]


def application_of(output: Output) -> str:
    """The first folder of the output's path: `crds`, `_cluster`, `argocd` or a namespace; each is one Application."""
    return output.path.partition("/")[0]


def _wave(output: Output) -> int:
    return wave_of(output.manifest.body)

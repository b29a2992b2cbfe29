"""What the constructs of all kinds have in common: each is a spec, and the chart of the objects that it compiles to.

The classes themselves are in `generated/kinds.py`.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Generic, TypeVar, cast

import jsii
from cdk8s import App, Chart
from constructs import Construct, IValidation

from stowplan.library.composition.crossing import check_crossing
from stowplan.library.constructs.app import SpecApp
from stowplan.library.constructs.charts import SpecChart
from stowplan.library.constructs.spec_error import SpecError, refuse_errors
from stowplan.library.constructs.written import Written
from stowplan.library.dialects import awaited
from stowplan.library.dialects.dataset import cached
from stowplan.library.dialects.registry import lower
from stowplan.library.dialects.sample_set import sample_set as sample_sets
from stowplan.library.ir.data import CachedDataset
from stowplan.schema.diagnostics import did_you_mean, has_errors
from stowplan.schema.kinds import paddle_job, sample_set
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.kinds.native import dataset
from stowplan.schema.kinds.native.training_parts import TrainingDataset, TrainingWait
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.meta import Model

Document = Mapping[str, Any]
Kind = TypeVar("Kind", bound=CustomResource)


class SpecConstruct(SpecChart, Generic[Kind]):
    """A spec of the kind `KIND`, and the objects that it compiles to, the same as from `stowplan synth`.

    It is given by the fields of its spec, with names in Python's form such as `num_nodes`, or as a whole by `spec`: a
    model, or the document as parsed from YAML. `metadata` adds labels, annotations and what else metadata may have. The
    name of the spec is the construct's id unless metadata has another one, its namespace that of the chart around it,
    or else the platform's default.

    `findings` holds the warnings and infos about the spec. Raises `SpecError` with every error of the spec, or of a
    dataset for which it waits; `TypeError` outside of an app of Stowplan, or if fields are given together with `spec`;
    `ValueError` if there is such a spec already, or none yet that it runs after.
    """

    KIND: ClassVar[type[CustomResource]]
    model: Kind

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        spec: Kind | Document | None,
        metadata: Document | None,
        props: Mapping[str, Any],
    ) -> None:
        app, kind = SpecApp.around(scope, self.KIND.__name__), cast("type[Kind]", self.KIND)
        document = _document(kind, construct_id, spec, metadata, props)
        around = None if isinstance(scope, App) else Chart.of(scope).namespace
        document["metadata"].setdefault("namespace", around or app.context.platform.default_namespace)
        written = Written(document, app.place())
        model, notes = app.checks.read(written, app.context.platform)
        if model is None or has_errors(notes):
            raise SpecError(f"{kind.__name__} {document['metadata'].get('name', '')}".strip(), notes)
        self.model = cast("Kind", model)
        for first in awaited.named(self.model, app.context):
            if first not in app.context.specs:
                raise ValueError(f"A {kind.__name__} runs after {first}, which has to be made before it.")
        lowered = lower(self.model, app.located(self.model, written.place))
        for waited_for, other in app.context.lowered.items():
            refuse_errors(str(waited_for), other.findings)
        refuse_errors(str(lowered.unit.spec), lowered.findings)
        for each in lowered.unit.manifests:
            check_crossing(each.body)
        self.findings = (*notes, *lowered.findings)
        super().__init__(scope, construct_id, unit=lowered.unit)
        self.written = replace(written, findings=self.findings, construct=self.node.path)
        app.add(self, self.model, lowered.unit, self.written)
        self.node.add_validation(_Checks(app, self))

    @property
    def reference(self) -> dict[str, str]:
        """What `run_after` of a spec takes that must wait for this one."""
        return {"kind": self.spec_id.kind, "name": self.spec_id.name}


@jsii.implements(IValidation)
class _Checks:
    """The checks of a spec alone, after patches."""

    def __init__(self, app: SpecApp, chart: "SpecConstruct[Any]") -> None:
        self._app, self._chart = app, chart

    def validate(self) -> list[str]:
        app, chart = self._app, self._chart
        if app.checked_later:
            return []
        return app.checks.problems(chart.written, app.patched(chart), app.context.platform)


class DatasetConstruct(SpecConstruct[Kind]):
    """A dataset, with the names of its objects."""

    @property
    @abstractmethod
    def _cached(self) -> CachedDataset:
        """What pods and tasks know of the dataset."""

    @property
    def claim_name(self) -> str:
        """Name of the PersistentVolumeClaim by which pods mount the dataset."""
        return self._cached.claim.name

    @property
    def service(self) -> str | None:
        """Name of the Service of the cache pods; None if no node caches the dataset."""
        return self._cached.names.service if self._cached.partitions else None

    @property
    def stateful_set(self) -> str | None:
        """Name of the StatefulSet of the cache pods; None if no node caches the dataset."""
        return self._cached.names.runtime if self._cached.partitions else None


class MountedDataset(DatasetConstruct[dataset.Dataset]):
    """A Dataset."""

    @property
    def _cached(self) -> CachedDataset:
        return cached.cached_dataset(self.model, SpecApp.around(self, "Dataset").context)

    def mount(
        self,
        path: str,
        *,
        wait: bool | TrainingWait = False,
        read_only: bool | None = None,
        revision: str | None = None,
    ) -> TrainingDataset:
        """Return an entry of `datasets` of a Training, which mounts the dataset at `path`.

        With `wait` the job waits until the dataset is ready. `revision` is as in the spec.
        """
        given: dict[str, Any] = {"name": self.spec_id.name, "mountPath": path}
        given |= {} if read_only is None else {"readOnly": read_only}
        given |= {} if revision is None else {"revision": revision}
        if wait is not False:
            given["wait"] = {} if wait is True else wait
        return TrainingDataset.model_validate(given)


class MountedSampleSet(DatasetConstruct[sample_set.SampleSet]):
    """A SampleSet."""

    @property
    def _cached(self) -> CachedDataset:
        return sample_sets.cached_dataset(self.model, SpecApp.around(self, "SampleSet").context)

    def mount(self, path: str) -> paddle_job.DatasetMount:
        """Return the `sample_set_ref` of a PaddleJob, whose pods find the dataset at `path`."""
        return paddle_job.DatasetMount.model_validate({"name": self.spec_id.name, "mountPath": path})


def _document(
    kind: type[Kind],
    name: str,
    spec: Kind | Document | None,
    metadata: Document | None,
    props: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the document of a spec. Raises `TypeError` for fields together with `spec`, and for an unknown field."""
    if spec is not None and (props or metadata):
        raise TypeError(f"A {kind.__name__} is given by its fields or by `spec`, which holds all of them.")
    if spec is None:
        row, fields = KINDS[kind.__name__], cast("type[Model]", kind.model_fields["spec"].annotation).model_fields
        if unknown := sorted(props.keys() - fields.keys()):
            raise TypeError(f"A {row.name} has no field {unknown[0]}. {did_you_mean(unknown[0], fields)}")
        given = {"name": name, **_plain(metadata or {})}
        own = {str(fields[key].alias): _plain(value) for key, value in props.items()}
        return {"apiVersion": row.api_version, "kind": row.name, "metadata": given, "spec": own}
    document: dict[str, Any] = _plain(spec)
    return {**document, "metadata": dict(document.get("metadata") or {})}


def _plain(value: Any) -> Any:
    """Return a value as YAML would have it: models as mappings with what was given, and lists for sequences."""
    if isinstance(value, Model):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return list(map(_plain, value))
    return value

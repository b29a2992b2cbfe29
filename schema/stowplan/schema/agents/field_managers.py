"""Field managers: the names under which agents write parts of an object. No two of them own the same field.

Except for `AWAIT` and `GATE`, the fields are in the status of the named kind. "Reporter's fields" are those of `REPORTER`; another
agent owns them only if `reportPhase` in its configuration is true, since no reporter runs then.

- `cache(ordinal)`: `partitions[ordinal]` of a Dataset or SampleSet.
- `CACHE_SUM`, used by cache pod 0: `cacheStatus` and `jobsName` of the same. `jobsName` has the `run` of the entries
  sync and warmup in `attempts`. Also the reporter's fields, derived from `attempts` and `partitions`.
- `task(name, partition)`: `attempts[task, partition]` of a dataset or a task on it, and `revision` of a Dataset. Of a
  task also the reporter's fields, derived from all entries of `attempts` at the resourceVersion that the agent read.
- `TRANSFER`: `attempt`, `progress` and `revision` of a DataCube. Also the reporter's fields.
- `AWAIT`: `spec.activeDeadlineSeconds` of a decider's Job.
- `GATE`: `spec.suspend` of the Jobs or the JobSet of a run that it opens, and their annotations `OPENED` and
  `ADMISSION_GATE` of `stowplan.schema.agents.gate_config`.
- `REPORTER`: phase, conditions, `runtimeStatus`, `pod`, counts, times, `jobName` and `observedGeneration` of any kind.
"""

CACHE_SUM = "stowplan-cache-sum"
TRANSFER = "stowplan-transfer"
REPORTER = "stowplan-reporter"
AWAIT = "stowplan-await"
GATE = "stowplan-gate"

ARGO_CD = "argocd-controller"
"""Field manager of Argo CD with `ServerSideApply=true` (`ArgoCDSSAManager` in its `common/common.go`)."""


def cache(ordinal: int) -> str:
    """Return the field manager of the cache pod with this number, from 0."""
    return f"stowplan-cache-{ordinal}"


def task(name: str, partition: int) -> str:
    """Return the field manager of a task's agent (`sync`, `warmup`, `rmr`, `clear`, `copy`) on a partition, from 0."""
    return f"stowplan-{name}-{partition}"

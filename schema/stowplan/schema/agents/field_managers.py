"""Who writes which part of an object: the field managers of the agents. Two never own one field.

| Field manager | Owns | |---|---| | `cache(ordinal)` | of a SampleSet: `partitions[ordinal]` | | `CACHE_SUM`, of cache pod 0 | of a SampleSet: `cacheStatus`, `jobsName` (the `run` of the entries sync and warmup in `attempts`); also what is the reporter's, where `reportPhase` is true, derived from `attempts` and `partitions` | | `task(name, partition)` | of a SampleSet or SampleJob: `attempts[task, partition]`; of a SampleJob also what is the reporter's, where `reportPhase` is true, from all entries that it read, at the resourceVersion that it read | | `TRANSFER` | of a DataCube: `attempt`, `progress`, `revision`; also what is the reporter's, where `reportPhase` is true | | `AWAIT` | of a deciding Job: `spec.activeDeadlineSeconds` | | `REPORTER` | of a status: phase, conditions, `runtimeStatus`, `pod`, counts, times, `jobName`, `observedGeneration` |
"""

CACHE_SUM = "stowplan-cache-sum"
TRANSFER = "stowplan-transfer"
REPORTER = "stowplan-reporter"
AWAIT = "stowplan-await"


def cache(ordinal: int) -> str:
    """Field manager of the cache pod with this number."""
    return f"stowplan-cache-{ordinal}"


def task(name: str, partition: int) -> str:
    """Field manager of the process for a task (`sync`, `warmup`, `rmr`, `clear`) on a partition."""
    return f"stowplan-{name}-{partition}"

"""Configuration of the reporter: written by the compiler, mounted as a file, read in its pod.

The reporter watches the Jobs, JobSets, StatefulSets and pods of one namespace, and derives the status of Stowplan's
kinds.
"""

from typing import Literal

from pydantic import Field

from stowplan.schema.meta import DnsLabel, Model

MxnetSuccess = Literal["scheduler", "worker"]


class ReporterConfig(Model):
    """One reporter."""

    format: Literal[1] = Field(default=1, description="Version of this contract.")
    task: Literal["report"] = Field(default="report", description="What to do.")
    namespace: DnsLabel = Field(description="Namespace to report on.")
    job_sets: bool = Field(description="Whether the cluster has JobSets.")
    mxnet_success: MxnetSuccess = Field(
        description="Whose success is that of a distributed MxJob, as the platform has it."
    )

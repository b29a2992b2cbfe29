"""Restarts of a whole job, from the annotation of a legacy kind to the field of a Training."""

from collections.abc import Iterator

from stowplan.compiler.migrate.native.plan import Omit, Step, Write, path
from stowplan.library.dialects.training_group import restarts
from stowplan.schema.meta import ObjectMeta


def steps(metadata: ObjectMeta) -> Iterator[Step]:
    """Yield the steps for the annotation. The exit codes that end the job stay the same, whatever the framework."""
    if asked := restarts.annotated(metadata):
        yield Omit(restarts.ANNOTATION)
        yield Write(path("spec.restart.max"), asked.most)
        yield Write(path("spec.restart.retryOn"), [])

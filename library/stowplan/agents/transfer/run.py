"""One attempt, from the lock to the marker."""

from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.attempt.completion import Completion
from stowplan.agents.attempt.failure import AttemptError, of_any
from stowplan.agents.attempt.lock import held
from stowplan.agents.transfer.engine import Engine, Work
from stowplan.agents.transfer.settings import Settings
from stowplan.agents.transfer.tree import Tree
from stowplan.schema.exit_codes import ExitCode


@dataclass(frozen=True)
class Run:
    """A transfer, by its engine."""

    told: Settings
    engine: Engine
    work: Work

    def all(self) -> str:
        """Copies; gives a sentence of what was done. AttemptError or StoppedError else."""
        if not self.told.claim.is_dir():
            raise AttemptError(ExitCode.NOT_FOUND, "NoClaim", f"{self.told.claim} is not there: is the claim mounted?")
        state = self.told.config.state
        if state is None:
            return self.engine.upload(self.work, None)
        claim, directory = self.told.claim, state.directory
        for each in (directory, str(Path(state.lock).parent)):
            # Also makes sure that no link leads out of the claim.
            Tree(claim, each, create=True).close()
        dataset = None if state.dataset is None else claim / state.dataset
        completion = Completion(claim, claim / directory, self.told.run, dataset)
        if completion.is_done():
            self.work.outcome.revision = completion.revision
            return "This run was complete before: nothing to do"
        with held(claim / state.lock, self.told.run or "stowplan-transfer", self.work.stop, self.work.log):
            try:
                text = self._copy(claim / directory, completion)
            except Exception as error:
                failure = of_any(error, "the transfer")
                if isinstance(failure, AttemptError):
                    completion.end(failure.code, {})
                raise failure from None
            completion.end(ExitCode.DONE, self._summary())
        return text

    def _summary(self) -> dict[str, int | str]:
        revision = self.work.outcome.revision
        return {**self.work.progress.snapshot().fields(), **({"revision": revision} if revision else {})}

    def _copy(self, directory: Path, completion: Completion) -> str:
        if self.told.upload:
            completion.begin()
            return self.engine.upload(self.work, directory)
        return self.engine.download(self.work, directory, completion)

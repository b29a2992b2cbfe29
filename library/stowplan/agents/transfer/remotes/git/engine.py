"""Engine for Git repositories."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.attempt.completion import Completion
from stowplan.agents.transfer.engine import TransferWork
from stowplan.agents.transfer.remotes.git.download import Download
from stowplan.agents.transfer.remotes.git.program.git import prepared
from stowplan.agents.transfer.remotes.git.program.leftovers import awaited
from stowplan.agents.transfer.remotes.git.settings import GitSettings
from stowplan.agents.transfer.remotes.git.upload import Upload
from stowplan.agents.transfer.tree import Tree


@dataclass(frozen=True)
class GitEngine:
    """Copies between a claim and one Git repository, by the interface of a transfer engine."""

    settings: GitSettings

    def download(self, work: TransferWork, directory: Path, completion: Completion) -> str:
        """Clone the repository, or update a clone to the wanted commit."""
        name = self.settings.address.directory
        hidden = directory / "clones" / name
        # Creating the tree also makes sure that no link leads out of the claim.
        for path in (self.settings.common.local.path, str(hidden.parent.relative_to(self.settings.common.claim))):
            Tree(self.settings.common.claim, path, create=True).close()
        with awaited(directory, work.stop) as held, prepared(self.settings, work, held) as git:
            for each in hidden.parent.iterdir():
                if each != hidden:
                    shutil.rmtree(each)
            return Download(git, self.settings.common.claim / self.settings.path, hidden, completion).run()

    def upload(self, work: TransferWork, directory: Path | None) -> str:
        """Push the branch that is checked out in the claim."""
        Tree(self.settings.common.claim, self.settings.common.local.path, create=False).close()
        with awaited(directory, work.stop) as held, prepared(self.settings, work, held) as git:
            return Upload(git, self.settings.common.claim / self.settings.path).run()

"""Engine for Git repositories."""

from contextlib import ExitStack, closing
from dataclasses import dataclass

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.claim.walk import remove
from stowplan.agents.attempt.completion import Completion
from stowplan.agents.transfer.engine import TransferWork, syncs
from stowplan.agents.transfer.remotes.git.download import GitDownload
from stowplan.agents.transfer.remotes.git.earlier import Earlier
from stowplan.agents.transfer.remotes.git.program.git import prepared
from stowplan.agents.transfer.remotes.git.program.leftovers import awaited
from stowplan.agents.transfer.remotes.git.settings import GitSettings
from stowplan.agents.transfer.remotes.git.upload import GitUpload
from stowplan.agents.transfer.tree import Tree


@dataclass(frozen=True)
class GitEngine:
    """Copies between a claim and one Git repository. Parameters and results are those of the interface `Engine`."""

    settings: GitSettings

    def download(self, work: TransferWork, state: ClaimFolder, completion: Completion) -> str:
        """Clone the repository, or update a clone to the wanted commit."""
        common, name = self.settings.common, self.settings.address.directory
        with ExitStack() as stack:
            tree = stack.enter_context(closing(Tree(common.claim, common.local.path, create=True)))
            clones = stack.enter_context(state.folder("clones", create=True))
            git = stack.enter_context(prepared(self.settings, work, stack.enter_context(awaited(state, work.stop))))
            for each in clones.entries():
                if each.name != name:
                    remove(clones, each.name)
            earlier = None
            if syncs(common.config):
                earlier = stack.enter_context(closing(Earlier(git, tree, state.folder("removed", create=True))))
            return GitDownload(git, tree.root, clones, completion, earlier).run()

    def upload(self, work: TransferWork, state: ClaimFolder | None) -> str:
        """Push the branch that is checked out in the claim."""
        Tree(self.settings.common.claim, self.settings.common.local.path, create=False).close()
        with awaited(state, work.stop) as held, prepared(self.settings, work, held) as git:
            return GitUpload(git, self.settings.common.claim / self.settings.path).run()

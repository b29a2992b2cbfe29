"""Secrets to which the specs refer: their names and keys. What they contain is never read."""

from collections.abc import Iterator

from stowplan.compiler.output import inventory_lines
from stowplan.compiler.output.inventory_files import is_inventory
from stowplan.compiler.review.model import Secret
from stowplan.compiler.review.scene import Scene, Scenes

_Key = tuple[str, str]


def secrets(scenes: Scenes) -> tuple[Secret, ...]:
    """Return the Secrets that must be there, sorted by namespace and name; the new ones come first."""
    keys: dict[_Key, set[str]] = {}
    users: dict[_Key, set[str]] = {}
    known: set[_Key] = set()
    defined: set[_Key] = set()
    for scene in scenes.all:
        known |= set(_before(scene))
        defined |= scene.program.secret_keys.keys()
        for output in scene.outputs:
            for each in output.externals:
                if each.kind == "Secret":
                    key = (each.namespace, each.name)
                    keys.setdefault(key, set()).update(each.keys)
                    users.setdefault(key, set()).add(scene.titled(str(output.spec or output.source)))
    found = [
        Secret(*key, tuple(sorted(own)), tuple(sorted(users[key])), key in defined, key not in known)
        for key, own in keys.items()
    ]
    return tuple(sorted(found, key=lambda each: (not each.new, each.namespace, each.name)))


def _before(scene: Scene) -> Iterator[_Key]:
    """Yield namespace and name of each Secret that the inventory before the change lists."""
    for path, content in scene.files.items():
        if is_inventory(path):
            for _, entry in inventory_lines.from_lines(content.splitlines(keepends=True)):
                own = entry.externals if entry else ()
                yield from ((each.namespace, each.name) for each in own if each.kind == "Secret")

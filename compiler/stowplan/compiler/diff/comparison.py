"""Changes between two outputs. Old and new objects are paired by the names of their files, which contain no hash."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from stowplan.compiler.diff.change import Action, Change, Danger, Pair, Risk, worst_first
from stowplan.compiler.diff.fields import Field, differences, with_strings
from stowplan.compiler.diff.risks import remotes
from stowplan.compiler.diff.risks.moves import moved
from stowplan.compiler.diff.risks.pods import Pods
from stowplan.compiler.diff.risks.rights import ROLES
from stowplan.compiler.diff.risks.rules import risks
from stowplan.compiler.diff.risks.unvouched import unvouched
from stowplan.compiler.kubernetes.fields import annotation, identity
from stowplan.compiler.model import OutputFile
from stowplan.compiler.output.read_back import reread
from stowplan.compiler.output.render import carries_header, render
from stowplan.library.manifest import Json
from stowplan.library.values import labels
from stowplan.library.values.names import hash_of

_MASKED = ("Secret",)
_RIGHTS = (*ROLES, "RoleBinding", "ClusterRoleBinding")
_HIDDEN = "(not shown)"


def compare(before: Mapping[str, bytes], outputs: Sequence[OutputFile]) -> list[Change]:
    """Return the changes from an earlier output to the compiled outputs; the riskiest first.

    `before` has the contents of the earlier output's files by path. An object that only refers to another one by its
    new hash is left out.
    """
    pairs = [pair for pair in _pairs(before, outputs) if pair.before != pair.after]
    names = _Renaming(pairs)
    pods = Pods.of(output.manifest.body for output in outputs)
    more = _entered(pairs, before, outputs)
    changed = {pair.path for pair in pairs}
    unchanged = (each.manifest.body for each in outputs if each.path in before and each.path not in changed)
    for path, found in remotes.reached(pairs, unchanged).items():
        more.setdefault(path, []).extend(found)
    for path, risk in (*unvouched(before, outputs).items(), *moved(pairs, outputs).items()):
        more.setdefault(path, []).append(risk)
    changes = (_change(pair, names, pods, more.get(pair.path, ())) for pair in pairs)
    # Others only refer to an object with a new hash in its name.
    shown = (each for each in changes if each.action is not Action.CHANGED or each.fields or each.risks)
    return sorted(shown, key=lambda change: change.rank)


def _pairs(before: Mapping[str, bytes], outputs: Sequence[OutputFile]) -> Iterator[Pair]:
    after = {output.path: output for output in outputs if output.path.endswith(".yaml")}
    for path in sorted(before.keys() | after.keys()):
        content, output = before.get(path), after.get(path)
        if content is not None and output is not None and content == render(output):
            continue
        old = reread(content) if content and path.endswith(".yaml") and carries_header(content) else None
        new = output.manifest.body if output else None
        if old is not None or new is not None:
            source = output.source if output else annotation(old or {}, labels.SOURCE)
            yield Pair(path, source, old, new)


class _Renaming:
    """Objects whose names changed because they end in a hash of the content.

    A field that differs only because it has such a name is not reported as a change.
    """

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self._new = {
            identity(pair.before).name: identity(pair.after).name
            for pair in pairs
            if pair.before and pair.after and pair.action is Action.REPLACED
            # A name that a user chose may be part of any value, such as the tag of an image.
            if hash_of(identity(pair.before).name) and hash_of(identity(pair.after).name)
        }
        hashes = {hash_of(old): hash_of(new) for old, new in self._new.items()}
        words = sorted(self._new.keys() | hashes.keys(), key=len, reverse=True)
        self._new = hashes | self._new
        self._pattern = re.compile("|".join(map(re.escape, words))) if words else None

    def follows(self, field: Field) -> bool:
        """Whether a field differs only by such names: the old value with the new names equals the new value."""
        return bool(self._pattern and self.renamed(field.before) == field.after)

    def renamed(self, value: Json) -> Json:
        """Return an old value with the new names."""
        pattern = self._pattern
        if pattern is None:
            return value
        new: Json = with_strings(value, lambda text: pattern.sub(lambda found: self._new[found[0]], text))
        return new


def _entered(
    pairs: Sequence[Pair], before: Mapping[str, bytes], outputs: Sequence[OutputFile]
) -> dict[str, list[Risk]]:
    """Return a risk for the first object in each namespace that had none before, by path of the object's file.

    Empty if there was no output before.
    """
    known = {identity(output.manifest.body).namespace for output in outputs if output.path in before}
    known |= {identity(pair.before).namespace for pair in pairs if pair.before}
    found: dict[str, list[Risk]] = {}
    for pair in pairs if known else ():
        namespace = identity(pair.after or {}).namespace
        if namespace and namespace not in known:
            known.add(namespace)
            found[pair.path] = [Risk(Danger.RIGHTS, f"It is the first object in the namespace {namespace}.")]
    return found


def _change(pair: Pair, names: _Renaming, pods: Pods, more: Sequence[Risk]) -> Change:
    old = identity(pair.before) if pair.before else None
    new = identity(pair.after) if pair.after else None
    found = worst_first([*risks(_judged(pair, names), pods), *more])
    return Change(pair.action, pair.path, pair.source, old, new, tuple(_fields(pair, names)), found)


def _judged(pair: Pair, names: _Renaming) -> Pair:
    """Return the pair by which risks are judged: a right on the old run becomes, without a risk, one on the new run."""
    if pair.kind not in _RIGHTS or pair.before is None or pair.after is None:
        return pair
    return replace(pair, before=names.renamed(pair.before))


def _fields(pair: Pair, names: _Renaming) -> Iterator[Field]:
    if pair.before is None or pair.after is None:
        return
    for field in differences(pair.before, pair.after):
        if names.follows(field):
            continue
        masked = pair.kind in _MASKED and field.path[0] in ("data", "stringData")
        yield Field(field.path, _HIDDEN, _HIDDEN) if masked else field

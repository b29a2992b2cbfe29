"""How a store writes keys in its lists.

Requests ask for `encoding-type=url`, since XML cannot hold every key. S3 then writes `a+b` for the key `a b`, and
`a%2Bb` for `a+b`. Other stores encode nothing, encode but write a blank as `%20` and leave `+` as it is, and say or do
not say in the answer that they have encoded. So the answer's word is not taken: the store itself is asked.
"""

from collections.abc import Callable, Iterable
from urllib.parse import unquote, unquote_plus

from stowplan.agents.transfer.remotes.s3.protocol.answers import bad

Way = Callable[[str], str]
"""Function from a key as a list has it to the key."""

Lists = Callable[[str], list[str] | None]
"""Function from a beginning of keys to keys that begin so, as a list has them; None if the store refuses that."""


def _form(text: str) -> str:
    return unquote_plus(text, errors="surrogateescape")


def _percent(text: str) -> str:
    return unquote(text, errors="surrogateescape")


_WAYS: tuple[Way, ...] = (_form, _percent, str)


class KeyEncoding:
    """Decoder of the keys of one store, all of which begin with `prefix`.

    Most keys are the same in all encodings. For the first ones that are not, `lists` is asked for what begins with each
    possible key: the right one is listed by the same text. If it returns None, since the account may not list that,
    the word of the answers counts, as with S3. Bytes that are no UTF-8 become single surrogates.
    """

    def __init__(self, prefix: str, lists: Lists) -> None:
        self._prefix, self._lists = prefix, lists
        self._ways = _WAYS

    def decoded(self, texts: Iterable[str], *, said: bool) -> list[str]:
        """Return the keys in the order of `texts`. `said` is whether the answer with them says that they are encoded.

        Raises AttemptError if the store lists one of them by none of its possible keys, or by several.
        """
        return [self._key(each, said=said) for each in texts]

    def _key(self, text: str, *, said: bool) -> str:
        if not ("%" in text or "+" in text):
            return text
        keys = {way(text) for way in self._ways}
        if len(keys) == 1:
            return keys.pop()
        right = {key for key in keys if key.startswith(self._prefix)}
        if len(right) > 1:
            lists = {key: self._lists(key) for key in sorted(right)}
            if None in lists.values():
                right = {(_form if said else str)(text)}
            else:
                right = {key for key, found in lists.items() if found and text in found}
        if len(right) != 1:
            # One that was deleted in the meantime, too: then the next attempt does not find it.
            raise bad(f"a list with the key {text[:100]!r}, which it does not list alone by this name or a decoded one")
        (key,) = right
        self._ways = tuple(way for way in self._ways if way(text) == key)
        return key

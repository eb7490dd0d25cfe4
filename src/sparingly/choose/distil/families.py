"""Which models belong together by their names, where nobody says so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from sparingly.base.errors import UsageError

_LETTERS = re.compile(r"[^\W\d_]+")
_FEWEST = 3
# Words that say nothing about where a model comes from.
_EMPTY = frozenset(
    ("online", "model", "system", "sys", "baseline", "base", "ref", "reference", "human", "output", "team")
)


def family_of(model: str) -> str | None:
    """Return the family of a model by its name: its first word, in small letters.

    ``Llama3-70B`` and ``llama-3.1-8b`` are of the family ``llama``; a word of fewer than three letters, or
    one such as ``online``, tells nothing.
    """
    words = _LETTERS.findall(model)
    first = words[0].lower() if words else ""
    return first if len(first) >= _FEWEST and first not in _EMPTY else None


def families_of(models: Iterable[str], said: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the families of models, as said or by their names; those without one are left out."""
    known, given = list(models), dict(said or {})
    for name in sorted(set(given) - set(known)):
        raise UsageError(f'A family is given for "{name}", and no training set has that model.')
    found = {name: given.get(name, family_of(name)) for name in known}
    return {name: family for name, family in found.items() if family}

"""Ids as a file mentions them, counted."""

from __future__ import annotations

from typing import Any

from sparingly.base.errors import InputError
from sparingly.data.values import as_id


class Names:
    """Ids in the order of their first mention; the number 1 and the text "1" may not both occur."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.codes: dict[str, int] = {}
        self._numeric: dict[str, bool] = {}

    def code(self, value: Any, field: str) -> int:
        """Return the code of an id, a new one when it is met for the first time."""
        name = value if type(value) is str and value in self.codes else as_id(value, field)
        numeric = not isinstance(value, str)
        if self._numeric.setdefault(name, numeric) != numeric:
            raise InputError(
                f'the {self.kind} {name} is written as a number and as the text "{name}"',
                field=field,
                fix="Write ids in one way",
            )
        return self.codes.setdefault(name, len(self.codes))

    def __len__(self) -> int:
        return len(self.codes)

    def names(self) -> list[str]:
        """Return the ids by code."""
        return list(self.codes)

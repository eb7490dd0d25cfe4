"""A door for panels such as Prolific: people come in by URL parameters and go back with a completion code."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote

from fastapi.datastructures import QueryParams

from sparingly.base.errors import UsageError

# Who comes by a panel is called so, and can never be taken for a rater who was invited.
PREFIX = "panel:"
# What panels call the person, and the study and the session (which go into the log).
_PERSON = ("PROLIFIC_PID", "workerId", "participant")
_PLACE = ("STUDY_ID", "SESSION_ID")
_ID = re.compile(r"[A-Za-z0-9_-]{4,64}")
_COMPLETE = "https://app.prolific.com/submissions/complete?cc="
EXAMPLE = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"


@dataclass(frozen=True)
class Panel:
    """What the people of a panel get."""

    code: str  # completes their work: a code, or the address to send them back to
    pages: int | None = None  # after how many pages they are done; until nothing is left unless given
    screened: str | None = None  # the code, or the address, for those who do not consent
    pay: float | None = None  # what one of them is paid, from which their pay per hour follows

    def __post_init__(self) -> None:
        if not self.code.strip():
            raise UsageError("The panel needs a completion code, or the address to send people back to.")
        if self.pages is not None and self.pages < 1:
            raise UsageError(f"A person judges at least one page, not {self.pages}.")

    def address(self, code: str) -> str:
        """Return where people go back to with a code."""
        is_address = code.startswith(("https://", "http://"))
        return code if is_address else f"{_COMPLETE}{quote(code, safe='')}"


def person_of(parameters: QueryParams) -> tuple[str, dict[str, str]]:
    """Return the rater's name of somebody who comes from a panel, and where they come from.

    A parameter that is repeated, missing or of another form is an error.
    """
    values = {}
    for name in (*_PERSON, *_PLACE):
        given = parameters.getlist(name)
        if len(given) > 1 or (given and not _ID.fullmatch(given[0])):
            raise UsageError(
                f"The address is not the one of your panel: {name} is wrong. Open it there again."
            )
        if given:
            values[name] = given[0]
    people = [values.pop(name) for name in _PERSON if name in values]
    if len(people) != 1:
        raise UsageError(f"The address does not say who you are ({_PERSON[0]}). Open it in your panel again.")
    return PREFIX + people[0], values

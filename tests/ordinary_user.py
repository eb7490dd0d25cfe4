"""A while without the superuser's rights, because the superuser may open every file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

NOBODY = 65_534


@contextmanager
def as_an_ordinary_user() -> Iterator[None]:
    """Give up the superuser's rights; what is used inside must have been imported before."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)

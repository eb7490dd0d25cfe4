"""Stand-ins for the packages of others, there as long as the contract suite runs."""

from __future__ import annotations

from functools import cache

from tests.choose.distil.external.fake_packages import install


@cache
def external_texts(*texts: str) -> tuple[str, ...]:
    """Return the texts, once the packages that they need can be imported."""
    install()
    return texts

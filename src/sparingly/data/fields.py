"""The names of everything that an evaluation set can hold, as short texts.

``metric:COMET``, ``aspect:mqm``, ``column:domain``, ``cell:prompt`` name one of several;
``sources``, ``outputs``, ``references``, ``reference_aspects``, ``ratings``, ``preferences`` and ``repeats``
are single.
Methods say with these names what they read, formats what they can carry, signatures what a digest covers.
"""

from __future__ import annotations

from collections.abc import Iterable

SINGLE = ("sources", "outputs", "references", "reference_aspects", "ratings", "preferences", "repeats")
SEVERAL = ("metric", "aspect", "column", "cell")
LABELS = ("reference_aspects", "ratings", "preferences")
DOCUMENT, POSITION, DOMAIN, COST, WEIGHT = "document", "position", "domain", "cost", "weight"
TEXT_COLUMNS = (DOCUMENT, DOMAIN)
NUMBER_COLUMNS = (POSITION, COST, WEIGHT)


def metric(name: str) -> str:
    """Return the field of a metric."""
    return f"metric:{name}"


def aspect(name: str) -> str:
    """Return the field of an aspect."""
    return f"aspect:{name}"


def column(name: str) -> str:
    """Return the field of a column of the items."""
    return f"column:{name}"


def cell(name: str) -> str:
    """Return the field of a column of the cells (item x model)."""
    return f"cell:{name}"


def is_label(name: str) -> bool:
    """Say whether a field holds what people judged."""
    return name in LABELS or name.startswith("aspect:")


def labels(names: Iterable[str]) -> frozenset[str]:
    """Return the fields that hold what people judged."""
    return frozenset(name for name in names if is_label(name))

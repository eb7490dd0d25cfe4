"""Results as tables of other libraries, and as pictures."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from sparingly.base.errors import UsageError
from sparingly.base.lazy import pl
from sparingly.base.summary import Summary


def frame_of_rows(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Return rows as a polars frame; what is not known is null."""
    return pl.DataFrame(rows, infer_schema_length=None)


def pandas_of_rows(rows: list[dict[str, Any]]) -> Any:
    """Return rows as a pandas frame; pandas is no dependency of ours."""
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise UsageError("A pandas frame needs pandas: pip install pandas.") from None
    return pandas.DataFrame(rows)


class Tabular:
    """A result whose rows can be had as a frame, and that has a picture.

    ``rows_key`` names the rows among the values of ``to_dict``, so that a frame holds the numbers of the
    result's file and of ``--json``.
    """

    rows_key: ClassVar[str]

    if TYPE_CHECKING:

        def to_dict(self) -> dict[str, Any]:
            """Return plain values."""

        def summary(self) -> Summary:
            """Return the answer, one table or picture, what to do next, and then the rest."""

    def _repr_html_(self) -> str:
        return self.summary().html()

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows as plain values by column."""
        return list(self.to_dict()[self.rows_key])

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a polars frame; what is not known is null."""
        return frame_of_rows(self.rows())

    def to_pandas(self) -> Any:
        """Return the rows as a pandas frame; pandas is no dependency of ours."""
        return pandas_of_rows(self.rows())

    def plot(self) -> Any:
        """Draw the picture that belongs to the result, an Altair chart; needs the extra ``report``."""
        # By name, since rooms of results know nothing of pictures.
        return import_module("sparingly.show.figures.charts").figure(self)

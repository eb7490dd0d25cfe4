"""What is in an evaluation set or a selection, what is missing, what is odd, and whom it over-represents."""

from __future__ import annotations

from sparingly.data.describe.description import Description, describe
from sparingly.data.describe.representation import Representation, representation
from sparingly.data.describe.summary import as_html, one_line

__all__ = ["Description", "Representation", "as_html", "describe", "one_line", "representation"]

"""What is in an evaluation set or a selection, what is missing, what is odd, and whom it over-represents."""

from __future__ import annotations

from sparingly.data.describe.description import Description, describe
from sparingly.data.describe.representation import Representation, representation

__all__ = ["Description", "Representation", "describe", "representation"]

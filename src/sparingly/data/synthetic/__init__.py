"""Made-up evaluation sets: the generator, and one set that is always the same."""

from __future__ import annotations

from sparingly.data.synthetic.generate import load_invented, make_evalset

__all__ = ["load_invented", "make_evalset"]

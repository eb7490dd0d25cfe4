"""Made-up evaluation sets: the generator, and the demo set that ships with the package."""

from __future__ import annotations

from sparingly.data.synthetic.demo import load_demo, write_demo
from sparingly.data.synthetic.generate import make_evalset

__all__ = ["load_demo", "make_evalset", "write_demo"]

"""Write the invented set: ``python -m sparingly.data.synthetic demo/data.jsonl``."""

from __future__ import annotations

import sys
from pathlib import Path

from sparingly.data.io import save
from sparingly.data.synthetic.generate import load_invented

path = Path(sys.argv[1])
path.parent.mkdir(parents=True, exist_ok=True)
save(load_invented(), path)

"""``python -m sparingly`` is the command ``sparingly``."""

from sparingly.cli import main

main()

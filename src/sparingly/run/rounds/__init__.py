"""Rounds: what to judge next, from what is judged so far, and when to stop.

Importing this package registers its strategies; a new one is a file of its own and a line here.
"""

from sparingly.run.rounds.casf import Casf
from sparingly.run.rounds.incremental_strata import IncrementalStrata
from sparingly.run.rounds.one_shot import OneShot

__all__ = ["Casf", "IncrementalStrata", "OneShot"]

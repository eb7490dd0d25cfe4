"""Rounds: what to judge next, from what is judged so far, and when to stop.

Importing this package registers its strategies; a new one is a file of its own and a line here.
"""

from sparingly.run.rounds.active_testing import ActiveTesting
from sparingly.run.rounds.allocate import Allocate
from sparingly.run.rounds.auto import Auto
from sparingly.run.rounds.casf import Casf
from sparingly.run.rounds.d_optimal import DOptimal
from sparingly.run.rounds.diffuse_iterative import DiffuseIterative
from sparingly.run.rounds.incremental_strata import IncrementalStrata
from sparingly.run.rounds.strategy import OneShot
from sparingly.run.rounds.waves import Waves

__all__ = [
    "ActiveTesting",
    "Allocate",
    "Auto",
    "Casf",
    "DOptimal",
    "DiffuseIterative",
    "IncrementalStrata",
    "OneShot",
    "Waves",
]

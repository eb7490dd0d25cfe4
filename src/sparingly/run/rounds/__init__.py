"""Rounds: what to judge next, from what is judged so far, and when to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparingly.base.catalogue import class_getter

if TYPE_CHECKING:
    from sparingly.run.rounds.active_testing import ActiveTesting as ActiveTesting
    from sparingly.run.rounds.auto import Auto as Auto
    from sparingly.run.rounds.pairs import DOptimal as DOptimal
    from sparingly.run.rounds.pairs import RandomPairs as RandomPairs
    from sparingly.run.rounds.strategy import OneShot as OneShot
    from sparingly.run.rounds.waves import Waves as Waves

__getattr__ = class_getter(__name__)

"""How sure a fit of item response theory is; see the page of the method ``irt``."""

from benchmarks.irt_intervals.posterior import IntervalFit, fit_intervals

__all__ = ["IntervalFit", "fit_intervals"]

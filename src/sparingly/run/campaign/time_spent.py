"""What time answers took: of one rater, or of all of them."""

from __future__ import annotations


class TimeSpent:
    """Hours and seconds an answer, from what was counted; some answers come without their time."""

    answers: int
    seconds: float
    without_time: int

    @property
    def hours(self) -> float:
        """The hours of all answers together."""
        return self.seconds / 3600

    @property
    def seconds_per_answer(self) -> float | None:
        """The mean over the answers that have a time; None where none has."""
        timed = self.answers - self.without_time
        return self.seconds / timed if timed else None

"""What an organiser does with a campaign beside its rounds; a part of ``Campaign``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from sparingly.run.campaign.findings import Findings, findings
from sparingly.run.campaign.hours import RaterHours, hours
from sparingly.run.campaign.outlook import Outlook, outlook
from sparingly.run.campaign.overview import Overview, overview
from sparingly.run.campaign.pause import pause, resume
from sparingly.run.campaign.release import Release, release

if TYPE_CHECKING:
    from sparingly.run.campaign.campaign import Campaign


class Organising:
    """Looking after a campaign: how far it is, what came of it, pauses, hours and releases."""

    def overview(self) -> Overview:
        """Say how far every round and every rater is, and what it cost; quick, nothing is estimated."""
        return overview(self._campaign)

    def findings(self, at: int | None = None) -> Findings:
        """Rank the models of every data set and tell how well raters agree, now or at a number."""
        return findings(self._campaign, at)

    def outlook(self, data: str | None = None) -> Outlook:
        """Say what the next round would ask and when it would stop; nothing is drawn."""
        return outlook(self._campaign, data)

    def pause(self, reason: str = "") -> int:
        """Hand out no more questions until ``resume``; answers are still taken."""
        return pause(self._campaign, reason)

    def resume(self) -> int:
        """Hand out questions again."""
        return resume(self._campaign)

    def hours(self, at: int | None = None) -> tuple[RaterHours, ...]:
        """Return how long every rater worked, by the seconds that came with the answers."""
        return hours(self._campaign, at=at)

    def release(
        self,
        path: str | Path,
        *,
        licence: str,
        title: str | None = None,
        comments: bool = False,
        texts: bool = True,
        seed: int | None = None,
    ) -> Release:
        """Write an anonymised release: data card, ratings with raters as numbers, rounds and data.

        Args:
            path: The folder to make, or the ``.zip`` to write.
            licence: Under which licence it is given away, such as ``CC-BY-4.0``.
            title: What the data card calls it; the campaign's name unless given.
            comments: Whether what raters wrote is given away, too.
            texts: Whether the data sets are given away with it.
            seed: Settles which rater gets which number; a new random one unless given. Publish it nowhere.
        """
        return release(
            self._campaign, path, licence=licence, title=title, comments=comments, texts=texts, seed=seed
        )

    @property
    def _campaign(self) -> Campaign:
        return cast("Campaign", self)

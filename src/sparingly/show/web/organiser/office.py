"""What the organiser's pages work with: the campaign, and what was computed of it."""

from __future__ import annotations

from threading import Lock
from typing import ClassVar
from weakref import WeakKeyDictionary

from sparingly.run.campaign.findings import Findings, findings
from sparingly.run.campaign.outlook import Outlook, outlook
from sparingly.run.campaign.overview import Overview, last_entry, overview
from sparingly.show.web.organiser.keeper import Keeper
from sparingly.show.web.web import Web


class Office:
    """Looks after a campaign for its organiser."""

    _open: ClassVar[WeakKeyDictionary[Web, Office]] = WeakKeyDictionary()
    _opening = Lock()

    def __init__(self, web: Web) -> None:
        campaign = web.campaign
        self.campaign, self.access, self.audit = campaign, web.access, web.audit
        # Whoever knows the names cannot find out the numbers without the secret, and they stay the same.
        self.release_seed = int(web.sessions.handle("release")[:15], 16)

        self.compares = campaign.compares(next(iter(campaign.settings.budgets)))

        def number() -> int:
            return last_entry(campaign)

        self.findings: Keeper[Findings] = Keeper(lambda seq: findings(campaign, seq), number)
        self.outlooks: Keeper[tuple[Outlook, ...]] = Keeper(
            lambda _: tuple(outlook(campaign, name) for name in campaign.settings.budgets), number
        )

    @classmethod
    def of(cls, web: Web) -> Office:
        """Return the one office of an application."""
        with cls._opening:
            return cls._open.setdefault(web, cls(web))

    def overview(self) -> Overview:
        """Say how far the campaign is."""
        return overview(self.campaign)

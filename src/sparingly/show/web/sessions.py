"""Sessions: a link is exchanged once for a signed cookie, which says who somebody is and nothing else."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Any, Literal

from itsdangerous import BadSignature, URLSafeTimedSerializer

from sparingly.base.errors import UsageError
from sparingly.run.campaign.access import STAFF, Access, Role, digest_of

# What a cookie opens: a browser has one session of each.
Door = Literal["rater", "organiser"]
DOORS: tuple[Door, ...] = ("rater", "organiser")
# A month: longer than most campaigns, and the link opens a new session at any time.
MOST_SECONDS = 30 * 24 * 3600
_LEAST_SECRET = 32


@dataclass(frozen=True)
class Session:
    """Somebody who came in by a link; where that link is retired (by its token's digest), the session ends.

    The organiser has no name of a rater.
    """

    id: str
    role: Role
    rater: str
    digest: str

    @property
    def actor(self) -> str:
        """The name for the audit log."""
        return f"{self.role} {self.rater}".rstrip()

    @property
    def door(self) -> Door:
        """Whose pages it opens."""
        return "organiser" if self.role in STAFF else "rater"


class Sessions:
    """Begins sessions and recognises them again, with one secret for all signatures.

    Attributes:
        access: The links of the campaign.
        cookies: What the cookie of each door is called.
    """

    def __init__(self, secret: str, access: Access, place: str = "") -> None:
        if len(secret) < _LEAST_SECRET:
            raise UsageError(f"The secret of the web pages has at least {_LEAST_SECRET} letters.")
        self.access, self._key = access, secret.encode()
        self._signers = {role: URLSafeTimedSerializer(secret, salt=f"session {role}") for role in DOORS}
        # Browsers keep the cookies of all ports of a machine together: every campaign has names of its own.
        suffix = self.handle("cookies", access.campaign, *filter(None, [place]))[:8]
        self.cookies: dict[Door, str] = {door: f"sparingly_{door}_{suffix}" for door in DOORS}

    def begin(self, token: str, door: Door, cookie: str | None = None) -> tuple[Session, str] | None:
        """Return a session with the text of its cookie, or None where the token opens nothing.

        Where the cookie that is there is of the same person, the session goes on: pages that are open in
        another tab stay good.
        """
        entry = self.access.open_to(digest_of(token))
        if entry is None or (entry.role in STAFF) != (door == "organiser"):
            return None
        current = self.read(cookie, door)
        goes_on = current is not None and (current.rater, current.role) == (entry.rater, entry.role)
        name = current.id if current is not None and goes_on else secrets.token_urlsafe(16)
        session = Session(name, entry.role, entry.rater, entry.digest)
        return session, self._signers[door].dumps([session.id, session.digest])

    def read(self, cookie: str | None, door: Door) -> Session | None:
        """Return the session of a cookie: signed by us, not ended, and its link was not retired."""
        values = self._loaded(cookie, door)
        entry = None if values is None else self.access.open_session(values[1], values[0])
        if values is None or entry is None or (entry.role in STAFF) != (door == "organiser"):
            return None
        return Session(values[0], entry.role, entry.rater, entry.digest)

    def end(self, session: Session) -> None:
        """End a session: its cookie opens nothing any more, wherever it is."""
        self.access.end_session(session.id, after=MOST_SECONDS)

    def link_of(self, cookie: str | None, door: Door) -> str | None:
        """Return the digest of the link that a cookie is signed for, without asking the database."""
        values = self._loaded(cookie, door)
        return None if values is None else values[1]

    def csrf(self, session: Session) -> str:
        """Return what every form of a session sends back: no other site can know it."""
        return self.handle("csrf", session.role, session.id)

    def csrf_fits(self, session: Session, token: str | None) -> bool:
        """Say whether a form was ours."""
        return token is not None and hmac.compare_digest(self.csrf(session).encode(), token.encode())

    def handle(self, *parts: str) -> str:
        """Return a name for something that tells nothing about it and cannot be made up by others."""
        message = "".join(f"{len(part)}:{part}" for part in parts)
        return hmac.new(self._key, message.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:32]

    def _loaded(self, cookie: str | None, door: Door) -> tuple[str, str] | None:
        if not cookie:
            return None
        try:
            values: Any = self._signers[door].loads(cookie, max_age=MOST_SECONDS)
        except BadSignature:
            return None
        return (str(values[0]), str(values[1])) if isinstance(values, list) and len(values) == 2 else None

"""What a real child process does: work on a campaign until it is done, or killed in the middle."""

from __future__ import annotations

import os
import resource
import signal
import threading
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection as Pipe
from multiprocessing.synchronize import Barrier
from typing import Any, Literal

from sqlalchemy import event

from sparingly.base.errors import SparinglyError
from sparingly.run.campaign.campaign import Campaign
from tests.run.campaign.made import made_set, row, true_score

Kind = Literal["before", "after", "commit", "committing", "committed", "never"]
KINDS: tuple[Kind, ...] = ("before", "after", "commit", "committing", "committed")
WRITES = ("INSERT", "UPDATE")


@dataclass
class Killer:
    """Kills its own process (SIGKILL) at a chosen write, or at the end of that write's transaction."""

    kind: Kind
    number: int
    delay: float = 0.0
    writes: int = 0

    def watch(self, campaign: Campaign) -> None:
        """Count the writes of a campaign."""
        engine = campaign.database.engine
        event.listen(engine, "before_cursor_execute", self._before)
        event.listen(engine, "after_cursor_execute", self._after)
        event.listen(engine, "commit", self._commit)
        event.listen(engine.pool, "checkin", self._checkin)

    @property
    def reached(self) -> bool:
        return self.writes >= self.number

    def _before(self, _c: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.lstrip().startswith(WRITES):
            self.writes += 1
            if self.kind == "before" and self.writes == self.number:
                die()

    def _after(self, _c: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if self.kind == "after" and self.writes == self.number and statement.lstrip().startswith(WRITES):
            die()

    def _commit(self, _connection: Any) -> None:
        if self.reached and self.kind == "commit":
            die()
        if self.reached and self.kind == "committing":
            # From another thread, while this one is inside the commit.
            threading.Thread(target=self._later, daemon=True).start()

    def _checkin(self, _connection: Any, _record: Any) -> None:
        if self.reached and self.kind == "committed":
            die()

    def _later(self) -> None:
        time.sleep(self.delay)
        die()


def die() -> None:
    """End this process as the kernel would, with nothing tidied up."""
    os.kill(os.getpid(), signal.SIGKILL)


def work(campaign: Campaign, pipe: Pipe | None = None) -> None:
    """Draw rounds and answer them truthfully, one answer a transaction, and tell what was acknowledged."""
    data = made_set()
    while True:
        step = campaign.next()[0]
        if step.finished is not None and not step.outstanding:
            return
        for question in campaign.questions():
            sent = row(question, true_score(data, question.item, question.model), client=question.item)
            campaign.record([sent])
            if pipe is not None:
                pipe.send((question.item, question.model, sent["score"]))


def work_until_killed(where: str, killer: Killer, pipe: Pipe) -> None:
    """Be the child that is killed."""
    campaign = Campaign(where)
    killer.watch(campaign)
    work(campaign, pipe)
    pipe.send("done")


def work_until_full(where: str, most_bytes: int, pipe: Pipe) -> None:
    """Be the child whose disk is full: no file may grow beyond a size."""
    campaign = Campaign(where)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, resource.RLIM_INFINITY))
    question = campaign.questions()[0]
    try:
        for number in range(100_000):
            comment = "many words " * 40
            campaign.record([row(question, 50, client=str(number), comment=comment)])
            pipe.send(number)
    except SparinglyError as error:
        pipe.send(str(error))


def draw_at_once(where: str, barrier: Barrier, pipe: Pipe) -> None:
    """Be one of several that draw the next round at the same moment."""
    campaign = Campaign(where)
    barrier.wait()
    step = campaign.next(early=True)[0]
    assert step.selection is not None
    pipe.send((step.number, list(step.selection.items), step.new))


def post_at_once(where: str, rows: list[dict[str, Any]], barrier: Barrier, pipe: Pipe) -> None:
    """Be one of several that send answers at the same moment, one by one."""
    campaign = Campaign(where)
    barrier.wait()
    counts = [0, 0, 0]
    for sent in rows:
        recorded = campaign.record([sent])
        for place, name in enumerate(("new", "correction", "same")):
            counts[place] += getattr(recorded, name)
    pipe.send(counts)

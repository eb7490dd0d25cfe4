"""What a command is about: data files, data with a selection, or a campaign; found out from what is given."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

from sparingly.base.errors import MissingDataError, UsageError
from sparingly.cli.options import DEFAULT_READ_OPTIONS, ReadOptions, print_roles, the_aspect
from sparingly.cli.parameters import about, options
from sparingly.data import files
from sparingly.data.io.format import Head
from sparingly.data.roles import likeliest_metrics

if TYPE_CHECKING:
    from sparingly.data.evalset import EvalSet
    from sparingly.data.selection import Selection
    from sparingly.run.campaign.campaign import Campaign

Sources = Annotated[
    tuple[str, ...], about("The data (several files join by item), data and a selection, or a campaign.")
]
Address = Annotated[str, about("The campaign's file, or the URL of its database.")]
Name = Annotated[str | None, about("The campaign's name, where the database holds several.")]
DataName = Annotated[str | None, about("The data set, where there are several.")]
Ask = Annotated[
    Literal["scores", "pairs"],
    about("What people give: scores of outputs, or which of two is better (pairs)."),
]
At = Annotated[int | None, about("As it was at this entry of the journal.")]


@Parameter(name="*", group=Group("Of a campaign", sort_key=1))
@dataclass(frozen=True)
class InCampaign:
    """What of a campaign is meant."""

    data: DataName = None
    at: At = None
    name: Name = None


WHOLE_CAMPAIGN = InCampaign()


@options
class SourceOptions:
    """How what a command is about is read, and what of a campaign is meant."""

    campaign: InCampaign = WHOLE_CAMPAIGN
    reading: ReadOptions = DEFAULT_READ_OPTIONS

    def open(self, sources: Sequence[str], *, show_roles: bool = True) -> AbstractContextManager[Subject]:
        """Return what the sources are; a campaign is open meanwhile."""
        return subject_of(sources, self.reading, self.campaign, show_roles=show_roles)


DEFAULT_SOURCE = SourceOptions()
_OWN_FORMAT = re.compile(rb'"sparingly/(selection|estimate|ranking)"')


def is_campaign(address: str | Path) -> bool:
    """Say whether something given to a command is a campaign: a URL, or a file of SQLite without traces."""
    if "://" in str(address):
        return True
    path = Path(address)
    with files.naming(path):
        if not path.is_file():
            return False
        with path.open("rb") as file:
            if file.read(16) != b"SQLite format 3\x00":
                return False
    from sparingly.data.io.mlflow import MlflowTraces

    return not MlflowTraces().recognises(Head(path))


def opened(address: str, name: str | None) -> Campaign:
    """Return a campaign, open."""
    from sparingly.run.campaign.campaign import Campaign

    return Campaign(address, name)


@dataclass(frozen=True)
class Subject:
    """What a command is about."""

    sources: tuple[str, ...]  # what was given: files, or the campaign's address
    selection: Selection | None = None  # what was chosen, where a selection was given
    campaign: Campaign | None = None  # the campaign, open, where one was given
    part: InCampaign = WHOLE_CAMPAIGN  # which data set and entry of the campaign is meant
    files: tuple[Path, ...] = ()  # the data files
    _reading: ReadOptions = DEFAULT_READ_OPTIONS
    _show_roles: bool = True

    @property
    def title(self) -> str:
        """What it is called in sentences."""
        return " ".join(map(str, self.files)) or self.sources[0]

    @property
    def typed(self) -> str:
        """What stands after a command."""
        return shlex.join(self.sources)

    def with_aspect(self, named: str | None) -> str:
        """Return what stands after a command that is about the same aspect."""
        return self.typed if named is None else f"{self.typed} --aspect {shlex.quote(named)}"

    @property
    def names(self) -> list[str]:
        """The data files, or the campaign."""
        return [str(file) for file in self.files] or list(self.sources)

    @cached_property
    def data(self) -> EvalSet:
        """The data, with the answers of the campaign that count."""
        if self.campaign is not None:
            return self.campaign.data(self.part.data, at=self.part.at)
        data = self._reading.load(*self.files)
        if self._show_roles:
            print_roles(data)
        return data

    @property
    def set_names(self) -> list[str]:
        """The data sets of the campaign that are meant: all of them unless one is named."""
        if self.campaign is None:
            return []
        settings = self.campaign.settings
        return list(settings.budgets) if self.part.data is None else [settings.data_named(self.part.data)]

    @property
    def compares(self) -> bool:
        """Whether the files hold comparisons of two outputs and no scores of people."""
        return self.campaign is None and not self.data.aspects and len(self.data.preferences) > 0

    def scores(self, named: str | None) -> tuple[str, EvalSet]:
        """Return what was judged, and the data; where nobody judged anything, the scores of a metric.

        It is the judge, or else metric, that has the most scores, and a note says so. Items that it does not
        score, such as those of another task, are no sample of what is left to judge: they are left out.
        """
        import numpy as np

        data, metrics = self.data, list(self.data.metrics)
        # What was chosen to be judged waits for people.
        if named is None and self.selection is None and not data.aspects and metrics:
            items = {name: ~np.isnan(scores).all(axis=1) for name, scores in data.metrics.items()}
            likely = likeliest_metrics(metrics, data.roles)
            named = max(likely, key=lambda name: int(items[name].sum()))
            if others := [name for name in metrics if name != named]:
                choice = f"; choose another with --aspect: {', '.join(others)}"
            else:
                choice = ""
            sys.stderr.write(f"sparingly: no human labels, so scores are those of {named}{choice}.\n")
        if named in metrics and named not in data.aspects and data.roles is not None:
            data.roles.check_metric(named)
        if named in metrics and named not in data.aspects and self.selection is None:
            scored = ~np.isnan(data.metrics[named]).all(axis=1)
            if scored.any() and not scored.all():
                sys.stderr.write(
                    f"note: {named} scores {scored.sum():,} of {len(data):,} items; only these count.\n"
                )
                data = data.at(np.flatnonzero(scored))
        return self.aspect(named), data

    def aspect(self, named: str | None) -> str:
        """Return what was judged: what was named, what the campaign is about, or the only aspect."""
        if self.campaign is not None:
            about = self.campaign.settings.aspect
            if named not in (None, about):
                raise UsageError(
                    f"The campaign is about {about}, which cannot be changed to {named}: leave out --aspect."
                )
            return about
        return the_aspect(self.data, named, self.typed)

    def check_answered(self) -> None:
        """Raise MissingDataError for a campaign that nobody has answered: say how to ask."""
        if self.campaign is None:
            return
        sets = self.campaign.status(self.part.at).sets
        if not any(status.answers for status in sets if status.data in self.set_names):
            raise MissingDataError(
                f"{self.title}: no labels yet. To collect some: sparingly serve {self.typed}"
            )

    def what_to_judge(self) -> Selection:
        """Return what was chosen: all items of data, all rounds of a campaign (the first is drawn)."""
        if self.campaign is None:
            if self.selection is not None:
                return self.selection
            from sparingly.choose.select import select

            sys.stderr.write(
                f"sparingly: nothing was chosen, so it is all {len(self.data)} items. To choose fewer: "
                f"sparingly select {self.typed} -b 10% -o chosen.json\n"
            )
            return select(self.data, "uniform", "100%")
        from sparingly.run.rounds.strategy import merge_rounds

        rounds = self.campaign.rounds(self.part.data, at=self.part.at)
        if not rounds:
            self.draw_first()
            rounds = self.campaign.rounds(self.part.data)
        if not rounds:
            raise UsageError(
                f"{self.title} is closed or paused, and nothing was chosen in it. Start another: "
                "sparingly campaign new NEW.db DATA --budget 100"
            )
        return merge_rounds(rounds)

    def draw_first(self) -> None:
        """Draw the first round of a campaign that has none, as its pages do when they are opened."""
        if self.campaign is not None and not any(status.rounds for status in self.campaign.status().sets):
            self.campaign.next()


@contextmanager
def subject_of(
    sources: Sequence[str],
    reading: ReadOptions,
    part: InCampaign = WHOLE_CAMPAIGN,
    *,
    show_roles: bool = True,
) -> Iterator[Subject]:
    """Yield what the sources are; a campaign is open meanwhile.

    A selection knows the file that it was chosen from, so that it can be given alone.
    """
    if campaigns := [source for source in sources if is_campaign(source)]:
        if len(sources) > 1:
            raise UsageError("A campaign knows its data and selections: give nothing but the campaign.")
        with opened(campaigns[0], part.name) as running:
            yield Subject((campaigns[0],), campaign=running, part=part)
        return
    if part != WHOLE_CAMPAIGN:
        raise UsageError(
            "--data, --at and --name are for campaigns: leave them out, or give a campaign's file."
        )
    from sparingly.data.selection import Selection

    selections = [Path(source) for source in sources if own_format(source) == "selection"]
    files = tuple(Path(source) for source in sources if own_format(source) != "selection")
    if len(selections) > 1:
        raise UsageError(f"There are two selections, {selections[0]} and {selections[1]}: give one.")
    selection = Selection.load(selections[0]) if selections else None
    if selection is not None and not files:
        files = tuple(selections[0].parent / file for file in selection.data_files)
        if not files:
            raise UsageError(f"{selections[0]} does not say what it was chosen from: give the data, too.")
    yield Subject(tuple(sources), selection, files=files, _reading=reading, _show_roles=show_roles)


def strategy_to_ask(ask: str, method: str = "auto") -> str:
    """Return the strategy that asks for this: random comparisons unless another method is named."""
    if ask == "scores":
        return method
    if method == "auto":
        return "pairs"
    from sparingly.base.registry import method_class
    from sparingly.base.text import parse_call

    if "preferences" not in method_class(parse_call(method).name).needs:
        raise UsageError(f"{method} asks for scores: leave out --method, or --ask pairs.")
    return method


def own_format(path: str | Path) -> str:
    """Return which of our results a file says it is: selection, estimate, ranking; else nothing."""
    with files.naming(path := Path(path)):
        if not path.is_file():
            return ""
    found = _OWN_FORMAT.search(Head(path).start[:200])
    return found[1].decode() if found else ""

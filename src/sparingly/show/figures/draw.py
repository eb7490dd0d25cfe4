"""``figure``: the picture of an estimate, a ranking, a representation, growth over rounds, or curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sparingly.base.errors import UsageError
from sparingly.data.describe.representation import Representation
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.plan.growth import Growth
from sparingly.infer.rank.compare import CurveComparison
from sparingly.infer.rank.ranking import Ranking
from sparingly.show.figures.curve import draw_curves
from sparingly.show.figures.growth import draw_growth
from sparingly.show.figures.library import need_report
from sparingly.show.figures.ranks import draw_ranks
from sparingly.show.figures.scores import draw_scores
from sparingly.show.figures.shares import draw_shares

if TYPE_CHECKING:
    from altair import VConcatChart

_PICTURES: Mapping[type, Callable[[Any], VConcatChart]] = MappingProxyType(
    {
        Estimate: draw_scores,
        Ranking: draw_ranks,
        Representation: draw_shares,
        Growth: draw_growth,
    }
)


Pictured = Estimate | Ranking | Representation | Growth | CurveComparison


def figure(found: Pictured | Sequence[CurveComparison]) -> VConcatChart:
    """Return the picture of what was found, as an Altair chart that notebooks show.

    Args:
        found: An estimate, a ranking, the representation of a selection, or what ``growth`` returned; or one
            or several results of ``curve``, which are drawn together.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> scores = sparingly.estimate(data, sparingly.select(data, "uniform", 60), "overall")
        >>> sparingly.save_figure(sparingly.figure(scores), "scores.svg")
    """
    if isinstance(found, CurveComparison):
        found = [found]
    if type(found) in _PICTURES:
        draw = _PICTURES[type(found)]
    elif isinstance(found, Sequence) and all(isinstance(one, CurveComparison) for one in found):
        draw = draw_curves
    else:
        raise UsageError(f"There is no picture of {type(found).__name__}.")
    need_report()
    return draw(found)

"""``figure``: the picture of whatever an analysis found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sparingly.base.errors import UsageError
from sparingly.data.describe.representation import Representation
from sparingly.infer.analysis.base import Analysis
from sparingly.infer.analysis.chosen_norms import ChosenNorms
from sparingly.infer.analysis.cluster_norms import ClusterNorms
from sparingly.infer.analysis.difference_map import DifferenceMap
from sparingly.infer.analysis.irt_check import IrtCheck
from sparingly.infer.analysis.item_curves import ItemCurves
from sparingly.infer.analysis.success_by_norm import SuccessByNorm
from sparingly.infer.analysis.winning_distances import WinningDistances
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.plan.growth import Growth
from sparingly.infer.rank.compare import CurveComparison
from sparingly.infer.rank.ranking import Ranking
from sparingly.show.figures.clusters import draw_clusters
from sparingly.show.figures.curve import draw_curves
from sparingly.show.figures.difference_map import draw_map
from sparingly.show.figures.distances import draw_distances
from sparingly.show.figures.growth import draw_growth
from sparingly.show.figures.irt_fit import draw_irt_fit
from sparingly.show.figures.item_curves import draw_item_curves
from sparingly.show.figures.library import need_report
from sparingly.show.figures.norms import draw_norms
from sparingly.show.figures.ranks import draw_ranks
from sparingly.show.figures.scores import draw_scores
from sparingly.show.figures.shares import draw_shares
from sparingly.show.figures.success import draw_success

if TYPE_CHECKING:
    from altair import VConcatChart

_PICTURES: Mapping[type, Callable[[Any], VConcatChart]] = MappingProxyType(
    {
        ChosenNorms: draw_norms,
        ClusterNorms: draw_clusters,
        SuccessByNorm: draw_success,
        WinningDistances: draw_distances,
        DifferenceMap: draw_map,
        ItemCurves: draw_item_curves,
        IrtCheck: draw_irt_fit,
        Estimate: draw_scores,
        Ranking: draw_ranks,
        Representation: draw_shares,
        Growth: draw_growth,
    }
)


Pictured = Analysis | Estimate | Ranking | Representation | Growth | CurveComparison


def figure(found: Pictured | Sequence[CurveComparison]) -> VConcatChart:
    """Return the picture of what was found, as an Altair chart that notebooks show.

    Args:
        found: What ``chosen_norms``, ``cluster_norms``, ``success_by_norm``, ``winning_distances``,
            ``difference_map``, ``item_curves`` or ``irt_check`` returned; an estimate, a ranking, or the
            representation of a selection; or one or several results of ``curve``, which are drawn together.

    Examples:
        >>> import sparingly
        >>> from sparingly.infer.analysis.winning_distances import winning_distances
        >>> found = winning_distances(sparingly.load_demo(), truth="overall")
        >>> sparingly.save_figure(sparingly.figure(found), "distances.svg")
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

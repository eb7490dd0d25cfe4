"""Every registered method with the arguments that the contract suite gives it."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from sparingly.base.registry import Method, parse_method, registered
from sparingly.choose.design.selector import Selector
from sparingly.choose.select import as_selector
from sparingly.choose.utility.base import Utility
from tests.contracts.distilled import distilled_text
from tests.contracts.external import external_texts

# A method whose parameters all have defaults is tested as it is; those with required ones stand here, and so
# do further parameters that are worth a test.
EXAMPLES: dict[str, tuple[str, ...]] = {
    "active_testing": (
        "active_testing",
        "active_testing:regressor=none,rounds=1",
        "active_testing:pilot=0.9,goal=ranking",
    ),
    "all_settled": ("all_settled", "all_settled:target=set,valid=anytime", "all_settled:valid=fixed"),
    "auto": ("auto", "auto:rounds=3", "auto:spread=false"),
    "anchor_points": ("anchor_points", "anchor_points:features=irt,metrics=[score],weighted=false"),
    "bank": ("bank",),
    "best_settled": ("best_settled", "best_settled:target=set,alpha=0.2"),
    "comet_instant_confidence": external_texts("comet_instant_confidence:direction=low"),
    "control_variate": (
        "control_variate",
        "control_variate:covariance=published,crossfit=false,guard=false",
        "control_variate:variate=several",
        "control_variate:variate=mean,metrics=[score,output_length],folds=3",
        "control_variate:variate=knn,neighbours=9",
    ),
    "cube": (
        "cube:balance=[metrics,domain,source_length]",
        "cube:balance=[cost,output_length],utility=(metric_avg),tau=0.8",
    ),
    "diffuse": (
        "diffuse",
        "diffuse:pairs=concat,weighted=true",
        "diffuse:pairs=mean,representative=euclidean",
        'diffuse:models=[base,"large (beam = 4)"],representative=norm',
        "diffuse:linkage=cosine,representative=random",
        "diffuse:linkage=kmeans",
        "diffuse:features=source",
    ),
    "distilled": (distilled_text(),),
    "diversity": (
        "diversity",
        "diversity:similarity=unigram",
        "diversity:similarity=chrf",
        "diversity:similarity=bleu,tokeniser=intl",
    ),
    "documents": ("documents", "documents:chance=size,weights=weight"),
    "facility_location": (
        "facility_location",
        "facility_location:space=source",
        "facility_location:space=output_mean",
        "facility_location:space=difference",
    ),
    "futility": ("futility", "futility:question=best,chance=0.3"),
    "guided": (
        "guided:design=uniform,k=5",
        "guided:design=(snippets:context=0),k=4,agreement=kendall",
        "guided:design=(pivotal:utility=(metric_var)),under=output_length,k=3",
    ),
    "greg": ("greg", "greg:crossfit=false", "greg:guard=false,folds=3"),
    "heuristic": ("heuristic", "heuristic:outer=0.25,share=0.3"),
    "hypergeometric": ("hypergeometric:models=[base,tiny]",),
    "irt": (
        "irt",
        "irt:utility=feasibility,response=binary,threshold=0.5,fit=map",
        "irt:utility=information,information=exact,fit=map",
    ),
    "kmeans": (
        "kmeans",
        "kmeans:features=output,weighted=true",
        "kmeans:features=output,model=tiny",
        "kmeans:features=output_mean",
    ),
    "local_pivotal": (
        "local_pivotal",
        "local_pivotal:space=source,utility=(metric_var)",
        "local_pivotal:space=output_mean,dimensions=2,documents=false",
        "local_pivotal:space=difference,weights=weight",
    ),
    "margin_settled": (
        "margin_settled:margin=2",
        "margin_settled:margin=0.5,question=non-inferior,model=base,against=tiny",
    ),
    "max_discrepancy": (
        "max_discrepancy",
        "max_discrepancy:space=metrics,diversity=0",
        "max_discrepancy:space=metrics,metrics=[score],diversity=0.5",
    ),
    "metric_avg": ("metric_avg", "metric_avg:metric=output_length"),
    "metric_cons": ("metric_cons", "metric_cons:correlation=kendall", "metric_cons:correlation=pairwise"),
    "metric_var": ("metric_var", "metric_var:metric=output_length"),
    "mix": (
        "mix:of=(metric_avg)+(2*metric_var)",
        "mix:of=(metric_avg)+(-0.5*metric_cons),scale=zscore",
        "mix:of=(metric_var)+(metric_avg:metric=source_length),scale=minmax,operation=product",
    ),
    "one_shot": ("one_shot:selector=(uniform),rounds=3", "one_shot:selector=(top:utility=(metric_var))"),
    "pivotal": (
        "pivotal",
        "pivotal:utility=(metric_cons),tau=0.5",
        "pivotal:utility=(metric_var),floor=0.1",
        "pivotal:utility=(residual_size:aspect=overall),tau=pilot",
        "pivotal:same_outputs=skip",
    ),
    "precomet": external_texts("precomet", "precomet:target=diffdisc"),
    "ppi": ("ppi", "ppi:power=0.5", "ppi:guard=false"),
    "residual_size": (
        "residual_size:aspect=overall",
        "residual_size:aspect=overall,goal=ranking,metrics=[score]",
    ),
    "search": (
        "search:n=20",
        "search:kind=bruteforce,n=20",
        "search:kind=beam,n=10,beam=3,step=4",
        "search:under=output_length,n=20",
        "search:oracle=true,truth=overall,n=20",
    ),
    "sentinel_src": external_texts("sentinel_src:scores=da"),
    "snippets": (
        "snippets",
        "snippets:kind=segment,context=2",
        "snippets:kind=document,chance=size",
        "snippets:kind=fixed,max_length=3",
        "snippets:wrap=true,weights=weight",
    ),
    "stratified": (
        "stratified",
        "stratified:by=metrics,size=10",
        "stratified:by=topic,allocation=optimal,weights=weight",
        "stratified:by=domain,allocation=optimal,residual=cost,rounding=published",
        "stratified:by=source_length,size=12,allocation=optimal,spread=score",
    ),
    "verdicts": ("verdicts:metric=score", "verdicts:metric=score,cut=0.5"),
    "systematic": (
        "systematic",
        "systematic:order=domain,unit=item",
        "systematic:utility=(metric_avg),order=utility,weights=weight",
        "systematic:order=score",
    ),
    "stratified_mean": ("stratified_mean", "stratified_mean:by=domain"),
    "top": ("top:utility=(metric_var)", "top:utility=(mix:of=(metric_avg)+(metric_cons)),floor=1"),
    "uncertainty": ("uncertainty", "uncertainty:direction=low"),
    "waves": (
        "waves",
        "waves:regressor=none,waves=3",
        "waves:tau=0.5,goal=scores,draw=local_pivotal,pilot=0.9",
    ),
    "weighted_mean": ("weighted_mean", "weighted_mean:form=horvitz_thompson"),
    "width_reached": ("width_reached:w=1", "width_reached:w=9,valid=anytime"),
}
DESIGNS: tuple[dict[str, str], ...] = (
    {},
    {"balance": "domain"},
    {"balance": "topic", "quota": "share"},
    {"unit": "document"},
    {"unit": "document", "balance": "domain"},
    {"cost": "cost"},
    {"cost": "length", "balance": "domain"},
    {"cost": "fit", "unit": "document"},
)


def examples(name: str) -> tuple[str, ...]:
    """Return the texts by which a method is tested."""
    needed = [part.name for part in fields(registered()[name]) if part.default is MISSING]
    if name not in EXAMPLES and needed:
        raise AssertionError(f"The method {name} needs {needed}: give it an example in {__file__}.")
    return EXAMPLES.get(name, (name,))


def chooses(method: type[Method] | Method) -> bool:
    """Whether a method can be handed to ``select``."""
    kind = method if isinstance(method, type) else type(method)
    return issubclass(kind, Utility | Selector)


def all_texts() -> list[str]:
    """Return the examples of every registered method."""
    return [text for name in registered() for text in examples(name)]


def utility_texts() -> list[str]:
    """Return the examples of every registered utility."""
    return [text for text in all_texts() if isinstance(parse_method(text), Utility)]


def chooser_texts() -> list[str]:
    """Return the examples of every method that chooses items."""
    return [text for text in all_texts() if chooses(parse_method(text))]


def estimator_texts() -> list[str]:
    """Return the examples of every registered estimator."""
    return [text for text in all_texts() if parse_method(text).kind == "estimator"]


def designs_of(text: str) -> list[dict[str, Any]]:
    """Return the designs that a method takes; one that has no such parameters is tested without."""
    known = {part.name for part in fields(as_selector(text))}
    # Where groups have no quotas, balance means another thing.
    known -= set() if "quota" in known else {"balance"}
    return [design for design in DESIGNS if set(design) <= known]

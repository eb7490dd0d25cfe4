"""Every registered method with the arguments that the contract suite gives it."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from sparingly.base.registry import Method, parse_method, registered
from sparingly.choose.design.base import Selector
from sparingly.choose.select import as_selector
from sparingly.choose.utility.base import Utility

# A method whose parameters all have defaults is tested as it is; those with required ones stand here, and so
# do further parameters that are worth a test.
EXAMPLES: dict[str, tuple[str, ...]] = {
    "diffuse": (
        "diffuse",
        "diffuse:pairs=concat,weighted=true",
        "diffuse:pairs=mean,representative=euclidean",
        'diffuse:models=[base,"large (beam = 4)"],representative=norm',
        "diffuse:linkage=cosine,representative=random",
        "diffuse:linkage=kmeans",
        "diffuse:features=source",
    ),
    "diversity": (
        "diversity",
        "diversity:similarity=unigram",
        "diversity:similarity=chrf",
        "diversity:similarity=bleu,tokeniser=intl",
    ),
    "heuristic": ("heuristic", "heuristic:outer=0.25,share=0.3"),
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
    "metric_avg": ("metric_avg", "metric_avg:metric=output_length"),
    "metric_cons": ("metric_cons", "metric_cons:correlation=kendall", "metric_cons:correlation=pairwise"),
    "metric_var": ("metric_var", "metric_var:metric=output_length"),
    "mix": (
        "mix:of=(metric_avg)+(2*metric_var)",
        "mix:of=(metric_avg)+(-0.5*metric_cons),scale=zscore",
        "mix:of=(metric_var)+(metric_avg:metric=source_length),scale=minmax,operation=product",
    ),
    "search": (
        "search:n=20",
        "search:kind=bruteforce,n=20",
        "search:kind=beam,n=10,beam=3,step=4",
        "search:under=output_length,n=20",
        "search:oracle=true,truth=overall,n=20",
    ),
    "top": ("top:utility=(metric_var)", "top:utility=(mix:of=(metric_avg)+(metric_cons)),floor=1"),
    "uncertainty": ("uncertainty", "uncertainty:direction=low"),
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


def designs_of(text: str) -> list[dict[str, Any]]:
    """Return the designs that a method takes; one that has no such parameters is tested without."""
    known = {part.name for part in fields(as_selector(text))}
    return [design for design in DESIGNS if set(design) <= known]

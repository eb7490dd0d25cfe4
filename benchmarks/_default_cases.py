"""Sets for the coverage of the default path: public ones, and made ones with known shapes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sparingly
from sparingly.base.arrays import Floats
from sparingly.data.evalset import EvalSet

# Items of a made set, and the most metrics of a public one.
SIZE, METRICS = 600, 12


@dataclass(frozen=True)
class Real:
    """A public set, what was judged, and how many of its models are taken (0: all)."""

    name: str
    aspect: str
    models: int = 0

    @property
    def label(self) -> str:
        """Its name in the table."""
        return f"{self.name} {self.aspect}"


REAL = (
    Real("biomqm_deen", "mqm_crit25"),
    Real("biomqm_enru", "mqm_crit25"),
    Real("wmt23_ende", "mqm"),
    Real("wmt23_zhen", "mqm"),
    Real("wmt24_enhi", "esa_spans"),
    Real("wmt24_encs", "esa"),
    Real("wmt21_zhen", "mqm", 2),
    Real("summeval", "consistency"),
    Real("realsumm", "litepyramid_recall"),
    Real("webnlg20_en", "Relevance"),
    Real("frank_cnndm_notext", "Other"),
    Real("personachat_usr", "Overall"),
    Real("alpacaeval2_llmjudge", "pref_vs_gpt4turbo_JUDGE_gpt4turbo", 40),
)
BINARY = tuple(
    f"binary {share:g}{judge}" for share in (0.5, 0.75, 0.9, 0.95, 0.99) for judge in ("", " judge")
)
MADE = ("mqm80", "ordinal", "documents", *BINARY)


class RealCase:
    """A public set: as it is, and drawn anew from itself."""

    def __init__(self, parts: dict[str, Any]) -> None:
        self.parts, self.truth = parts, np.asarray(parts["scores"].mean(axis=0))

    def drawn(self, which: str, drawn: np.random.Generator) -> tuple[EvalSet, dict[str, Floats]]:
        """Return a set, and the means that its intervals are to hold, by target."""
        if which == "set":
            if "whole" not in self.parts:
                self.parts["whole"] = _as_set(self.parts, np.arange(len(self.parts["scores"])))
            return self.parts["whole"], {which: self.truth}
        rows, documents = self._resampled(drawn)
        return _as_set(self.parts, rows, documents), {which: self.truth}

    def _resampled(self, drawn: np.random.Generator) -> tuple[NDArray[np.int64], list[str] | None]:
        count, document = len(self.parts["scores"]), self.parts["document"]
        if document is None:
            return drawn.integers(count, size=count), None
        groups = [np.flatnonzero(document == name) for name in np.unique(document)]
        picked = drawn.integers(len(groups), size=len(groups))
        names = [f"{place}" for place, code in enumerate(picked) for _ in groups[code]]
        return np.concatenate([groups[code] for code in picked]), names


def _as_set(parts: dict[str, Any], rows: NDArray[np.int64], documents: list[str] | None = None) -> EvalSet:
    """Return rows of a public set as a set of its own; texts are stood for by as many words."""
    columns = {}
    if parts["document"] is not None:
        columns["document"] = documents if documents is not None else list(parts["document"][rows])
    return EvalSet.from_arrays(
        [f"{place:05d}" for place in range(len(rows))],
        parts["models"],
        metrics={name: values[rows] for name, values in parts["metrics"].items()},
        aspects={"score": parts["scores"][rows]},
        columns=columns,
    )


def real_parts(case: Real, folder: Path, cache: Path) -> dict[str, Any]:
    """Return the arrays of a public set, read once and cached."""
    path = cache / f"{case.name}-{case.aspect}-{case.models}-{METRICS}.npz"
    if path.exists():
        return _unpacked(path)
    data = sparingly.load(folder / f"{case.name}.jsonl.gz")
    scores = data.truth(case.aspect)
    columns = np.flatnonzero(~np.isnan(scores).all(axis=0))
    if case.models:
        columns = np.sort(np.random.default_rng(0).permutation(columns)[: case.models])
    rows = np.flatnonzero(~np.isnan(scores[:, columns]).any(axis=1))
    document = data.columns.get("document")
    metrics = {name: np.asarray(data.metrics[name])[np.ix_(rows, columns)] for name in data.metrics}
    metrics |= {name: values[np.ix_(rows, columns)] for name, values in _lengths(data).items()}
    metrics = {name: values for name, values in metrics.items() if not np.isnan(values).all()}
    metrics = dict(list(metrics.items())[:METRICS])
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".part.npz")
    np.savez_compressed(
        partial,
        models=np.array([data.models[place] for place in columns]),
        scores=scores[np.ix_(rows, columns)],
        names=np.array(list(metrics)),
        values=np.array(list(metrics.values())),
        document=np.array("" if document is None else [f"{name}" for name in document[rows]]),
    )
    partial.replace(path)
    return _unpacked(path)


def _unpacked(path: Path) -> dict[str, Any]:
    with np.load(path) as arrays:
        names, values = arrays["names"].tolist(), arrays["values"]
        document = arrays["document"]
        return {
            "models": arrays["models"].tolist(),
            "scores": arrays["scores"],
            "metrics": dict(zip(names, values, strict=True)),
            "document": document if document.ndim else None,
        }


def _lengths(data: EvalSet) -> dict[str, Floats]:
    """Return the lengths of texts, which the estimator knows of where there are texts."""
    from sparingly.signals.length import OUTPUT_LENGTH, SOURCE_LENGTH, length_metric

    there = ((SOURCE_LENGTH, data.sources), (OUTPUT_LENGTH, data.outputs))
    return {f"{name} ": length_metric(data, name) for name, texts in there if texts is not None}


class MadeCase:
    """A made set: made anew for every draw."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.truth = np.mean(
            [self._made(np.random.default_rng(10_000 + k))[0].mean(0) for k in range(400)], axis=0
        )

    def drawn(self, which: str, drawn: np.random.Generator) -> tuple[EvalSet, dict[str, Floats]]:
        """Return a set, and the means that its intervals are to hold, by target: both of them."""
        scores, metrics, document = self._made(drawn)
        data = EvalSet.from_arrays(
            [f"{place:05d}" for place in range(len(scores))],
            [f"model {place}" for place in range(scores.shape[1])],
            metrics=metrics,
            aspects={"score": scores},
            columns={} if document is None else {"document": [f"{code}" for code in document]},
        )
        return data, {"set": np.asarray(scores.mean(axis=0)), "population": self.truth}

    def _made(self, drawn: np.random.Generator) -> tuple[Floats, dict[str, Floats], NDArray[np.int64] | None]:
        kind, *rest = self.name.split()
        if kind == "binary":
            return self._binary(drawn, float(rest[0]), rest[1:])
        models, document = 8, None
        hard = drawn.normal(size=(SIZE, 1))
        noise, level = drawn.normal(size=(SIZE, models)), np.linspace(-0.25, 0.25, models)
        if kind == "mqm80":
            failed = 0.6 * hard + 0.8 * noise > 0.8416 + level
            size = drawn.choice([1.0, 5.0, 10.0, 25.0], p=[0.55, 0.35, 0.07, 0.03], size=noise.shape)
            scores = -np.where(failed, size, 0.0)
        elif kind == "ordinal":
            scores = np.clip(np.round(5.0 + 0.5 * hard + 0.9 * noise + level), 1.0, 5.0)
        else:
            document = np.repeat(
                np.arange(SIZE // 8), drawn.multinomial(SIZE - SIZE // 8, np.full(SIZE // 8, 8 / SIZE)) + 1
            )
            shared = drawn.normal(size=(SIZE // 8, 1)) + 0.5 * drawn.normal(size=(SIZE // 8, models))
            scores = shared[document] + hard + noise + level
        metric = scores + 1.5 * scores.std() * drawn.normal(size=scores.shape)
        return scores, {"metric": metric}, document

    @staticmethod
    def _binary(
        drawn: np.random.Generator, share: float, options: list[str]
    ) -> tuple[Floats, dict[str, Floats], None]:
        from scipy.special import ndtri

        models = 4
        level = ndtri(share) + np.linspace(-0.2, 0.2, models)
        latent = 0.6 * drawn.normal(size=(SIZE, 1)) + 0.8 * drawn.normal(size=(SIZE, models))
        passed = (latent < level).astype(np.float64)
        if "judge" not in options:
            return passed, {}, None
        wrong = drawn.random(passed.shape) < 0.12
        return passed, {"judge": np.where(wrong, 1.0 - passed, passed)}, None


@lru_cache(maxsize=2)
def case_of(label: str, folder: Path, cache: Path) -> RealCase | MadeCase:
    """Return a case by its name in the table."""
    for one in REAL:
        if one.label == label:
            return RealCase(real_parts(one, folder, cache))
    return MadeCase(label)

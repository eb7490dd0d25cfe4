"""The signature of a ranking: the line from which it can be re-derived."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sparingly.base.text import format_number
from sparingly.data.values import as_mapping, as_number, as_text
from sparingly.infer.estimate.result import EstimateSignature, said, word
from sparingly.infer.rank.margin_tests import MarginTest


@dataclass(frozen=True)
class ClaimSignature:
    """A question with a margin: what is claimed of a model against another."""

    question: str
    model: str
    against: str
    margin: float

    def __str__(self) -> str:
        """Return the question in one line."""
        return f"{self.question}[{word(self.model)}][{word(self.against)}]{format_number(self.margin)}"

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], field: str) -> ClaimSignature:
        """Read a question back from a file's values."""
        words = {name: said(values, name, f"{field}.{name}") for name in ("question", "model", "against")}
        return cls(**words, margin=as_number(values.get("margin"), f"{field}.margin"))


@dataclass(frozen=True)
class RankingSignature:
    """How a ranking came about: the signature of its scores, how pairs were decided, and for what target."""

    scores: EstimateSignature
    test: str
    groups_by: str
    alpha: float
    decisions: str
    claim: ClaimSignature | None = None

    def __str__(self) -> str:
        """Return the signature in one line."""
        parts = [
            self.scores.estimator,
            *self.scores.about,
            f"decisions:{self.decisions}",
            f"test:{self.test}",
        ]
        parts += [f"groups_by:{self.groups_by}", f"alpha:{format_number(self.alpha)}"]
        parts += [f"scale:{self.scores.scale_text}"] if self.scores.scale_text else []
        parts += [] if self.claim is None else [f"claim:{self.claim}"]
        return "|".join((*parts, *self.scores.origin))

    @property
    def version(self) -> str:
        """The version of the package that made it."""
        return self.scores.version

    def with_claim(self, claim: MarginTest) -> RankingSignature:
        """Return the signature with a question that was asked with it."""
        return replace(self, claim=ClaimSignature(claim.question, claim.model, claim.against, claim.margin))

    def to_dict(self) -> dict[str, Any]:
        """Return the signature as plain values, for files."""
        return {
            **vars(self),
            "scores": self.scores.to_dict(),
            "claim": None if self.claim is None else vars(self.claim),
            "text": str(self),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], field: str = "signature") -> RankingSignature:
        """Read a signature back from a file's values."""
        scores, claim = as_mapping(values.get("scores"), f"{field}.scores"), values.get("claim")
        return cls(
            scores=EstimateSignature.from_dict(scores, f"{field}.scores"),
            test=said(values, "test", f"{field}.test"),
            groups_by=said(values, "groups_by", f"{field}.groups_by"),
            alpha=as_number(values.get("alpha"), f"{field}.alpha"),
            # Before, scores and decisions spoke of the same.
            decisions=as_text(values.get("decisions"), f"{field}.decisions") or said(scores, "target", field),
            claim=None
            if claim is None
            else ClaimSignature.from_dict(as_mapping(claim, f"{field}.claim"), f"{field}.claim"),
        )

"""A model that predicts the utility of sources, and its file: an archive from which no code is ever run."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.base.errors import (
    DataError,
    InputError,
    MissingDataError,
    UnknownNameError,
    UsageError,
    import_extra,
    listing,
)
from sparingly.base.registry import Method, methods_inside, parameter, register
from sparingly.base.syntax import lacking
from sparingly.choose.distil.card import NGRAMS, ModelCard, family_of
from sparingly.choose.distil.corpus import vectors_for
from sparingly.choose.distil.encoder.fitted import EncoderFit, is_encoder, load_encoder, save_encoder
from sparingly.choose.distil.learner import BITS, BoostedTrees, LightFit, LinearWeights
from sparingly.choose.distil.text_features import (
    SEEN_BITS,
    SURFACE_NAMES,
    WORD_BITS,
    blocks,
    out_of_domain_reasons,
)
from sparingly.choose.utility.base import Utility
from sparingly.data import files
from sparingly.data.evalset import EvalSet
from sparingly.data.signature import LETTERS
from sparingly.data.values import as_mapping

# --- The model and its file: an archive from which no code is ever run ---


class ScoredTexts(NamedTuple):
    """Predicted utilities of texts."""

    values: Floats  # texts × utilities, NaN where there is no text
    unlike: list[tuple[str, ...]]  # how every text differs from the training texts; empty for most


@dataclass(frozen=True, eq=False)
class DistilledModel:
    """Utilities learned from past evaluations, predicted for sources without any output.

    Û(x) ≈ U(x, M), from the source x alone (Zouhar et al. 2025, eq. 10). Use it to choose sources before
    there are models, or when not all outputs are available; its card says what it was learned from and how
    much to trust it.
    """

    card: ModelCard
    fit: LightFit | EncoderFit
    seen_ngrams: NDArray[np.uint8]  # bits of the character 4-grams that the training texts have

    def __repr__(self) -> str:
        utilities = ", ".join(
            f"{utility.name} ({utility.hold_out.spearman:.2f})" for utility in self.card.utilities
        )
        return f"DistilledModel({utilities}; {self.card.texts} texts)"

    def score(
        self, sources: EvalSet | Sequence[str | None], embedding: str | None = None, *, flags: bool = True
    ) -> ScoredTexts:
        """Return the utilities of sources (None is a missing one), and which are unlike the training texts.

        ``embedding`` has the vectors of these sources, if the model learned from precomputed vectors.
        """
        if isinstance(sources, str):
            raise UsageError("Give a list of sources, not one text.")
        source_texts = sources.sources if isinstance(sources, EvalSet) else sources
        if source_texts is None:
            raise MissingDataError(f"A distilled utility needs sources, {lacking('sources')}")
        all_texts = [text or "" for text in source_texts]
        present = np.array([bool(text) and not text.isspace() for text in all_texts], bool)
        vectors = self._vectors(sources, embedding, bool(present.any()))
        if vectors is not None:
            present &= ~np.isnan(vectors).any(axis=1)
        places = np.flatnonzero(present)
        texts = [all_texts[place] for place in places]
        values = np.full((len(all_texts), len(self.card.names)), np.nan)
        unlike: list[tuple[str, ...]] = [()] * len(all_texts)
        for block, spans in blocks(texts):
            rows = places[block]
            values[rows] = self.fit.predict_block(spans, None if vectors is None else vectors[rows])
            if flags:
                card = self.card
                reasons = out_of_domain_reasons(spans, self.seen_ngrams, card.scripts, card.thresholds)
                for row, why in zip(rows.tolist(), reasons, strict=True):
                    unlike[row] = why
        return ScoredTexts(values, unlike)

    def predict(
        self,
        sources: EvalSet | Sequence[str | None],
        utility: str | None = None,
        embedding: str | None = None,
    ) -> Floats:
        """Return one utility of every source, higher is better; NaN where there is no text."""
        return self.score(sources, embedding, flags=False).values[:, self.place_of(utility)]

    def place_of(self, utility: str | None) -> int:
        """Return the place of a utility; the only one need not be named."""
        names = self.card.names
        if utility is None and len(names) == 1:
            return 0
        if utility is None:
            raise UsageError(
                f"The model knows {len(names)} utilities: {', '.join(names)}. Add utility={names[0]}."
            )
        if utility not in names:
            raise UnknownNameError("utility in the model", utility, names)
        return names.index(utility)

    def save(self, path: str | Path) -> None:
        """Write the model, whole or not at all; ``sparingly.load_distilled`` reads it."""
        if not isinstance(self.fit, LightFit):
            save_encoder(self.card, self.fit, self.seen_ngrams, Path(path))
            return
        parts = {
            "card": json.dumps(self.card.to_dict(), ensure_ascii=True, allow_nan=False),
            "arrays": model_arrays(self),
        }
        content: bytes = check_extra().dumps(parts, compression=zipfile.ZIP_DEFLATED)
        # A later skops may write archives of another form: better to hear of it now than when it is needed.
        _read_model(content)
        files.write_bytes(Path(path), content)

    @cached_property
    def digest(self) -> str:
        """The digest of the card and of all numbers."""
        total = sha256(json.dumps(self.card.to_dict(), sort_keys=True, ensure_ascii=True).encode())
        for name, array in sorted(model_arrays(self).items()):
            total.update(f"\x1f{name}{array.shape}{array.dtype.str}".encode())
            total.update(np.ascontiguousarray(array).tobytes())
        return total.hexdigest()[:LETTERS]

    def _vectors(
        self, sources: EvalSet | Sequence[str | None], embedding: str | None, has_texts: bool
    ) -> Floats | None:
        dimensions = self.fit.dimensions
        if dimensions is None:
            if embedding is not None:
                kind = "n-grams" if self.card.features == NGRAMS else "texts"
                raise UsageError(f"The model learned from {kind}: leave out the embedding.")
            return None
        if not has_texts:
            return np.zeros((len(sources), dimensions))
        texts = sources if isinstance(sources, EvalSet) else [text or "" for text in sources]
        digest = None if embedding is not None else self.card.embedding_digest
        return vectors_for(texts, embedding or self.card.features, digest, dimensions)


# --- the file ---
# An encoder is an archive of its own kind (``encoder.fitted``).
#
# skops can hold objects of many kinds, some of which it makes by calling what the file names. A model needs
# texts, arrays of numbers and dictionaries of these, and nothing else is ever built from a file: its
# schema is read here, and any type beyond ``TRUSTED`` is refused. So applying a model does not need
# skops; only writing one does.

_LINEAR = ("rarity", "centre", "spread", "surface", "characters", "words", "vectors", "intercepts")
_NODE_ARRAYS = ("feature", "threshold", "left", "right", "value")
EXTRA = "distil"
# The kinds of things that a model's file may hold: (module, class, how skops calls it).
_DICTIONARY = ("builtins", "dict", "DictNode")
_TEXT = ("builtins", "str", "JsonNode")
_ARRAY = ("numpy", "ndarray", "NdArrayNode")
TRUSTED = (_DICTIONARY, _TEXT, _ARRAY)
_SCHEMA = "schema.json"
_MOST_BYTES = 1 << 30
_MOST_LEVELS = 3
_CUT_OFF = "Is the file cut off? Copy it again, or train the model again"
_OURS = "Use a model that was saved by sparingly distil train"


def load_distilled(path: str | Path) -> DistilledModel:
    """Read a model from its file; nothing in the file is ever run.

    Examples:
        >>> import sparingly
        >>> sparingly.load_distilled("no-such-file.skops")
        Traceback (most recent call last):
        ...
        sparingly.base.errors.InputError: no-such-file.skops: there is no such file.
    """
    path = Path(path)
    with files.naming(path):
        state = path.stat()
    return _load_file(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)
def _load_file(path: Path, changed: int, size: int) -> DistilledModel:
    """Read a file once, as long as it stays as it is."""
    with files.naming(path):
        if path.is_dir():
            raise InputError("this is a directory, not a model's file")
        if is_encoder(path):
            return DistilledModel(*load_encoder(path))
        if size > _MOST_BYTES:
            raise InputError("the file is too large for a model")
        return _read_model(path.read_bytes())


def _read_model(content: bytes) -> DistilledModel:
    """Return the model of an archive; raise InputError if it is damaged or holds anything else."""
    if content[:1] == b"\x80":
        raise InputError(
            "this is a pickle file, which can run code when it is opened, so it is not opened", fix=_OURS
        )
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(part.file_size for part in archive.infolist()) > _MOST_BYTES:
                raise InputError("the file is too large for a model")
            parts = _unpack(json.loads(archive.read(_SCHEMA)), archive)
    except InputError:
        raise
    except (zipfile.BadZipFile, EOFError, OSError, RuntimeError, NotImplementedError, zlib.error):
        raise InputError("this is not a skops file, or a damaged one", fix=_CUT_OFF) from None
    except (KeyError, ValueError, TypeError, AttributeError):
        raise InputError("this is an archive, but no distilled model", fix=_OURS) from None
    text, arrays = (parts.get("card"), parts.get("arrays")) if isinstance(parts, dict) else (None, None)
    if not isinstance(text, str) or not isinstance(arrays, dict):
        raise InputError("this is a skops file, but no distilled model", fix=_OURS)
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("the card is not JSON", field="card") from None
    numbers = {name: array for name, array in arrays.items() if isinstance(array, np.ndarray)}
    return model_from_arrays(ModelCard.from_dict(as_mapping(values, "card")), numbers)


def _unpack(plan: Any, archive: zipfile.ZipFile, level: int = 0) -> Any:
    """Build a text, an array of numbers, or a dictionary of them; raise InputError for any other type."""
    kind = tuple(plan[name] for name in ("__module__", "__class__", "__loader__"))
    if kind not in TRUSTED or level > _MOST_LEVELS:
        class_name = ".".join(map(str, kind[:2]))
        raise InputError(f"the file holds a {class_name}, which no model has, so it is not loaded", fix=_OURS)
    if kind == _DICTIONARY:
        return {str(name): _unpack(part, archive, level + 1) for name, part in plan["content"].items()}
    if kind == _TEXT:
        return json.loads(plan["content"])
    # Arrays of objects are pickles inside, and are refused.
    array = np.load(io.BytesIO(archive.read(plan["file"])), allow_pickle=False)
    if not isinstance(array, np.ndarray):
        raise TypeError("expected an array of numbers")
    return array


def check_extra() -> Any:
    """Return what writes models; raise ExtraMissingError (before a long training) if it is not there."""
    return import_extra("skops.io", "Saving a distilled model", EXTRA)


def model_arrays(model: DistilledModel) -> dict[str, NDArray[Any]]:
    """Return all arrays of a model by name."""
    fit, ngrams = model.fit, {"seen": model.seen_ngrams}
    if not isinstance(fit, LightFit):
        documents = {name: np.frombuffer(text.encode(), np.uint8) for name, text in fit.documents().items()}
        return {**fit.numbers(), **documents, **ngrams}
    weights = {name: getattr(fit.linear, name) for name in _LINEAR}
    arrays = {name: array for name, array in weights.items() if array is not None} | ngrams
    for place, trees in enumerate(fit.trees):
        arrays |= {f"trees.{place}.{name}": getattr(trees, name) for name in (*_NODE_ARRAYS, "roots")}
        arrays[f"trees.{place}.start"] = np.array([trees.start])
    return arrays


def model_from_arrays(card: ModelCard, arrays: Mapping[str, NDArray[Any]]) -> DistilledModel:
    """Build a model; raise InputError if the arrays do not fit the card."""
    count = len(card.utilities)
    if not count or len(set(card.names)) < count:
        raise InputError("the card names no utility, or one twice", field="utilities")

    def take(name: str, kind: str, *shape: int | None) -> NDArray[Any]:
        """Return an array; a wrong kind or shape, or a number that is not finite, is an error."""
        array = arrays.get(name)
        if array is None:
            raise InputError("the model lacks these numbers", field=name)
        fits = array.ndim == len(shape) and all(
            expected in (None, actual) for expected, actual in zip(shape, array.shape, strict=True)
        )
        if array.dtype != np.dtype(f"<{kind}") or not fits:
            raise InputError(f"the numbers are {array.dtype} of the shape {array.shape}", field=name)
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise InputError("a number is not finite", field=name)
        return array

    is_embedded, width = "vectors" in arrays, len(SURFACE_NAMES)
    linear = LinearWeights(
        rarity=take("rarity", "f4", 1 << WORD_BITS),
        centre=take("centre", "f8", width),
        spread=take("spread", "f8", width),
        surface=take("surface", "f8", count, width),
        characters=None if is_embedded else take("characters", "f4", count, 1 << BITS),
        words=None if is_embedded else take("words", "f4", count, 1 << BITS),
        vectors=take("vectors", "f8", count, None) if is_embedded else None,
        intercepts=take("intercepts", "f8", count),
    )
    if (linear.spread <= 0).any():
        raise InputError("a standard deviation is not above 0", field="spread")
    trees = []
    for place in range(count if card.learner == "boosting" else 0):
        start = f"trees.{place}."
        nodes = len(take(f"{start}feature", "i4", None))
        kinds = {name: "f8" if name in ("threshold", "value") else "i4" for name in _NODE_ARRAYS}
        numbers = {name: take(f"{start}{name}", kind, nodes) for name, kind in kinds.items()}
        numbers["roots"] = take(f"{start}roots", "i4", None)
        for name, limit in {"feature": width + 1, "left": nodes, "right": nodes, "roots": nodes}.items():
            array = numbers[name]
            if array.size and not 0 <= array.min() <= array.max() < limit:
                raise InputError("a tree points at something that is not there", field=f"{start}{name}")
        trees.append(BoostedTrees(**numbers, start=float(take(f"{start}start", "f8", 1)[0])))
    seen_ngrams = take("seen", "u1", (1 << SEEN_BITS) // 8)
    return DistilledModel(card, LightFit(linear, tuple(trees)), seen_ngrams)


# --- Applying a model ---


@register("distilled")
@dataclass(frozen=True)
class Distilled(Utility):
    """Prefers sources on which a utility, learned from past evaluations, is expected to be high.

    u_i = Û(x_i) ≈ U(x_i, M), where Û was learned from the sources and utilities of other sets.

    Choose it when there are no outputs yet. The file's card (``sparingly distil info``) says how well the
    utility was predicted for held-out texts, and which models are at a disadvantage if they are judged now.
    """

    reference: ClassVar[str] = "Zouhar et al. 2025, eq. 10"
    needs: ClassVar[tuple[str, ...]] = ("sources",)

    model: str = parameter(help="the file of the model, made by sparingly distil train")
    utility: str | None = parameter(None, "which of its utilities; default: the only one there is")
    embedding: str | None = parameter(
        None, "vectors of these sources, where the model learned from vectors that were given"
    )
    digest: str | None = parameter(None, "the digest of the model; filled in when something is chosen")

    def resolve(self, data: EvalSet) -> Self:
        """Fill in the utility and the digest of the model."""
        model = self.load_model()
        model.score(data.at([]), self.embedding)
        return replace(self, utility=model.card.names[model.place_of(self.utility)], digest=model.digest)

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the sources, and the column with their vectors if there is one."""
        model = self.load_model()
        if model.fit.dimensions is None:
            return frozenset({"sources"})
        from sparingly.signals.embed import embedding_fields

        return frozenset({"sources"}) | embedding_fields(self.embedding or model.card.features, outputs=False)

    def values(self, data: EvalSet) -> Floats:
        """Return the predicted utility of every source."""
        return self.load_model().predict(data, self.utility, self.embedding)

    def load_model(self) -> DistilledModel:
        """Return the model; raise DataError if its digest is not that of the signature."""
        model = load_distilled(self.model)
        if self.digest is not None and self.digest != model.digest:
            raise DataError(
                f"The model {self.model} has the digest {model.digest}, not {self.digest}: it "
                "was trained again, or is another one."
            )
        return model


_PAPER = "(Zouhar et al. 2025, section 5.3)"
_SAME_MODELS = "the distilled utility was learned on models that are judged now: "
_SAME_FAMILIES = "by their names, these models are of families that the distilled utility was learned on: "


def distilled_notes(data: EvalSet, method: Method, judged: Iterable[str]) -> tuple[str, ...]:
    """Return warnings about every distilled utility in a method."""
    notes: list[str] = []
    models = list(judged)
    for part in methods_inside(method):
        if isinstance(part, Distilled):
            model = part.load_model()
            name = model.card.names[model.place_of(part.utility)]
            notes += _all_notes(model.card, models, model.score(data, part.embedding).unlike, (name,))
    return tuple(dict.fromkeys(notes))


def _all_notes(
    card: ModelCard, judged: Sequence[str], unlike: Sequence[tuple[str, ...]], names: Sequence[str]
) -> tuple[str, ...]:
    return (*both_sides_notes(card, judged), *unlike_notes(card, unlike), *weak_notes(card, names))


def both_sides_notes(card: ModelCard, judged: Sequence[str]) -> tuple[str, ...]:
    """Warn where a model that is judged, or one of its family, is among those that were learned from."""
    trained = set(card.models)
    trained_models = [name for name in judged if name in trained]
    # A stated family does not imply the family by name: both count.
    families = {family.lower() for family in card.families.values()}
    families |= {family for name in card.models if (family := family_of(name))}
    relatives = [name for name in judged if name not in trained and family_of(name) in families]
    notes = []
    if trained_models:
        notes.append(
            f"{_SAME_MODELS}{listing(trained_models)}; each may be at a disadvantage, because items are "
            f"preferred that were telling or hard for it {_PAPER}."
        )
    if relatives:
        notes.append(f"{_SAME_FAMILIES}{listing(relatives)}; each may be at a disadvantage {_PAPER}.")
    return tuple(notes)


def learned_from_notes(card: ModelCard) -> tuple[str, ...]:
    """Name the models of the training data, when it is not known yet which will be judged."""
    if not card.models:
        return ()
    return (
        f"the utility was learned on {listing(card.models)}: if one of them is judged on what is chosen, it "
        f"may be at a disadvantage {_PAPER}.",
    )


def is_of_judged(note: str) -> bool:
    """Whether a note depends on which models are judged, which may be known only after sources are chosen."""
    return note.startswith((_SAME_MODELS, _SAME_FAMILIES))


def unlike_notes(card: ModelCard, unlike: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Warn where many texts are unlike those that were learned from, and say in what."""
    count = sum(map(bool, unlike))
    if count <= card.thresholds.flagged_share * len(unlike):
        return ()
    why = {name: sum(name in reasons for reasons in unlike) for reasons in unlike for name in reasons}
    parts = ", ".join(f"{name} ({why[name]})" for name in sorted(why, key=lambda name: (-why[name], name)))
    return (f"{count} of {len(unlike)} sources are unlike those that were learned from, by {parts}.",)


def weak_notes(card: ModelCard, names: Sequence[str] | None = None) -> tuple[str, ...]:
    """Warn about utilities that are predicted poorly for held-out texts."""
    threshold = card.thresholds.correlation
    return tuple(
        f"{utility.name} is predicted poorly for held-out texts (rank correlation "
        f"{utility.hold_out.spearman:.2f}): it may choose no better than random."
        for utility in card.utilities
        if utility.hold_out.spearman < threshold and (names is None or utility.name in names)
    )


LabelKind = Literal["column", "metric"]
SUFFIX, UNLIKE = "_src", "unlike"


class AppliedModel(NamedTuple):
    """An evaluation set with the predicted utilities of its sources, and warnings."""

    data: EvalSet  # with a column (or metric) ``NAME_src`` for every utility, and the column ``unlike``
    names: tuple[str, ...]
    scored: ScoredTexts
    notes: tuple[str, ...]


def apply_distilled(
    model: DistilledModel,
    data: EvalSet,
    utilities: Sequence[str] | None = None,
    kind: LabelKind = "column",
    embedding: str | None = None,
) -> AppliedModel:
    """Add predicted utilities to a set: as columns, or as metrics with the same score for all models.

    Items can be chosen by a metric with ``uncertainty:metric=NAME_src``; a column can stratify or order a
    draw. The column ``unlike`` says how a source differs from the training texts.
    """
    names = tuple(utilities or model.card.names)
    places = [model.place_of(name) for name in names]
    if kind == "metric" and not data.models:
        raise UsageError("The set has no models, and a metric has a score for each: add columns instead.")
    all_scores = model.score(data, embedding)
    scored = ScoredTexts(all_scores.values[:, places], all_scores.unlike)
    for place, name in enumerate(names):
        column = scored.values[:, place]
        if kind == "metric":
            data = data.with_metric(f"{name}{SUFFIX}", np.repeat(column[:, None], len(data.models), axis=1))
        else:
            data = data.with_column(f"{name}{SUFFIX}", column)
    notes = _all_notes(model.card, data.models, scored.unlike, names)
    flags = [", ".join(why) if why else None for why in scored.unlike]
    return AppliedModel(data.with_column(UNLIKE, flags), names, scored, notes)

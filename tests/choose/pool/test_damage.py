"""A scored pool whose files are damaged: an error or the same selection, and scoring again mends it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparingly.base.errors import InputError, SparinglyError
from sparingly.choose.pool.parts import CHECKSUM, NO_CHECKSUMS
from sparingly.choose.pool.score import score_pool
from sparingly.choose.pool.scored_pool import MANIFEST, ScoredPool
from sparingly.choose.pool.select import select_pool
from tests.choose.pool.pool_data import some_records, write_pool

HURTS = ("cut", "flip", "swap", "remove", "empty", "grow", "zero")
OPTIONS: dict[str, Any] = {"near": True, "embed": "hashed", "rows": 15}
TRIALS = 10


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> ScoredPool:
    """Four parts with bands and vectors."""
    folder = tmp_path_factory.mktemp("pool")
    paths = write_pool(folder / "files", [("jsonl", some_records(60))])
    return score_pool(paths, folder / "scored", **OPTIONS)


def choice(folder: Path) -> list[Any]:
    """Draw in a way that reads every file of the pool."""
    drawn = select_pool(folder, 9, design="pivotal", near=0.9, spread="embedding", clusters=4)
    return [drawn.pool_notes, drawn.selection.to_dict(), *drawn.rows]


def attempt(folder: Path) -> list[Any] | None:
    """Draw from a pool; None where that is refused."""
    try:
        return choice(folder)
    except SparinglyError:
        return None


def hurt(folder: Path, how: str, generator: np.random.Generator) -> Path:
    """Damage one file of a pool, or exchange it with another of its kind; return it."""
    found = sorted(file for file in folder.iterdir() if file.is_file())
    path = found[int(generator.integers(len(found)))]
    content = bytearray(path.read_bytes())
    place = int(generator.integers(len(content)))
    if how == "cut":
        path.write_bytes(content[:place])
    elif how == "flip":
        content[place] ^= 1 << int(generator.integers(8))
        path.write_bytes(content)
    elif how == "swap":
        ending = path.name.partition(".")[2]
        alike = [file for file in found if file.name.endswith(ending) and file != path] or [path]
        other = alike[int(generator.integers(len(alike)))]
        path.write_bytes(other.read_bytes())
        other.write_bytes(content)
    elif how == "remove":
        path.unlink()
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "grow":
        path.write_bytes(content + b"\x00 }")
    else:
        content[place : place + 64] = bytes(len(content[place : place + 64]))
        path.write_bytes(content)
    return path


def without_checksums(folder: Path) -> None:
    """Make a pool one that was scored before there were checksums."""
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    del manifest[CHECKSUM]
    for part in manifest["parts"]:
        del part["checksums"]
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


@pytest.mark.parametrize("how", HURTS)
def test_damage_is_an_error_and_never_another_selection(pool: ScoredPool, how: str, tmp_path: Path) -> None:
    generator, expected = np.random.default_rng(HURTS.index(how)), choice(pool.folder)
    refused = 0
    for trial in range(TRIALS):
        folder = tmp_path / str(trial)
        shutil.copytree(pool.folder, folder)
        path = hurt(folder, how, generator)
        # Markers are for scoring on; what is drawn from has a checksum in the manifest.
        is_marker = path.suffix == ".json" and path.name != MANIFEST
        drawn = attempt(folder)
        assert drawn == expected if is_marker else drawn is None or path.name == MANIFEST, path
        assert drawn in (None, expected), path
        refused += drawn is None
    assert refused >= TRIALS // 4


@pytest.mark.parametrize("how", ["cut", "flip", "swap", "remove"])
def test_scoring_again_mends_what_is_damaged(pool: ScoredPool, how: str, tmp_path: Path) -> None:
    files = pool.folder.parent / "files"
    generator, expected = np.random.default_rng(HURTS.index(how)), choice(pool.folder)
    for trial in range(4):
        folder = tmp_path / str(trial)
        shutil.copytree(pool.folder, folder)
        hurt(folder, how, generator)
        mended = score_pool(files / "shard-0.jsonl", folder, **OPTIONS)
        assert mended.to_dict() == pool.to_dict()
        assert choice(folder) == expected


def test_a_pool_of_before_checksums_is_read_and_says_so_once(pool: ScoredPool, tmp_path: Path) -> None:
    shutil.copytree(pool.folder, tmp_path / "old")
    without_checksums(tmp_path / "old")
    assert choice(tmp_path / "old") == [(NO_CHECKSUMS,), *choice(pool.folder)[1:]]


@pytest.mark.parametrize("how", HURTS)
def test_damage_to_a_pool_of_before_checksums_is_no_traceback(
    pool: ScoredPool, how: str, tmp_path: Path
) -> None:
    generator = np.random.default_rng(100 + HURTS.index(how))
    for trial in range(TRIALS):
        folder = tmp_path / str(trial)
        shutil.copytree(pool.folder, folder)
        without_checksums(folder)
        hurt(folder, how, generator)
        drawn = attempt(folder)
        assert drawn is None or drawn[0] == (NO_CHECKSUMS,)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("parts", 7, "a list"),
        ("parts", [{"name": "../../secret"}], "not a name of a part"),
        ("near", "yes", "neither true nor false"),
        ("good", 10**400, "are counted"),
        ("by", None, "is not an id"),
    ],
)
def test_a_manifest_that_makes_no_sense_is_one_sentence(
    pool: ScoredPool, tmp_path: Path, key: str, value: Any, words: str
) -> None:
    shutil.copytree(pool.folder, tmp_path / "old")
    without_checksums(tmp_path / "old")
    path = tmp_path / "old" / MANIFEST
    manifest = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**manifest, key: value}), encoding="utf-8")
    with pytest.raises(InputError, match=words) as caught:
        select_pool(tmp_path / "old", 9, design="uniform")
    assert str(path) in str(caught.value)

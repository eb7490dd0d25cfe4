"""A damaged SQLite file: one sentence, or a campaign that is as it was; never a traceback.

Bytes flipped, pages overwritten, files cut short, tables and columns gone, rows lost, values of another kind.
"""

from __future__ import annotations

import os
import random
import sqlite3
from pathlib import Path

import pytest

from sparingly.base.errors import SparinglyError
from sparingly.run.campaign.campaign import Campaign
from sparingly.run.campaign.release import bundle_files
from tests.run.campaign.made import answer_all, begin, made_set, row

# `make load` asks for hundreds.
SEEDS = int(os.environ.get("SPARINGLY_FAULT_POINTS", "8"))
PAGE = 4096
MODELS = ("Ash", "Beech", "Cedar", "Dogwood")
VALUES = (
    "NULL", "'abc'", "x'ff00fe'", "-1", "1e999", "99999999999999999", "''", "'[]'", "'{}'", "'null'", "0.5",
    "x''", "9223372036854775807", "cast(x'ff' AS TEXT)",
)  # fmt: skip
# What the pages keep beside the evaluation: no estimate reads it, and no journal speaks of it.
BESIDE = (
    "access", "leases", "drafts", "claims", "audit", "marks", "schema", "placements", "ended_sessions",
)  # fmt: skip


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A campaign with two rounds, a model that left, answers and a pause."""
    path, data = tmp_path_factory.mktemp("sound") / "campaign.db", made_set(24, MODELS)
    with begin(str(path), data, budget=24) as campaign:
        campaign.next()
        answer_all(campaign, data)
        campaign.next()
        campaign.record([row(one, 50.0, comment="ü") for one in campaign.questions()[:8]])
        campaign.withdraw("Dogwood")
        campaign.pause("lunch")
        campaign.resume()
    return path.read_bytes()


def look(path: Path) -> str | bool:
    """Open, verify and read everything; return whether it is verified, or the one sentence."""
    try:
        with Campaign(path) as campaign:
            verified = campaign.verify().ok
            bundle_files(campaign)
            campaign.status()
            campaign.estimate()
            campaign.outlook()
    except SparinglyError as error:
        sentence = str(error)
        assert "\n" not in sentence
        assert len(sentence) < 400
        return sentence
    return verified


def tables(path: Path) -> dict[str, list[str]]:
    connection = sqlite3.connect(path)
    names = [str(one[0]) for one in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = {
        name: [str(one[1]) for one in connection.execute(f"PRAGMA table_info({name})")] for name in names
    }
    connection.close()
    return found


def change(path: Path, statement: str) -> bool:
    """Change the file behind the campaign's back; return whether anything was changed."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA foreign_keys = OFF")
    try:
        done = connection.execute(statement).rowcount
        connection.commit()
    except sqlite3.Error:
        # Some values are refused even by SQLite.
        return False
    finally:
        connection.close()
    return done != 0


@pytest.mark.parametrize("kind", ["bits", "page", "header", "cut"])
@pytest.mark.parametrize("seed", range(SEEDS))
def test_bytes(sound: bytes, kind: str, seed: int, tmp_path: Path) -> None:
    chance, content = random.Random(seed), bytearray(sound)  # noqa: S311
    if kind == "bits":
        for _ in range(chance.choice((1, 3, 30))):
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    elif kind == "page":
        start = PAGE * chance.randrange(len(content) // PAGE)
        content[start : start + PAGE] = chance.choice((bytes(PAGE), chance.randbytes(PAGE)))
    elif kind == "header":
        content[chance.randrange(100)] = chance.randrange(256)
    else:
        del content[chance.randrange(len(content)) :]
    path = tmp_path / "campaign.db"
    path.write_bytes(bytes(content))
    look(path)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_values(sound: bytes, seed: int, tmp_path: Path) -> None:
    """A value that is another one is found, unless it lies beside the evaluation."""
    path, chance = tmp_path / "campaign.db", random.Random(seed)  # noqa: S311
    path.write_bytes(sound)
    kinds = tables(path)
    for _ in range(5):
        path.write_bytes(sound)
        table = chance.choice(sorted(kinds))
        column = chance.choice(kinds[table])
        value, most = chance.choice(VALUES), chance.choice((1, 1000))
        where = f"{column} IS NOT {value} AND rowid IN (SELECT rowid FROM {table} LIMIT {most})"  # noqa: S608
        changed = change(path, f"UPDATE {table} SET {column} = {value} WHERE {where}")  # noqa: S608
        found = look(path)
        if changed and not table.endswith(BESIDE) and column != "created_at":
            assert found is not True, (table, column, value, most)


def test_tables_columns_and_rows(sound: bytes, tmp_path: Path) -> None:
    path = tmp_path / "campaign.db"
    path.write_bytes(sound)
    for table, columns in tables(path).items():
        for statement in (
            f"DROP TABLE {table}",
            f"ALTER TABLE {table} RENAME COLUMN {columns[-1]} TO other",
            f"DELETE FROM {table} WHERE rowid = (SELECT max(rowid) FROM {table})",  # noqa: S608
            f"DELETE FROM {table}",  # noqa: S608
        ):
            path.write_bytes(sound)
            changed = change(path, statement)
            found = look(path)
            if changed and not table.endswith(BESIDE):
                assert found is not True, statement


def test_our_own_mistake_is_not_called_damage(sound: bytes, tmp_path: Path) -> None:
    path = tmp_path / "campaign.db"
    path.write_bytes(sound)
    with Campaign(path) as campaign:
        with pytest.raises(KeyError), campaign.database.reading():
            raise KeyError("a mistake of the program")
        assert campaign.verify().ok

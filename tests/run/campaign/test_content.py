from __future__ import annotations

import pytest

from sparingly.base.errors import DataError
from sparingly.data.synthetic import load_invented
from sparingly.run.campaign.datasets import from_bytes, to_bytes, unjudged


def test_a_set_comes_back_as_it_was() -> None:
    data = unjudged(load_invented())
    assert "ratings" not in data.fields
    assert not data.aspects
    content = to_bytes(data)
    assert content == to_bytes(data), "the same set gives the same bytes"
    again = from_bytes(content, data.digest(), "demo")
    assert again.digest() == data.digest()
    assert list(again.file_order) == list(data.file_order)
    assert again.name == "demo"


def test_other_content_is_refused() -> None:
    data = unjudged(load_invented())
    with pytest.raises(DataError, match='The data set "demo" in the database is damaged'):
        from_bytes(to_bytes(data.at(range(5))), data.digest(), "demo")


def test_bytes_that_are_no_set_name_the_data_set_and_no_other_file() -> None:
    content = bytearray(to_bytes(unjudged(load_invented())))
    content[len(content) // 2] ^= 1
    with pytest.raises(DataError, match=r"^The data set .wmt. in the database is damaged") as complaint:
        from_bytes(bytes(content), "digest", "wmt")
    assert "data.jsonl.gz" not in str(complaint.value)

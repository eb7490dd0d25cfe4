"""Images of the campaign's folder, and none from elsewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from sparingly.base.errors import InputError
from tests.show.web.visitor import Visitor, served, small_set

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c636060600000000400"
    "01f61738550000000049454e44ae426082"
)


def test_images_are_shown_under_names_that_tell_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "images"
    (folder / "model-a").mkdir(parents=True)
    (folder / "model-a" / "cat.png").write_bytes(PNG)
    texts = [["model-a/cat.png", "A cat: ![a cat](model-a/cat.png) on a mat", "no image"]]
    with served(tmp_path, small_set(texts), budget=1, size=1, options={"images": folder}) as app:
        anna = Visitor(app, "anna")
        page = anna.page()
        found = re.findall(r'<img src="(/rate/image/[0-9a-f]+)" alt="([^"]*)"', page)
        assert sorted(alt for _, alt in found) == ["Image", "a cat"]
        assert "model-a" not in page
        assert "on a mat" in page
        image = anna.client.get(found[0][0])
        assert (image.content, image.headers["content-type"]) == (PNG, "image/png")
        assert anna.client.get("/rate/image/cat.png").status_code == 404
        assert Visitor(app).client.get(found[0][0]).status_code == 401


@pytest.mark.parametrize("path", ["../secret.png", "/etc/secret.png", "link.png", "missing.png"])
def test_an_image_outside_the_folder_is_refused(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "images"
    folder.mkdir()
    (tmp_path / "secret.png").write_bytes(PNG)
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    data = small_set([[path, "two", "three"]])
    with (
        pytest.raises(InputError, match="is not in this folder"),
        served(tmp_path, data, budget=1, size=1, options={"images": folder}),
    ):
        pass


def test_images_are_shown_in_the_turns_of_a_chat(tmp_path: Path) -> None:
    folder = tmp_path / "images"
    folder.mkdir()
    (folder / "cat.png").write_bytes(PNG)
    said = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "cat.png"}}]
    chat = json.dumps([{"role": "user", "content": said}, {"role": "assistant", "content": "A cat."}])
    texts = [[chat, "User: look ![a cat](cat.png)\nAssistant: I see.", "cat.png"]]
    with served(tmp_path, small_set(texts), budget=1, size=1, options={"images": folder}) as app:
        anna = Visitor(app, "anna")
        page = anna.page()
        assert sorted(re.findall(r'<img src="/rate/image/[0-9a-f]+" alt="([^"]*)"', page)) == [
            "Image",
            "Image",
            "a cat",
        ]
        # Each speaker is named once, with the words and the image of the turn below.
        assert (page.count(">user</span>"), page.count(">assistant</span>")) == (2, 2)
        assert page.count("turn-user") == 4
        assert "What is this?" in page
    chat = json.dumps([{"role": "user", "content": [{"type": "image", "image": "../secret.png"}]}])
    with (
        pytest.raises(InputError, match="is not in this folder"),
        served(
            tmp_path / "images",
            small_set([[chat, "two", "three"]]),
            budget=1,
            size=1,
            options={"images": folder},
        ),
    ):
        pass

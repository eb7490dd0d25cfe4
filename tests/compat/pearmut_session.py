"""Run by the Python of Pearmut: adds a campaign, judges everything as its page does, and saves what it gives.

Arguments: the campaign, and where to save. The page is asked through Pearmut's own application.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any


def main(campaign_file: str, out: str) -> None:
    """Play a whole campaign: everybody judges, one starts anew, and one submits a document twice."""
    sys.argv = ["pearmut", "add", campaign_file]
    import_module("pearmut.cli").main()
    app = import_module("pearmut.app")
    client = import_module("fastapi.testclient").TestClient(app.app)
    ((name, campaign),) = app.campaigns_data.items()
    users = list(app.progress_data[name])
    _judge(client, name, users[0], score=1)
    reset = {"campaign_id": name, "user_id": users[0], "token": campaign["token"]}
    assert client.post("/reset-campaign", json=reset).status_code == 200
    for user in users:
        _judge(client, name, user, score=None)
    if campaign["info"]["assignment"] == "task-based":
        # Look at the first document again and send it once more.
        again = {"campaign_id": name, "user_id": users[0], "item_i": 0}
        _answer(client, name, users[0], client.post("/get-i-item", json=again).json(), None)
    found = client.get("/download-annotations", params={"campaign_id": name})
    Path(out, "annotations.json").write_bytes(found.content)
    results = client.post("/dashboard-results", json={"campaign_id": name, "token": campaign["token"]})
    Path(out, "results.json").write_bytes(results.content)


def _judge(client: Any, name: str, user: str, score: int | None) -> None:
    while True:
        shown = client.post("/get-next-item", json={"campaign_id": name, "user_id": user}).json()
        if shown["status"] == "goodbye":
            return
        _answer(client, name, user, shown, score)


def _answer(client: Any, name: str, user: str, shown: Any, score: int | None) -> None:
    answers: list[dict[str, Any]] = [
        {
            token: {
                "score": _score(text) if score is None else score,
                "error_spans": [],
                "textfield": None,
            }
            for token, text in item["tgt"].items()
        }
        for item in shown["payload"]
    ]
    payload = {
        "annotation": answers,
        "actions": [{"time": 10.0, "action": "load"}, {"time": 30.0, "action": "submit"}],
        "item": shown["payload"],
    }
    request = {
        "campaign_id": name,
        "user_id": user,
        "item_i": shown["info"]["item_i"],
        "payload": payload,
    }
    assert client.post("/log-response", json=request).status_code == 200


def _score(text: str) -> int:
    return sum(map(ord, text)) % 101


if __name__ == "__main__":
    main(*sys.argv[1:])

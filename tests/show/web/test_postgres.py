from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from sparingly.show.web.app import create_app
from tests.postgres import need_postgres
from tests.run.campaign.made import begin, made_set
from tests.show.web.visitor import SECRET, Visitor, ratings, web_of
from tools.postgres_server import running_server


def test_raters_at_once_on_a_server() -> None:
    need_postgres()
    with running_server(in_memory=True) as server:
        where = server.new_address()
        with begin(where, made_set(20), budget=20, size=20) as campaign:
            campaign.next()
        app = create_app(where, secret=SECRET, hosts=None, form="esa", overlap=0.0)

        def judge(name: str) -> int:
            visitor, count = Visitor(app, name), 0
            while (question := visitor.question())["page"] is not None:
                marks = [{"start": 0, "end": 1, "severity": "minor"}]
                cards = [
                    {"output": one["output"], "scores": {"overall": 40}, "marks": marks}
                    for one in question["outputs"]
                ]
                assert visitor.answer(question, 0, cards=cards).status_code == 200
                count += 1
            return count

        with ThreadPoolExecutor(4) as crew:
            counts = list(crew.map(judge, ["anna", "ben", "carl", "dora"]))
        assert sum(counts) == 20
        rows = ratings(Visitor(app))
        assert len(rows) == len({(row["item"], row["model"]) for row in rows}) == 60
        assert web_of(app).campaign.verify().ok
        web_of(app).campaign.disconnect()

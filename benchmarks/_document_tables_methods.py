"""The ways to draw that docs/results-documents.md compares, and the shares that are drawn."""

from __future__ import annotations

from benchmarks.papers.knowles.draws import BUDGETED, DOCUMENTS, FIXED, SEGMENTS, Method

SHARES = (0.2, 0.4, 0.6, 0.8)
METHODS = (
    *(
        Method(f"{title}, {'one draw for all' if same else 'a draw for each model'}", text + how)
        for title, text in (
            ("segments", SEGMENTS),
            ("whole documents", DOCUMENTS),
            ("fixed snippets", FIXED),
            ("budgeted snippets", BUDGETED),
        )
        for same, how in ((True, ""), (False, ",matching=false"))
    ),
    Method("fixed snippets, weighted", FIXED, weighted=True),
    Method("budgeted snippets, weighted", BUDGETED, weighted=True),
    Method("budgeted snippets, wrapped", f"{BUDGETED},wrap=true"),
)

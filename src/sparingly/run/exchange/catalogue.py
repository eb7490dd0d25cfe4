"""Every tool that tasks can be exchanged with, by name."""

from __future__ import annotations

from importlib import import_module

from sparingly.base.errors import UnknownNameError
from sparingly.run.exchange.exchange import Exchange

# A tool is one file: its name, and where its class lives. Modules are loaded when they are asked for.
TOOLS = {
    "appraise": "appraise:Appraise",
    "argilla": "argilla:Argilla",
    "csv": "csv_table:CsvTable",
    "inspect": "inspect_ai:InspectAi",
    "label-studio": "label_studio:LabelStudio",
    "lm-eval": "lm_eval:LmEval",
    "pearmut": "pearmut:Pearmut",
    "potato": "potato:Potato",
    "prodigy": "prodigy:Prodigy",
}


def exchange_named(name: str) -> Exchange:
    """Return the exchange with a tool; ``label_studio`` is ``label-studio``."""
    spelled = name.lower().replace("_", "-")
    if spelled not in TOOLS:
        raise UnknownNameError("annotation tool", name, TOOLS)
    module, _, what = TOOLS[spelled].partition(":")
    found: Exchange = getattr(import_module(f"sparingly.run.exchange.{module}"), what)()
    return found


def exchanges() -> list[Exchange]:
    """Return the exchanges with all tools, in the order of their names."""
    return [exchange_named(name) for name in sorted(TOOLS)]

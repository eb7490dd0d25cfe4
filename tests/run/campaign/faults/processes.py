"""Child processes that start quickly: forked from a process that has imported everything and nothing else."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from typing import Any

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.run.campaign.faults.child"])


def run_child(target: Callable[..., None], *arguments: Any) -> tuple[list[Any], int]:
    """Run a child to its end; return what it said, as far as it came, and its exit code."""
    here, there = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=target, args=(*arguments, there))
    process.start()
    there.close()
    said = []
    while True:
        try:
            said.append(here.recv())
        except EOFError:
            break
    process.join(60)
    assert process.exitcode is not None
    return said, process.exitcode


def run_at_once(target: Callable[..., None], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Run several children that begin at the same moment; return what each said at its end."""
    barrier = CONTEXT.Barrier(len(arguments))
    pipes, processes = [], []
    for given in arguments:
        here, there = CONTEXT.Pipe(duplex=False)
        process = CONTEXT.Process(target=target, args=(*given, barrier, there))
        process.start()
        there.close()
        pipes.append(here)
        processes.append(process)
    said = [pipe.recv() for pipe in pipes]
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    return said

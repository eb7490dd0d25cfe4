"""Other people's methods that are baselines of a grid and nothing else: restated, and not registered.

They are strategies, so that a replay takes them like any other, but ``sparingly methods`` does not list them.
Those that a user may want (``anchor_points``, ``facility_location``, ``max_discrepancy``, ``active_testing``,
``ppi``) are registered methods.
"""

from __future__ import annotations

from collections.abc import Mapping

from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.text import Bare, Quoted, parse_call
from sparingly.bench.peers.glide import Glide
from sparingly.bench.peers.glide_active import GlideActive
from sparingly.bench.peers.glide_stratified import GlideStratified

PEERS: Mapping[str, type[Glide]] = {one.name: one for one in (GlideActive, GlideStratified)}


def peer(text: str) -> Glide | None:
    """Return a peer from its text, such as ``glide_active:metric=COMET``; None for other names."""
    call = parse_call(text)
    made = PEERS.get(call.name)
    if made is None:
        return None
    values: dict[str, str] = {}
    for key, value in call.values:
        if key != "metric":
            raise UnknownNameError(f"parameter of {call.name}", key, ("metric",))
        if not isinstance(value, Bare | Quoted):
            raise UsageError(f"The parameter metric of {call.name} takes one name.")
        values[key] = value.text
    return made(**values)


__all__ = ["PEERS", "Glide", "GlideActive", "GlideStratified", "peer"]

"""What follows when events act: another phase, velocities that fit it, and the energy that this took."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.phases import consistent, next_phase
from dalembert.errors import ModelError, SimulationError
from dalembert.run.actions import apply
from dalembert.run.events import Event, Watch
from dalembert.simulation.start import Start, starting_at

EVER_FASTER = 1e-4  # part of the longest time between two acts of an event below which it acts without end


class Acts:
    """Carries out the actions of events, and stops what would never end."""

    def __init__(self) -> None:
        self._last: dict[int, float] = {}
        self._longest: dict[int, float] = {}

    def after(self, start: Start, watch: Watch, piece: Any) -> tuple[Start, tuple[str, float, float]]:
        """Where the run starts anew; (name, t, change of energy) of what acted."""
        mechanism, t, x = start.mechanism, piece.ending.t, piece.ending.x.copy()
        phase, names = start.phase, []
        before = sum(mechanism.energies(x, t))
        seen = watch.seen(t, piece.ending.state)
        for event in watch.acting:
            if event.action is not None:
                self._refuse_endless(event, t)
                owner = f"event {event.name!r}"
                actions = event.actions(seen)
                for action in actions:
                    if hasattr(action, "check") and isinstance(mechanism, Mechanism):
                        action.check(owner, start.model)
                phase, x = apply(owner, actions, phase, mechanism, t, x)
                names.append(event.name)
        owner = f"event {', '.join(map(repr, names))}"
        if phase != start.phase:
            assert isinstance(mechanism, Mechanism)
            try:
                mechanism = next_phase(start.model, phase, mechanism, t, x)
            except ModelError as problem:
                raise ModelError(f"{owner} at t = {t:.6g} s: {problem}") from None
        x = consistent(mechanism, t, x, owner)
        change = sum(mechanism.energies(x, t)) - before
        x[mechanism.nq + mechanism.nu] += change
        if not np.isfinite(x).all():
            raise SimulationError(f"{owner}: its action leaves a state that is not finite at t = {t:.6g} s", time=t)
        return Start(starting_at(mechanism, t, x), t, start.model, phase), (", ".join(names), t, float(change))

    def _refuse_endless(self, event: Event, t: float) -> None:
        """An event that acts faster and faster comes to no end, as a ball that bounces to rest."""
        key = id(event)
        since = t - self._last.get(key, -np.inf)
        longest = self._longest.get(key, 0.0)
        if since < EVER_FASTER * longest:
            raise SimulationError(
                f"event {event.name!r} acts ever faster, {since:.2g} s after {longest:.2g} s, and would not come to an end, at"
                f" t = {t:.6g} s; let its action bring what has become slow to rest (Lock, Close), or stop there",
                time=t,
            )
        self._last[key] = t
        self._longest[key] = max(longest, since) if np.isfinite(since) else longest

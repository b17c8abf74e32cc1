"""What assembly says: consistent bodies, and how far what was moved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalembert.model.elements import Body

_MOST = 3  # bodies that are named
ROUNDING = 1e-12  # changes below this are no news
_RATES = "m/s or rad/s"
_FITTED = ": made to fit by the smallest change"
MISFIT = 1e-6  # m or rad; a pose that changes by more may not be the one that was meant
OPEN = (
    0.005  # joints that are open by more, over their longest arm or in rad, were not meant to be: coordinates of three digits
)


@dataclass(frozen=True, eq=False)
class Moved:
    """How far assembly moved one body: metres, radians, m/s, rad/s.

    completed : only velocities changed, and only such that the user did not give;  given : of velocity and angular velocity,
        whether it was: of others no change is told
    """

    body: str
    distance: float
    angle: float
    velocity: float
    angular_velocity: float
    completed: bool
    given: tuple[bool, bool]

    def __str__(self) -> str:
        told = [given or self.completed for given in self.given]
        parts = (
            ("moved", self.distance, "m"),
            ("turned", self.angle, "rad"),
            ("velocity", self.velocity * told[0], "m/s"),
            ("angular velocity", self.angular_velocity * told[1], "rad/s"),
        )
        return f"{self.body}: " + ", ".join(f"{what} {x:.3e} {unit}" for what, x, unit in parts if x > ROUNDING)


@dataclass(frozen=True, eq=False, repr=False)
class Assembly:
    """Consistent bodies, what was moved, and the residuals before and after (largest row, SI units).

    open : joints that do not fit the pose that was given, by more than `OPEN`, the worst first; what is asked of drivers and
        joint coordinates left out
    chosen : bodies that are set in motion by what is given or driven, though they might rest as well
    """

    bodies: tuple[Body, ...]
    moved: tuple[Moved, ...]
    position_residual: tuple[float, float]
    velocity_residual: tuple[float, float]
    open: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()

    @property
    def changed(self) -> tuple[str, ...]:
        """What was given and had to change, one text per body."""
        return tuple(str(item) for item in self.moved if not item.completed)

    @property
    def completed(self) -> tuple[str, ...]:
        """Bodies of which only velocities changed that were not given: they follow from those that were."""
        return tuple(item.body for item in self.moved if item.completed)

    @property
    def warnings(self) -> tuple[str, ...]:
        """One text if poses changed by more than `MISFIT`, to fit what is asked: which body most, and how far."""
        far = [item for item in self.moved if max(item.distance, item.angle) > MISFIT]
        if not far or self.open:  # which is doubted
            return ()
        worst = max(far, key=lambda item: max(item.distance, item.angle))
        others = f" (and {len(far) - 1} more)" if len(far) > 1 else ""
        ways = (("moved it by {:.3g} m", worst.distance), ("turned it by {:.3g} rad", worst.angle))
        moved = " and ".join(text.format(x) for text, x in ways if x > MISFIT)
        return (
            f"body {worst.body!r}{others} does not start where it was placed: assembly {moved} to fit joints, given coordinates"
            " and drivers",
        )

    @property
    def residuals(self) -> tuple[str, str]:
        """Of positions and of velocities, before and after, and what was done about them."""
        texts = [
            f"{before:.2e} {unit} as given, {after:.2e} assembled"
            for (before, after), unit in ((self.position_residual, "m or rad"), (self.velocity_residual, _RATES))
        ]
        if any(max(item.distance, item.angle) > ROUNDING for item in self.moved):
            texts[0] += _FITTED
        faster = [item for item in self.moved if max(item.velocity, item.angular_velocity) > ROUNDING]
        if not all(item.completed for item in faster):
            texts[1] += _FITTED
        elif faster and not self.chosen:
            texts[1] = (
                f"{self.velocity_residual[1]:.2e} {_RATES}: those of {', '.join(self.completed)} follow from what is given or"
                " driven"
            )
        return texts[0], texts[1]

    @property
    def choice(self) -> str:
        """Of velocities that nothing tells: what was taken, "" where there is none."""
        if not self.chosen:
            return ""
        some, more = self.chosen[:_MOST], ", ..." * (len(self.chosen) > _MOST)
        speeds = {body.name: f"{body.name!r} {float(np.linalg.norm(body.velocity)):.3g} m/s" for body in self.bodies}
        start = "starts" if len(self.chosen) == 1 else "start"
        return (
            f"nothing tells how {', '.join(map(repr, some))}{more} {start}: velocities as after an impulse were taken"
            f" ({', '.join(speeds[name] for name in some)}{more}); give velocity= and angular_velocity=, zero where they rest"
        )

    def __str__(self) -> str:
        positions, velocities = self.residuals
        lines = [f"position residual {positions}", f"velocity residual {velocities}", *(self.changed or ["nothing was moved"])]
        lines += [self.choice] * bool(self.chosen)
        return "\n".join([*lines, *(f"warning: {text}" for text in self.warnings)])

    __repr__ = __str__

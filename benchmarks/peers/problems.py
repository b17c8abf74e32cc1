"""The mechanisms as plain numbers, and what a program hands back; every file of a program builds its own model from these."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from dalembert.gallery.chain import LENGTH, MASS, SIDE
from dalembert.gallery.slider_crank import ROD_INERTIA, A, B, C, X, slider_crank
from dalembert.model.model import Model

GRAVITY = 9.81  # m/s^2 along -z

CHAIN_END = 10.0  # s
TILT = 0.1  # rad about x from hanging along -z
SWING = np.array([0.0, 0.1, 0.0])  # rad/s, of the whole chain about its upper end: the motion leaves the plane


def moments(mass: float, length: float) -> tuple[float, float]:
    """Across and along a rod [kg m^2]."""
    return mass * (length**2 + SIDE**2) / 12, mass * SIDE**2 / 6


ACROSS, AXIAL = moments(MASS, LENGTH)
COS, SIN = np.cos(TILT), np.sin(TILT)
CHAIN_ROTATION = np.array([[1.0, 0.0, 0.0], [0.0, COS, -SIN], [0.0, SIN, COS]])
CHAIN_RATE = CHAIN_ROTATION.T @ SWING  # of the first rod in its own axes; the others move with it

CRANK_END = 5.0  # s
CRANK_MASS, ROD_MASS, SLIDER_MASS = 0.12, 0.5, 2.0
CRANK_INERTIA, SLIDER_INERTIA = np.array([1e-4, 1e-4, 1e-5]), np.array([1e-4, 1e-4, 1e-4])
ROD_PRINCIPAL = np.array(ROD_INERTIA["A"])
CRANK_CENTRE, ROD_CENTRE = (A + B) / 2, (B + C) / 2
_U = (B - C) / np.linalg.norm(B - C)
_N = np.cross(X, _U) / np.linalg.norm(np.cross(X, _U))
ROD_ROTATION = np.column_stack([_N, _U, np.cross(_N, _U)])
ROD_LENGTH = float(np.linalg.norm(B - C))
CRANK_SPEED, SLIDER_SPEED = 6.0, 0.24
ROD_OMEGA = np.array([1.92, -0.96, 0.48])  # rad/s, world
CROSS_RATES = np.linalg.lstsq(np.column_stack([X, _N]), ROD_OMEGA, rcond=None)[0]  # of the universal joint about x and n
SAMPLES = 50  # points of time at which drifts are looked at, where a program does not hand out its own steps


def crank_model() -> Model:
    """The gallery's slider-crank, from which the numbers above are taken (checked in `consistent`)."""
    return slider_crank()


def consistent() -> None:
    """The numbers here are those of the gallery's model."""
    bodies = {body.name: body for body in crank_model().bodies}
    for name, mass, inertia in (
        ("crank", CRANK_MASS, CRANK_INERTIA),
        ("rod", ROD_MASS, ROD_PRINCIPAL),
        ("slider", SLIDER_MASS, SLIDER_INERTIA),
    ):
        assert bodies[name].mass == mass and np.allclose(np.diag(bodies[name].inertia), inertia), name


@dataclass
class Outcome:
    """One run. seconds : CPU time of the integration alone;  point : where the watched point ends [m]
    loop : largest gap of the loop-closing joint [m];  energy : largest |E - E_0| / max T, both None for open chains
    evaluations : of the equations of motion, where the program tells
    """

    seconds: float
    point: np.ndarray
    loop: float | None = None
    energy: float | None = None
    evaluations: int | None = None


@dataclass(frozen=True)
class Method:
    """One way to run a problem in one program.

    settings : step sizes or tolerances, from loose to tight;  solve : runs with one of them, for chains from any angular
        velocity of the first rod in its own axes; a chain may have rods of another mass and length
    label : short, for tables and plots;  what : everything else that was set, for the report
    """

    program: str
    label: str
    what: str
    settings: tuple[float, ...]
    solve: Callable[..., Outcome]
    ours: bool = False


@dataclass
class Stopwatch:
    """CPU seconds of this process between begin and end."""

    seconds: float = field(default=0.0)

    @contextmanager
    def running(self) -> Iterator[None]:
        begin = time.process_time()
        yield
        self.seconds += time.process_time() - begin


def powers(first: float, last: float, per_decade: int = 2) -> tuple[float, ...]:
    """Settings from first down to last, evenly spaced on a logarithmic scale."""
    count = round(abs(np.log10(first / last)) * per_decade) + 1
    return tuple(float(f"{v:.3g}") for v in np.geomspace(first, last, count))


def step_counts(fewest: int, most: int, factor: float = 2**0.5) -> tuple[float, ...]:
    """Numbers of equal steps, from few to many."""
    count = round(np.log(most / fewest) / np.log(factor)) + 1
    return tuple(float(round(v)) for v in np.geomspace(fewest, most, count))

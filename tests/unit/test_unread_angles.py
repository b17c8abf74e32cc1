"""Angles of joints that nobody reads are left out of rates: who reads them is known, and rates do not change a bit."""

import numpy as np
import pytest

import dalembert as da
from dalembert.kernels.base import tables as T


def hinged() -> da.Model:
    model = da.Model(gravity=(0, 0, -9.81))
    a = model.add_body(
        "a", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0), angular_velocity=(0, 2.0, 0), velocity=(0, 0, -1.0)
    )
    model.add_revolute("A", model.ground, a, point=(0, 0, 0), axis=(0, 1, 0))
    b = model.add_body(
        "b", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1.5, 0, 0), angular_velocity=(0, 2.0, 0), velocity=(0, 0, -3.0)
    )
    model.add_revolute("B", a, b, point=(1, 0, 0), axis=(0, 1, 0))
    model.add_spring_damper("spring", model.ground, b, points=((0, 0, 0), (0, 0, 0)), stiffness=10.0, damping=0.1, length=0.5)
    return model


READERS = {
    "joint spring": lambda m: m.add_joint_spring_damper("reads", "B", stiffness=3.0),
    "motor": lambda m: m.add_motor("reads", "A", lambda t: 0.1 * t),
    "law": lambda m: m.add_joint_law("reads", ["A"], lambda t, s, s_dot: -0.2 * s),
}


@pytest.mark.parametrize("reader", READERS)
def test_readers_are_known(reader: str) -> None:
    assert da.compile(hinged()).I[T.UNREAD] == 1
    model = hinged()
    READERS[reader](model)
    assert da.compile(model).I[T.UNREAD] == 0


@pytest.mark.parametrize("formulation", [da.Jet(), da.MovingFrame(), da.Minimal()], ids=lambda f: type(f).__name__)
def test_rates_without_angles_are_the_same(formulation: da.Jet | da.MovingFrame | da.Minimal) -> None:
    mechanism = da.compile(hinged())
    rates = []
    for unread in (0, 1):
        run = formulation.prepare(mechanism)
        run.I[T.UNREAD] = unread
        run.W[run.I[T.W_ANGLE] :][: 2 * run.I[T.NANGLE]] = np.nan
        x = run.from_absolute(mechanism.x_0)
        dx = np.zeros_like(x)
        assert run.system(T.RATE, 0.0, x, dx, run.view) == T.OK
        rates.append(dx)
    np.testing.assert_array_equal(rates[0], rates[1])
    assert np.isfinite(rates[1]).all()

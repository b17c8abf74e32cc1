"""Six-bars and a Stewart platform, pose by pose, against vector loops that know nothing of the library."""

import numpy as np
import pytest
from mechanisms import (
    HEIGHT,
    bar,
    beside,
    circles,
    derivatives,
    hinge,
    lengths_of_legs,
    on_circle,
    platform_of_legs,
    stewart,
)

import dalembert as da

START, D, G = 0.4, np.array([3.2, 0.0, 0.0]), np.array([5.5, -0.6, 0.0])


def watt(theta):
    """A four-bar whose rocker, a triangle, drives a second one: P, C, E on the rocker, F."""
    P = on_circle(1.0, theta)
    C = circles(P, 3.0, D, 2.5, 1)
    E = beside(D, C, 1.4, -1.0)
    return P, C, E, circles(E, 2.2, G, 1.9, 1)


def stephenson(theta):
    """A four-bar whose coupler, a triangle, drives two more bars: P, C, E on the coupler, F."""
    P = on_circle(1.0, theta)
    C = circles(P, 3.0, D, 2.5, 1)
    E = beside(P, C, 1.5, 0.8)
    return P, C, E, circles(E, 4.0, G, 3.0, 1)


@pytest.mark.parametrize(("points", "triangle"), [(watt, "rocker"), (stephenson, "coupler")])
def test_six_bars(points, triangle):
    P, C, E, F = points(START)
    model = da.Model()
    for name, *ends in (("crank", np.zeros(3), P), ("coupler", P, C), ("rocker", D, C), ("more", E, F), ("last", G, F)):
        bar(model, name, *ends)
    for name, first, second, at in (
        ("A", model.ground, "crank", np.zeros(3)), ("P", "crank", "coupler", P), ("C", "coupler", "rocker", C),
        ("D", model.ground, "rocker", D), ("E", triangle, "more", E), ("F", "more", "last", F), ("G", model.ground, "last", G),
    ):  # fmt: skip
        hinge(model, name, first, second, at)
    found = da.kinematics(model, sweep={"A": np.linspace(0, 2 * np.pi, 9)})
    assert found.status == "complete"
    half = np.linalg.norm(F - G) / 2
    np.testing.assert_allclose(found.point("last", (half, 0, 0)), [points(START + s)[-1] for s in found.t], rtol=0, atol=1e-12)
    expected = [derivatives(lambda s: points(START + s)[-1], s)[1] for s in found.t]
    np.testing.assert_allclose(found.acceleration("last", (half, 0, 0)), expected, rtol=1e-10, atol=1e-10)


def test_a_stewart_platform():
    model, legs = stewart()
    sizes = np.array([0.1, 0.15, 0.05, 0.2, 0.12, 0.08])
    for leg, size in zip(legs, sizes, strict=True):
        model.add_driver(f"drive {leg}", leg, da.Harmonic(size, omega=3.0))
    rest = lengths_of_legs(HEIGHT, np.eye(3))
    t = np.array([0.0, 0.2, 0.35, 0.5, 0.8])
    found = da.kinematics(model, t)
    poses = [platform_of_legs(rest + sizes * np.sin(3.0 * s)) for s in t]
    np.testing.assert_allclose(found.position("platform"), [r for r, _ in poses], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.rotation("platform"), [R for _, R in poses], rtol=0, atol=1e-12)
    corner = np.array([0.3, 0.2, 0.1])

    def place(s):
        r, R = platform_of_legs(rest + sizes * np.sin(3.0 * s))
        return r + R @ corner

    expected = [derivatives(place, s)[1] for s in t]
    np.testing.assert_allclose(found.acceleration("platform", corner), expected, rtol=1e-10, atol=1e-10)

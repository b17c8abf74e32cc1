"""The oracle of random mechanisms against itself and closed forms, and a few cases of the campaign."""

import numpy as np
import pytest

import dalembert as da
from benchmarks.campaigns import mechanisms
from benchmarks.campaigns.generator import family
from benchmarks.campaigns.joint_rows import View
from benchmarks.campaigns.mechanisms import T_END, case, difference, formulations, judged, solved, truth_of
from benchmarks.campaigns.oracle import TINY, Oracle, rotation, turned
from benchmarks.campaigns.prescribed import values_at
from benchmarks.campaigns.runner import generator


@pytest.mark.parametrize("index", range(12))
def test_rates_are_derivatives_of_positions(index):
    """Each row's rate against the complex-step derivative of its residual along the motion, at a pose of no joint."""
    rng = generator("rates", 0, index)
    oracle = Oracle(family(rng, 2)[0])
    s, t = oracle.start, 0.13
    s.r += 0.1 * rng.standard_normal(s.r.shape)
    s.v, s.w = rng.standard_normal((2, *s.v.shape))
    R = rotation(s.theta)
    for rows in oracle.rows:
        ends = [oracle.views(names, s, R) for names in (rows.first, rows.second)]
        f, f1, _ = np.stack([values_at(m, t) for m in rows.motions], axis=1)
        moved = [View(e.r + 1j * TINY * e.v, e.R + 1j * TINY * turned(e.w, e.R), e.v, e.w) for e in ends]
        found = rows.position(*moved, f + 1j * TINY * f1, t + 1j * TINY)
        for residual, rate in zip(found, rows.rate(*ends, f, f1, t), strict=False):
            np.testing.assert_allclose(np.imag(residual) / TINY, rate, rtol=0, atol=1e-13)


def test_oracle_on_a_pendulum_in_closed_form():
    """A point mass on a rod whose length is prescribed, without gravity: l^2 times the rate of the angle is constant."""
    model = da.Model((0, 0, 0))
    model.add_point_mass("bob", mass=2.0, position=(1.0, 0, 0), velocity=(0.5, 0.7, 0))
    model.add_distance("rod", model.ground, "bob", length=da.Polynomial((1.0, 0.5)))
    s, left = Oracle([model]).run(1.0)
    # angle = integral of 0.7 / l^2 with l = 1 + t / 2: 1.4 (1 - 1 / l)
    angle = 1.4 * (1 - 1 / 1.5)
    np.testing.assert_allclose(s.r[:, 0, 0], (1.5 * np.cos(angle), 1.5 * np.sin(angle), 0), rtol=0, atol=1e-10)
    assert left <= 1e-10


def test_oracle_on_a_driven_hinge_and_a_motor():
    model = da.Model((0, 0, 0))
    for k, name in enumerate(("a", "b")):
        model.add_body(name, mass=1.0, inertia=(0.3, 0.3, 0.4), position=(k, 0, 0), angular_velocity=(0, 0, 0.3 * (1 - k)))
        model.add_revolute(f"hinge {name}", model.ground, name, point=(k, 0, 0), axis=(0, 0, 1))
    model.add_driver("driver", "hinge a", da.Polynomial((0.0, 0.3, 0.5)))
    model.add_motor("motor", "hinge b", da.Polynomial((0.0, 0.8)))
    s, _ = Oracle([model]).run(1.0)
    turn = [np.arctan2(R[1, 0], R[0, 0]) for R in np.moveaxis(rotation(s.theta)[..., 0], 2, 0)]
    np.testing.assert_allclose(turn, (0.8, 0.8 / 0.4 / 6), rtol=0, atol=1e-10)


def test_a_case_is_right(monkeypatch):
    monkeypatch.setattr(mechanisms, "MEMBERS", 2)
    outcome = case(generator("mechanisms", 0, 13), 13)
    assert outcome.verdict == "right", outcome.words
    assert outcome.counts["mechanisms"] == 2 and outcome.counts["Jet right"] == 2
    assert outcome.figures["Jet error"] <= mechanisms.LIMIT


def test_a_wrong_run_is_noticed():
    """The same mechanism with a mass that is wrong by a millionth."""
    rng = generator("mechanisms", 0, 13)
    models, oracle, end, _ = solved(family(rng, 1)[0])
    truth, ways = truth_of(oracle, end, 0), formulations(rng)
    data = models[0].to_dict()
    element = next(e for e in data["elements"] if e["name"] == "body 0")
    element["mass"] *= 1 + 1e-6
    other = da.Model.from_dict(data)
    verdict, error, words = judged("Jet", ways["Jet"], da.compile(other), other, truth)
    assert verdict == "wrong" and 1e-8 < error < 1e-5 and "report: PASSES" in words
    run = da.simulate(models[0], T_END, integrator=da.DOP853(rtol=1e-12, atol=1e-12))
    assert difference(run, models[0], truth) <= mechanisms.LIMIT

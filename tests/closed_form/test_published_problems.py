"""Published problems against values computed elsewhere: Andrews' squeezer, the car axis, the flyball governor, a fast top."""

import numpy as np
import pytest
from reference_data import largest, load, run
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert import gallery

ANGLES = {
    "O": 0,
    "B": 2,
    "A5": 4,
    "A7": 6,
}  # joints with the ground and the column of their angle


@pytest.mark.parametrize("options", [{"coordinates": "planar"}, {"coordinates": "absolute"}, {"formulation": da.MovingFrame()}])
def test_andrews(options):
    """At 1e-11 the rates, up to 1,140 rad/s, are 2e-9 to 1.1e-8 off, as the steps happen to fall; at 1e-12 a tenth of
    that, which is what one step is allowed, rtol |v| = 1.1e-9."""
    data = load("andrews")
    solution = run(gallery.andrews(), data["t"], da.DOP853(rtol=1e-12, atol=1e-12), **options)
    q, v = data["columns"]["q"], data["columns"]["v"]
    start = (-0.06171389001427645, 0, 0.45527981916307038, 0, 0.48736497954384255, 0, 1.2305474445498212)
    for joint, column in ANGLES.items():
        assert largest(solution.coordinate(joint) + start[column] - q[:, column]) <= 1e-11, joint
        assert largest(solution.coordinate_rate(joint) - v[:, column]) <= 1.2e-9, joint
    beta = solution.coordinate("O")[-1] + start[0]
    assert beta == pytest.approx(data["published"]["q"][0], abs=2e-9)  # its digits are right to 1.15e-9, as the data say


@pytest.mark.parametrize(("tolerance", "limit"), [(1e-9, 1e-7), (1e-13, 1e-11)])
def test_car_axis(tolerance, limit):
    """Two time-dependent rows on a Lagrangian: published to 21 digits, velocities and multipliers too."""
    data = load("car_axis")
    integrator = da.DOP853(rtol=tolerance, atol=tolerance)
    solution = run(gallery.car_axis(), [0.0, *data["t"]], integrator)
    assert largest(solution.q[-1:] - data["columns"]["q"]) <= limit
    assert largest(solution.u[-1:] - data["columns"]["v"]) <= limit
    lam = np.concatenate([solution.multiplier("perpendicular"), solution.multiplier("axis")], axis=1)
    assert largest(lam[-1:] - data["columns"]["lam"]) <= limit * 1e-2  # multipliers are of the size of 1e-3
    assert largest(lam[0]) <= 1e-15  # both are 0 at the start, as published


def governor_rates(t, y, k=8e5, c=4e4):
    """(w, alpha, s, alpha', s')' of the symmetric governor in its three coordinates, by Lagrange's equations."""
    w, alpha, s, alpha_rate, s_rate = y
    rod, ball, slider, g = 0.3, 5.0, 3.0, 9.81
    axial, across = rod * 2e-4 / 12, rod * (1 + 1e-4) / 12
    cos, sin = np.cos(alpha), np.sin(alpha)
    arm = rod * (0.05 + 0.5 * cos) ** 2 + ball * (0.05 + cos) ** 2 + axial * sin**2 + across * cos**2
    slope = -rod * (0.05 + 0.5 * cos) * sin - 2 * ball * (0.05 + cos) * sin + 2 * (axial - across) * sin * cos
    total = rod * 2e-4 / 12 + slider * 0.02 / 12 + 2 * arm
    x, z = 0.5 * cos, 1 - 0.5 * sin - s
    length = np.hypot(x, z)
    x_alpha, z_alpha = -0.5 * sin, -0.5 * cos
    rate = (x * x_alpha * alpha_rate + z * (z_alpha * alpha_rate - s_rate)) / length
    pull = k * (length - 0.5) + c * rate
    moment = (0.5 * rod + ball) * g * cos + 0.5 * slope * w**2 - pull * (x * x_alpha + z * z_alpha) / length
    return [
        -2 * slope * alpha_rate * w / total,
        alpha_rate,
        s_rate,
        moment / (across + 0.25 * rod + ball),
        2 * pull * z / length / slider - g,
    ]


@pytest.mark.parametrize("formulation", [da.Jet(), da.MovingFrame()])
def test_flyball_governor(formulation):
    """Stiff: the spring-dampers settle within 1e-4 s. Both formulations against Radau on three coordinates."""
    times = np.linspace(0, 2, 9)
    start = [2 * np.pi, np.pi / 6, 0.5, 0, 0]
    expected = solve_ivp(governor_rates, (0, 2), start, method="Radau", rtol=1e-11, atol=1e-12, t_eval=times).y
    integrator = da.GaussLegendre(stages=3, rtol=1e-10, atol=1e-10)
    solution = run(gallery.flyball_governor(), times, integrator, formulation=formulation)
    assert largest(solution.position("slider")[:, 2] - expected[2]) <= 1e-7
    assert largest(solution.coordinate_rate("bearing") - expected[0]) <= 1e-6
    assert solution.statistics.accepted <= 2000  # an explicit method takes 1e5 and more


def test_flyball_governor_at_the_tolerance_asked():
    """Steps set by accuracy: errors below the tolerance, next to none rejected, steps like tolerance^(-1/4) with the estimate
    of order 4, and 15 times those of DOP853 (1.3e-3 s at 1e-6), which stability sets. Gauss-Legendre is as reliable."""
    times = np.linspace(0, 10, 11)
    start = [2 * np.pi, np.pi / 6, 0.5, 0, 0]
    expected = solve_ivp(governor_rates, (0, 10), start, method="Radau", rtol=1e-11, atol=1e-12, t_eval=times).y
    accepted = []
    for tolerance in (1e-6, 1e-8):
        for method in (da.GaussLegendre, da.RadauIIA):
            integrator = method(3, rtol=tolerance, atol=tolerance)
            solution = run(gallery.flyball_governor(), times, integrator, formulation=da.MovingFrame())
            assert largest(solution.position("slider")[:, 2] - expected[2]) <= tolerance
            assert largest(solution.coordinate_rate("bearing") - expected[0]) <= 5 * tolerance
            assert solution.statistics.rejected <= 0.12 * solution.statistics.accepted
        accepted.append(solution.statistics.accepted)
    assert 10.0 / accepted[0] >= 15 * 1.3e-3
    assert accepted[1] / accepted[0] == pytest.approx(100**0.25, rel=0.1)


def test_heavy_top_in_both_formulations():
    times = np.linspace(0, 2, 9)
    jet, tree = (run(gallery.heavy_top(), times, formulation=f) for f in (da.Jet(), da.MovingFrame()))
    assert largest(jet.position("top") - tree.position("top")) <= 1e-9
    w = jet.angular_velocity("top", frame="body")
    assert largest(w[:, 1] - 150.0) <= 1e-9  # the spin of a symmetric top
    momentum_z = (jet.rotation("top") @ (w * (15.234375, 0.46875, 15.234375))[:, :, None])[:, 2, 0]
    assert largest(momentum_z - momentum_z[0]) <= 1e-9 * 80

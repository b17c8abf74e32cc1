"""Integrals over a run: of outputs that jump, of few saved times, of runs in pieces."""

import warnings

import numpy as np
import pytest

import dalembert as da
from dalembert.questions.objectives import of_whole_run


def gas(t, s, s_dot):
    """20 N m in the first quarter of each turn."""
    return np.array([20.0 if s[0] % (2 * np.pi) < 0.5 * np.pi else 0.0])


def rotor(**options):
    model = da.Model((0, 0), plane="xz")
    model.add_link("bar", (0, 0), (0.5, 0), mass=1.0)
    model.add_revolute("A", "ground", "bar", point=(0, 0), rate=20.0)
    model.add_joint_law("gas", ["A"], gas)
    return da.simulate(model, 0.5, **options)


@pytest.mark.parametrize("save_at", [None, np.linspace(0.0, 0.5, 151), np.array([0.0, 0.2, 0.5])])
def test_work_of_a_force_that_jumps(save_at):
    """Steps are short beside jumps: the curve through their ends gave 10^5 times the work. It is what is in the rotor."""
    run = rotor(save_at=save_at)
    gained = np.ptp(run.energy.kinetic)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert da.integral(run, "gas.power") == pytest.approx(gained, rel=1e-6)
        assert da.integral(run(np.linspace(0.0, 0.5, 101)), "gas.power") == pytest.approx(gained, rel=1e-6)
        assert of_whole_run(run, "gas.power.mean")[0] == pytest.approx(gained / 0.5, rel=1e-6)
        pushed = 20.0 * da.integral(run, lambda s: s.signal("gas") > 0.0)
        assert of_whole_run(run, "gas.rms")[0] == pytest.approx(np.sqrt(20.0 * pushed / 0.5), rel=1e-6)


def test_work_of_a_stored_run_whose_functions_are_not_at_hand(tmp_path):
    """It has no states between, and says that its steps are too far apart; what it tells is of the right size all the same."""
    run = rotor()
    run.save(tmp_path / "run.zarr")
    stored = da.load(tmp_path / "run.zarr")
    assert stored.sensitivities is None
    with pytest.warns(RuntimeWarning, match="may be too few"):
        work = da.integral(
            stored, lambda s: np.where(s.coordinate("A") % (2 * np.pi) < 0.5 * np.pi, 20.0 * s.signal("A.rate"), 0.0)
        )
    assert work == pytest.approx(np.ptp(run.energy.kinetic), rel=0.01)


def test_a_run_in_few_pieces():
    """A ball falls from 5 m onto a floor that leaves it half its speed, at 1 s and 2 s: nine states are enough."""
    model = da.Model((0, 0, -10))
    model.add_point_mass("ball", mass=2.0, position=(0, 0, 5))
    floor = da.Event(
        lambda s: s.position("ball")[2], direction=-1, action=lambda s: {"ball": s.velocity("ball") * [1, 1, -0.5]}
    )
    run = da.simulate(model, 2.2, events=floor)
    assert len(run.t) < 12 and da.integral(run, "ball.vz") == pytest.approx(run.signal("ball.z")[-1] - 5.0, abs=1e-6)
    assert da.integral(run, "ball.v") == pytest.approx(5.0 + 2 * 1.25 + 0.3, abs=1e-6)


def test_poses_are_no_run():
    """There are no states between: what is off by too much is told, and less than twelve are refused."""
    model = da.Model(plane="xz")
    model.add_link("bar", (0, 0), (0.5, 0), mass=1.0)
    model.add_revolute("A", "ground", "bar", point=(0, 0))
    turn = da.kinematics(model, sweep={"A": np.linspace(0.0, 2 * np.pi, 41)})
    assert da.integral(turn, "bar.z") == pytest.approx(0.0, abs=1e-9)
    with pytest.warns(RuntimeWarning, match="the 41 saved times may be too few"):
        da.integral(turn, lambda s: np.where(s.signal("bar.z") > 0.1, 1.0, 0.0))
    with pytest.raises(da.ModelError, match="the run has 5 saved times; integrals and extrema need at least 12"):
        da.integral(da.kinematics(model, sweep={"A": np.linspace(0.0, 1.0, 5)}), "bar.z")


def test_rounding_is_not_halved_for_ever():
    """A coordinate that stays zero but for rounding took minutes."""
    asked = []

    def across(s):
        asked.append(len(s.t))
        return s.signal("slider.y")

    run = da.simulate(da.gallery.build("slider_crank"), 1.0, save_at=np.linspace(0.0, 1.0, 101))
    assert abs(da.integral(run, across)) < 1e-15
    assert sum(asked) < 8000


def test_poses_have_the_spline_where_it_is_smooth():
    model = da.Model(plane="xz")
    model.add_link("bar", (0, 0), (0.5, 0), mass=1.0)
    model.add_revolute("A", "ground", "bar", point=(0, 0))
    turn = da.kinematics(model, sweep={"A": np.linspace(0.0, 2 * np.pi, 37)})
    assert da.integral(turn, lambda s: s.signal("bar.z") ** 2) == pytest.approx(
        0.25**2 * np.pi, rel=1e-6
    )  # h^6 of 2 phi is 2e-3 / 720

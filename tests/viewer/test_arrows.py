"""Loads of the model are arrows in pictures."""

import numpy as np
import pytest

import dalembert as da
from dalembert.viewer.animation import Film
from dalembert.viewer.arrows import COLOUR, arrows_of, keys_of
from dalembert.viewer.raster import rgb
from dalembert.viewer.stage import stage_of


def bar(**loads):
    """On a hinge, with a spring that is drawn as one; loads : arguments of add_force and add_torque"""
    model = da.Model(plane="xz")
    model.add_link("bar", (0, 0), (1, 0), mass=1.0)
    model.add_revolute("A", "ground", "bar", point=(0, 0))
    model.add_spring_damper("spring", "ground", "bar", between=((0.5, 1), (0.5, 0)), stiffness=50.0)
    for verb, (value, options) in loads.items():
        getattr(model, f"add_{verb}")(verb, "bar", value, **options)
    return da.simulate(model, 0.1)


def is_green(image, film, point):
    (column, row), _ = film.camera.seen(np.asarray(point))
    pixel = image[int(row / 2), int(column / 2)].astype(float)  # one reaches from its number to the next
    return pixel @ rgb(COLOUR) / np.linalg.norm(pixel) / np.linalg.norm(rgb(COLOUR)) > 0.98


def test_a_force_is_an_arrow_from_where_it_acts():
    run = bar(force=((0, -20.0), {"at": (1, 0)}))
    film = Film(run, (640, 480), np.array([0.0, -1.0, 0.0]))
    (arrow,) = film.arrows  # neither gravity nor the spring
    length = np.linalg.norm(arrow.vectors[0])
    assert arrow.vectors[0] / length == pytest.approx((0, 0, -1)) and length == pytest.approx(0.352 * film.scale)
    image = np.asarray(next(film.pictures(np.array([0.0]), 0.1)))
    start = np.array([1.0, 0.0, 0.0]) + stage_of(run).layers.offset("bar")
    for s in np.linspace(0.05, 0.95, 10):
        assert is_green(image, film, start + s * arrow.vectors[0])
    assert not is_green(image, film, start - 0.1 * arrow.vectors[0])
    (key,) = film.keys
    assert key.text == "20 N"
    from_, to = (film.camera.seen(start + s * arrow.vectors[0])[0] for s in (0.0, 1.0))
    assert key.pixels == pytest.approx(np.linalg.norm(to - from_) / 2, rel=1e-3)  # as long as in the picture
    seen, _ = film.camera.seen(start + arrow.vectors[0])
    assert np.all((seen > 0) & (seen < film.camera.size))
    bare = np.asarray(next(Film(bar(), (640, 480), np.array([0.0, -1.0, 0.0])).pictures(np.array([0.0]), 0.1)))
    assert np.ptp(image[450:, 320:].astype(int), axis=2).max() > 60 > np.ptp(bare[450:, 320:].astype(int), axis=2).max()


def test_forces_are_drawn_in_proportion_and_peaks_are_cut():
    run = bar(force=((0, 10.0), {"factor": da.Polynomial((0.0, 10.0))}))
    (arrow,), scales = arrows_of(run(np.linspace(0, 0.1, 1001)), 1.0, 1.0)
    sizes = np.linalg.norm(arrow.vectors, axis=1)
    assert sizes[1000] == pytest.approx(2.0 * sizes[500]) and sizes[980] == pytest.approx(0.352)
    assert scales == pytest.approx({"force": 9.8 / 0.352})
    assert len(arrow.faces(np.zeros(3), arrow.vectors[0], 1.0)[0]) == 0  # too short to be seen
    peak = bar(force=((0, 1.0), {"factor": lambda t: 1.0 + 999.0 * np.exp(-((t - 0.05) ** 2) / 1e-7)}))
    (arrow,), _ = arrows_of(peak(np.linspace(0, 0.1, 1001)), 1.0, 1.0)
    assert np.linalg.norm(arrow.vectors, axis=1).max() == pytest.approx(1.5 * 0.352)


@pytest.mark.parametrize(
    ("per_metre", "told"), [(299.8, "200 N"), (1.4e5, "100 kN"), (9.9e3, "5000 N"), (3.1e-4, "0.0002 N"), (2.3e7, "20 MN")]
)
def test_the_scale_of_arrows_is_told_in_round_numbers(per_metre, told):
    """A metre is as long as the longest arrow that tells a scale may be."""
    (key,) = keys_of({"force": per_metre}, 90.0)
    assert key.text == told and 36.0 <= key.pixels <= 90.0


@pytest.mark.parametrize("sense", [1.0, -1.0])
def test_a_torque_turns_about_its_axis(sense):
    run = bar(torque=(3.0 * sense, {}))
    (arrow,), scales = arrows_of(run, 1.0, 1.0)
    assert scales == pytest.approx({"torque": 3.0 / 0.352})
    axis = run.effort("torque").torque[0] / 3.0
    assert arrow.vectors[0] / np.linalg.norm(arrow.vectors[0]) == pytest.approx(axis)
    faces, _ = arrow.faces(np.zeros(3), arrow.vectors[0], 1.0)
    middle = faces.mean(axis=1)
    assert np.abs(middle @ axis).max() < 0.02 and np.linalg.norm(middle, axis=1).min() > 0.15  # around it, not along it
    tip = faces[-24:].reshape(-1, 3)  # the mantle of the cone: its point is where it turns to
    point = tip[np.argmax(np.linalg.norm(tip - middle[-48:].mean(axis=0), axis=1))]
    assert np.cross(middle[-48:].mean(axis=0), point - middle[-48:].mean(axis=0)) @ axis > 0.0


def test_loads_whose_functions_are_not_at_hand_are_left_out(tmp_path):
    run = bar(force=(lambda t: np.array([0.0, 0.0, 1.0 + t]), {}))
    assert len(Film(run, (80, 60)).arrows) == 1
    run.save(tmp_path / "run.zarr")
    from dalembert.viewer.server import load_run

    film = Film(load_run(tmp_path / "run.zarr"), (80, 60))
    assert film.arrows == [] and film.keys == []


def test_arrows_of_a_short_push_are_in_proportion():
    """Zeros before and after it made the usual size nearly zero, so that all of them were cut to one length."""
    push = bar(force=((0, 1.0), {"factor": da.Table((0, 0.002, 0.004), (0, 1, 0), clamp=True)}))
    shown = push(np.linspace(0, 0.1, 1001))
    (arrow,), scales = arrows_of(shown, 1.0, 1.0)
    assert 0.9 < scales["force"] * 0.352 <= 1.0
    np.testing.assert_allclose(arrow.vectors * scales["force"], shown.effort("force").force, atol=1e-12)

"""Belts run around their pulleys."""

import numpy as np
import pytest

import dalembert as da
from dalembert.viewer.belts import belt_of
from dalembert.viewer.stage import stage_of


def drive(crossed=False, radii=(0.05, 0.12), distance=0.4, verb="belt", flip=False):
    model = da.Model(plane="xz", gravity=(0, 0, 0))
    model.add_body("small", **da.disc(1.0, 0.05, axis="y").body(), position=(0, 0.3))
    model.add_body("large", **da.disc(2.0, 0.12, axis="y").body(), position=(distance, 0.3))
    model.add_revolute("A", "ground", "small", point=(0, 0.3), rate=6.0)
    model.add_revolute("B", *(("large", "ground") if flip else ("ground", "large")), point=(distance, 0.3))
    if verb == "belt":
        model.add_belt("belt", "small", "large", radii=radii, crossed=crossed)
    else:
        model.add_gear("gear", "small", "large", teeth=(5, 12))
    return model


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("crossed", [False, True])
def test_a_belt_is_two_tangents_and_two_arcs(crossed, flip):
    run = da.simulate(drive(crossed, flip=flip), 0.2)
    stage = stage_of(run)
    assert stage.lines == ()
    (belt,) = (f for f in stage.fittings if f.tag == "joint 2")
    assert belt.body == "ground"
    x = (belt.part.at + belt.part.mesh.triangles @ belt.part.matrix.T).reshape(-1, 3)[:, [0, 2]] - (0.0, 0.3)
    away = [np.linalg.norm(x - centre, axis=1) for centre in ((0.0, 0.0), (0.4, 0.0))]
    assert away[0].min() > 0.05 * 0.995 and away[1].min() > 0.12 * 0.995  # around both, through neither
    assert x.min(axis=0) == pytest.approx((-0.0535, -0.1235), abs=1e-3) and x[:, 0].max() == pytest.approx(0.5235, abs=1e-3)
    # the strand that leaves the top of the large pulley comes to the top of the small one, or to its bottom
    touching = np.abs(away[0] - 0.0517) < 0.0025
    reach = np.abs(np.arctan2(x[touching, 1], -x[touching, 0])).max()  # from the far side
    bend = np.arccos((0.17 if crossed else -0.07) / 0.4)
    assert reach == pytest.approx(np.pi - bend, abs=0.08)
    both = run.angular_velocity("small")[-1, 1] * run.angular_velocity("large")[-1, 1]
    assert (both < 0.0) == crossed  # as the model turns them


def test_what_is_no_belt_is_a_line():
    for model in (drive(verb="gear"), drive(distance=0.17), drive(radii=(20, 48))):  # 5 : 12, in mesh, teeth
        assert belt_of(model, model.joints[-1]) is None
        assert [line.kind for line in stage_of(da.simulate(model, 0.1)).lines] == ["coupling"]


def test_a_belt_goes_with_its_carrier_and_looks_outwards():
    model = da.Model(gravity=(0, 0, 0))
    model.add_link("arm", (0, 0, 0), (0.4, 0, 0), mass=1.0)
    model.add_body("one", **da.disc(1.0, 0.05, axis="y").body(), position=(0, 0, 0))
    model.add_body("two", **da.disc(1.0, 0.05, axis="y").body(), position=(0.4, 0, 0))
    model.add_revolute("O", "ground", "arm", point=(0, 0, 0), axis=(0, 1, 0), rate=1.0)
    model.add_revolute("A", "arm", "one", point=(0, 0, 0), axis=(0, 1, 0), rate=3.0)
    model.add_revolute("B", "arm", "two", point=(0.4, 0, 0), axis=(0, 1, 0))
    model.add_belt("belt", "one", "two", radii=(0.05, 0.05), carrier="arm")
    carrier, wheel, part = belt_of(model, model.joint("belt"))
    assert (carrier, wheel) == ("arm", "one")
    a, b, c = np.moveaxis(part.mesh.triangles.astype(float), 1, 0)
    length = 2 * 0.4 + 2 * np.pi * 0.05175
    assert np.sum(a * np.cross(b, c)) / 6 == pytest.approx(length * 0.0035 * 0.0075, rel=0.02)  # thick, wide

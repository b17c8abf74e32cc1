"""Joints of point masses, stored and read again."""

import numpy as np
import pytest

import dalembert as da

ENDS = {"first": ("tip", "bar"), "second": ("bar", "tip"), "both": ("tip", "end")}


def made(plane, end=1.0):
    """A bar on a hinge and two point masses, and how a place along the bar is written."""
    model = da.Model(plane=plane)

    def at(x):
        return (x, 0) if plane else (x, 0, 0)

    if plane:
        model.add_link("bar", at(0), at(1), mass=1.0)
    else:
        model.add_body("bar", **da.rod(1.0, axis="x", between=(at(0), at(1))).body())
    model.add_revolute("A", "ground", "bar", point=at(0), axis=(0, 1, 0))
    model.add_point_mass("tip", mass=1.0, position=at(1))
    model.add_point_mass("end", mass=1.0, position=at(end))
    return model, at


def spherical(plane, i, j):
    model, at = made(plane)
    model.add_spherical("T", i, j, point=at(1))
    return model


def coincidence(plane, i, j):
    model, at = made(plane)
    model.add_coincidence("T", i, j, points=[at(0.5 * (name == "bar")) for name in (i, j)])
    return model


def distance(plane, i, j):
    model, at = made(plane, end=2.0)
    model.add_distance("T", i, j, between=[at({"bar": 0, "tip": 1, "end": 2}[name]) for name in (i, j)])
    return model


def point_on_line(plane, i, j):
    model, at = made(plane)
    model.add_point_on_line("T", i, j, point=at(1), axis=at(1))
    return model


def point_on_plane(plane, i, j):
    model, at = made(plane)
    model.add_point_on_plane("T", i, j, point=at(1), axis=at(1))
    return model


def in_plane(plane, i, j):
    model, at = made(plane)
    model.add_in_plane("T", i, j, direction=at(1), offset=0.5)
    return model


CASES = [(of, plane, ends) for of in (spherical, coincidence, distance) for plane in (None, "xz") for ends in ENDS]
CASES += [(of, plane, "second") for of in (point_on_line, point_on_plane, in_plane) for plane in (None, "xz")]


@pytest.mark.parametrize(("of", "plane", "ends"), CASES)
def test_to_the_bit(of, plane, ends, tmp_path):
    model = of(plane, *ENDS[ends])
    again = da.Model.from_dict(model.to_dict())
    assert again.hash == model.hash and again.to_dict() == model.to_dict()
    run = da.simulate(model, 0.05)
    run.save(tmp_path / "run.zarr")
    read = da.load(tmp_path / "run.zarr")
    assert np.array_equal(read.x, run.x) and np.array_equal(read.t, run.t)
    for name in ("bar", "tip", "end"):
        assert np.array_equal(read.position(name), run.position(name))
    assert np.array_equal(read.reaction("T").force, run.reaction("T").force)


def test_stored_joints_that_a_point_mass_cannot_have():
    data = spherical(None, "bar", "tip").to_dict()
    (stored,) = (element for element in data["elements"] if element["name"] == "T")
    stored["coordinates"] = ["rotation_x", "rotation_y", "rotation_z"]
    with pytest.raises(da.ModelError, match=r"Joint 'T': has rows .*, coordinates .*; expected those of a spherical joint"):
        da.Model.from_dict(data)
    (hinge,) = (element for element in data["elements"] if element["name"] == "A")
    hinge["second"] = "tip"
    with pytest.raises(da.ModelError, match="Joint 'A': point mass 'tip' has no axes"):
        da.Model.from_dict(data)

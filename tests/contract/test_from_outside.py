"""What users see, asked through public functions alone: pixels of pictures, bytes of stores, lines of plots."""

import os

import numpy as np
import pytest

import dalembert as da

Image = pytest.importorskip("PIL.Image")


def film(solution, path, **options):
    """(frames, height, width, 3) of a GIF."""
    solution.export_animation(path, **options)
    with Image.open(path) as gif:
        frames = []
        for k in range(gif.n_frames):
            gif.seek(k)
            frames.append(np.asarray(gif.convert("RGB"), dtype=float))
    return np.array(frames)


def circling(model, name, radius, omega):
    """A point mass that a force leads around a circle in the plane y = 0."""
    model.add_point_mass(name, mass=1.0, position=(radius, 0, 0), velocity=(0, 0, radius * omega))
    pull = radius * omega**2

    def around(t):
        return (-pull * np.cos(omega * t), 0.0, -pull * np.sin(omega * t))

    model.add_force(f"{name} pull", name, around)


def test_plates_that_cross_are_each_seen_where_they_are_nearer(tmp_path):
    """Two wide plates that cross: drawn face by face, one would hide the other."""
    model = da.Model(gravity=(0, 0, 0))
    for name, angle in (("one", 0.6), ("two", -0.6)):
        turn = da.Rotation.from_axis_angle((0, 0, 1), angle)
        shape = {"type": "box", "size": (2.0, 0.02, 2.0)}
        model.add_body(name, mass=1.0, inertia=(1, 1, 1), rotation=turn, shape=shape)
    circling(model, "fly", 1.2, 2 * np.pi)
    picture = film(da.simulate(model, 1.0, save_at=np.linspace(0, 1, 21)), tmp_path / "x.gif", fps=4, size=(320, 240))[0]
    warm, cold = (np.sum(shade > 40) for shade in (picture[..., 0] - picture[..., 2], picture[..., 2] - picture[..., 0]))
    assert 0.25 * cold < warm < cold  # of the plate behind, the half in front of the other is seen


def test_trails_are_round(tmp_path):
    """Four turns a second in five pictures a second: a circle, seen as an ellipse, and not a pentagon."""
    model = da.Model(gravity=(0, 0, 0))
    circling(model, "fly", 1.0, 8 * np.pi)
    frames = film(da.simulate(model, 1.0, save_at=np.linspace(0, 1, 33)), tmp_path / "t.gif", fps=5, size=(400, 400))
    blue = np.median(frames[1:, ..., 2] - frames[1:, ..., 0], axis=0)  # so is the way; the fly is elsewhere each time
    changed = blue[:360] > 60  # the clock is below
    x, y = (values / 200 - 1 for values in np.nonzero(changed))
    conic = np.column_stack([x * x, x * y, y * y, x, y])
    off = conic @ np.linalg.lstsq(conic, np.ones(len(x)), rcond=None)[0] - 1
    assert len(x) > 500 and np.median(np.abs(off)) < 0.03


def pendulum():
    model = da.Model()
    model.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0))
    model.add_revolute("hinge", "ground", "arm", point=(0, 0, 0), axis=(0, 1, 0))
    return model


def test_one_torn_block_costs_that_block(tmp_path):
    path = tmp_path / "run.zarr"
    solution = da.simulate(pendulum(), 2.0, save_at=np.linspace(0, 2, 40_001), out=path)
    blocks = [file for file in path.rglob("*") if file.is_file() and "/x/c/" in file.as_posix()]
    assert len(blocks) > 3
    block = sorted(blocks, key=lambda file: file.stat().st_size)[-2]
    content = bytearray(block.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 64] = bytes(64)
    block.write_bytes(content)
    left = da.load(path)
    assert 20_000 < len(left.t) < 40_001
    assert left.x.tobytes() == solution.x[np.isin(solution.t, left.t)].tobytes()


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="names of open files are asked of Linux")
def test_states_are_on_the_disk_before_they_are_committed(tmp_path, monkeypatch):
    kept, fsync = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (kept.append(os.readlink(f"/proc/self/fd/{file}")), fsync(file)))
    da.simulate(pendulum(), 0.1, out=tmp_path / "run.zarr")
    assert any("/x/c/" in name for name in kept) and any("/commit" in name for name in kept)


@pytest.mark.parametrize("level", ["position", "velocity"])
def test_the_line_in_a_plot_of_drift_is_the_limit_of_the_report(level):
    solution = da.simulate(pendulum(), 1.0)
    lines = [line.get_ydata() for ax in solution.plot.drift(level=level).axes for line in ax.lines]
    drawn = [float(y[0]) for y in lines if len(y) == 2 and y[0] == y[1]]
    assert drawn == pytest.approx([float(solution.report()[f"{level} drift"].limit)], rel=1e-2)


def test_a_contact_that_pulls_is_told():
    """A disc that rolls while 20 t N lift it against a weight of 9.81 N: from 0.4905 s on its contact would have to pull."""
    model = da.Model()
    model.add_body("d", mass=1.0, inertia=(0.0225, 0.045, 0.0225), position=(0, 0, 0.3), angular_velocity=(0, 3, 0))
    model.add_rolling_disc("roll", "d", radius=0.3, axis=(0, 1, 0))
    model.add_force("pull", "d", lambda t: (0.0, 0.0, 20.0 * t))
    told = da.simulate(model, 1.0).report().to_dict()["lines"]
    assert [line["verdict"] for line in told if "contact" in line["name"] and "roll" in line["name"]] == ["WARN"]

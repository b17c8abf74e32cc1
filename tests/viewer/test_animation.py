"""GIF and MP4 without a screen."""

import itertools
import sys

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import dalembert as da
from dalembert import gallery
from dalembert.cli import app
from dalembert.run.progress import Progress
from dalembert.viewer import animation
from dalembert.viewer.animation import Film
from dalembert.viewer.raster import rgb
from dalembert.viewer.stage import colours


def pixels(image):
    return np.asarray(image.convert("RGB")).astype(float)


def test_gif_has_a_picture_for_every_instant(crank, tmp_path):
    crank.export_animation(tmp_path / "run.gif", fps=10, size=(320, 240))
    with Image.open(tmp_path / "run.gif") as gif:
        assert gif.size == (320, 240)
        assert gif.n_frames == 21  # 2 s
        assert gif.info["duration"] == 100
        frames = []
        for k in range(gif.n_frames):
            gif.seek(k)
            frames.append(pixels(gif))
    moves = [np.abs(b - a).max(axis=2) > 60 for a, b in itertools.pairwise(frames)]
    assert all(changed.sum() > 50 for changed in moves)


def test_speed_and_frame_rate(crank, tmp_path):
    crank.export_animation(tmp_path / "slow.gif", fps=20, speed=0.5, size=(160, 120))
    with Image.open(tmp_path / "slow.gif") as gif:
        assert (gif.n_frames, gif.info["duration"]) == (81, 50)


def test_progress_counts_pictures(crank, tmp_path):
    told = []
    crank.export_animation(tmp_path / "a.gif", fps=4, size=(80, 60), progress=lambda done, of: told.append((done, of)))
    assert told == [(k, 9) for k in range(1, 10)]  # 2 s


@pytest.mark.parametrize(("options", "show"), [([], None), (["--quiet"], False)])
def test_export_shows_a_bar_unless_quiet(crank, tmp_path, monkeypatch, options, show):
    shown = []
    monkeypatch.setattr(animation, "Progress", lambda wanted, *words: shown.append(wanted) or Progress(wanted, *words))
    crank.save(tmp_path / "a.zarr")
    command = ["export", str(tmp_path / "a.zarr"), str(tmp_path / "a.gif"), "--fps", "2", "--size", "80x60", *options]
    result = CliRunner().invoke(app, command)
    assert (result.exit_code, result.stderr, shown) == (0, "", [show])  # piped, nothing is shown


def test_bodies_are_drawn_where_the_solution_has_them():
    """The pixel of each centre of mass has the hue of its body, unless another body is in front of it."""
    run = da.simulate(gallery.build("four_bar"), 2.0)
    film = Film(run, (640, 480))
    times = run.t[[2, len(run.t) // 2, -1]]
    wanted = [rgb(colour) for colour in colours(3)]
    hits = 0
    for picture, t in zip(film.pictures(times, 1.0), times, strict=True):
        image, state = pixels(picture), run(float(t))
        for b, name in enumerate(("crank", "coupler", "rocker")):
            (x, y), _ = film.camera.seen(state.position(name))
            colour = image[round(y / 2), round(x / 2)]
            hits += colour @ wanted[b] / np.linalg.norm(colour) / np.linalg.norm(wanted[b]) > 0.98
    assert hits >= 8


def test_springs_and_trails_are_drawn(tmp_path):
    from dalembert.gallery import tethered_chain

    solution = da.simulate(tethered_chain(4), 0.5)
    film = Film(solution, (400, 300))
    (picture,) = film.pictures(solution.t, 0.5, [len(solution.t) - 1])
    film.lines, film.trails = [], []
    (bare,) = film.pictures(solution.t, 0.5, [len(solution.t) - 1])
    assert (np.abs(pixels(picture) - pixels(bare)).max(axis=2) > 30).sum() > 100


def test_mp4(crank, tmp_path):
    ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="imageio-ffmpeg is not installed")
    crank.export_animation(tmp_path / "run.mp4", fps=10, size=(321, 241))
    assert ffmpeg.count_frames_and_secs(str(tmp_path / "run.mp4")) == (21, pytest.approx(2.1, abs=0.05))
    assert {path.name for path in tmp_path.iterdir()} == {"run.mp4"}


def test_mp4_without_its_package_says_what_to_install(crank, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(da.ViewerError, match=r"needs a package: pip install imageio-ffmpeg; .gif"):
        crank.export_animation(tmp_path / "run.mp4", fps=2, size=(100, 100))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "options", "error", "message"),
    [
        ("run.avi", {}, da.StoreError, "'.avi' is no animation format; give one of .gif, .mp4"),
        ("no/run.gif", {}, da.StoreError, "does not exist"),
        ("run.gif", {"fps": 0}, da.ModelError, "fps is 0"),
        ("run.gif", {"speed": float("nan")}, da.ModelError, "speed is nan"),
        ("run.gif", {"size": (0, 100)}, da.ModelError, "size is 0"),
        ("run.gif", {"speed": 1e-4}, da.ModelError, "pictures; give speed="),
    ],
)
def test_bad_requests(crank, tmp_path, name, options, error, message):
    with pytest.raises(error, match=message):
        crank.export_animation(tmp_path / name, **options)
    assert list(tmp_path.iterdir()) == []

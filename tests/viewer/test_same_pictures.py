"""Pages and pictures show the same instant alike: place, size, tones, grid, arrows, what is written."""

import io

import numpy as np
import pytest
from PIL import Image

import dalembert as da
from dalembert.viewer.animation import Film
from dalembert.viewer.arrows import COLOUR
from dalembert.viewer.raster import rgb

SIZE = (904, 760)  # of the stage beside the plots
BARS = (slice(100, 640), slice(150, 840))  # where a page has no buttons and cards


def opened(open_tab, run, tmp_path):
    path = tmp_path / "run.html"
    run.export_html(path)
    tab = open_tab(path)
    tab.do("viewer.scrub(0.8)")
    tab.wait("viewer.settled()")
    return tab


def saved(tab):
    """The picture that key S makes."""
    with tab.page.expect_download() as download:
        tab.page.keyboard.press("s")
    return np.asarray(Image.open(download.value.path()).convert("RGB")).astype(float)


def coloured(picture):
    """Where there are parts of bodies: neither paper nor grey."""
    return np.ptp(picture, axis=-1) > 60


@pytest.mark.parametrize("name", ["press", "slider_crank", "rolling_disc"])
def test_pages_and_pictures_show_the_same(open_tab, press, tmp_path, name):
    run = da.simulate(press if name == "press" else da.gallery.build(name), 2.0)
    tab = opened(open_tab, run, tmp_path)
    run.export_picture(tmp_path / "still.png", t=0.8, size=SIZE)
    page, still = saved(tab), np.asarray(Image.open(tmp_path / "still.png").convert("RGB")).astype(float)
    assert page.shape == still.shape
    Image.fromarray(np.hstack([page, still]).astype(np.uint8)).save(tmp_path / "both.png")
    where = [np.argwhere(coloured(picture)) for picture in (page, still)]
    for low, high in zip(*([at.min(axis=0), at.max(axis=0)] for at in where), strict=True):
        assert low == pytest.approx(high, abs=12), "as large, in the same place"
    both = coloured(page) & coloured(still)
    assert both.sum() > 0.85 * max(len(at) for at in where)
    assert page[both].mean(axis=0) == pytest.approx(still[both].mean(axis=0), abs=12), "as bright"
    paper = ~(coloured(page) | coloured(still))
    assert np.abs(page - still)[paper].mean() < 3.0, "grid and shadows alike"
    step = float(tab.page.locator(".chip.quiet", has_text="grid").inner_text().split()[1])
    assert run.mechanism.model and step == grid_step(Film(run, SIZE))


def grid_step(film):
    from dalembert.viewer.raster import _nice

    return _nice(film.camera.look.radius / 4)


def test_a_saved_picture_has_title_time_and_scale(open_tab, press, tmp_path):
    """Beside the bare picture: in its corners, and the number at the arrow."""
    tab = opened(open_tab, da.simulate(press, 2.0), tmp_path)
    bare = np.asarray(Image.open(io.BytesIO(_bytes(tab.do("viewer.picture()")))).convert("RGB")).astype(float)
    differs = np.abs(saved(tab) - bare).max(axis=-1) > 30
    height, width = differs.shape
    assert differs[:40, :200].any() and differs[height - 40 :, :120].any() and differs[height - 40 :, width - 200 :].any()
    assert differs[100 : height - 100].any(), "the number at the arrow"
    assert not differs[40:90].any()


def _bytes(address):
    import base64

    return base64.b64decode(address.split(",")[1])


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 0, -1), (1, 2, -2)])
def test_torques_begin_alike(open_tab, tmp_path, axis):
    """Their tips are in one place, three quarters of a turn from where they begin; their numbers beside the circle."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("body", **da.box(1.0, (0.3, 0.2, 0.1)).body())
    model.add_torque("twist", "body", axis)
    run = da.simulate(model, 1.0)
    tab, film = opened(open_tab, run, tmp_path), Film(run, SIZE)
    tab.wait("document.querySelectorAll('.labels .number').length > 0")
    (arrow,) = film.arrows
    at, vector = run.position("body")[0], arrow.vectors[0]
    faces, tip = arrow.faces(at, vector, film.scale)
    corners = faces.reshape(-1, 3)
    head = corners[np.linalg.norm(corners - tip, axis=1) < 0.045 * film.scale].mean(axis=0)  # a cone, 0.04 long
    column, row = (round(c) for c in tab.do(f"viewer.project(...{head.tolist()})"))
    seen = np.asarray(Image.open(io.BytesIO(_bytes(tab.do("viewer.picture()")))).convert("RGB")).astype(float)[row, column]
    assert seen @ rgb(COLOUR) / np.linalg.norm(seen) / np.linalg.norm(rgb(COLOUR)) > 0.97
    x, y = tab.do(f"viewer.project(...{arrow.number_at(at, tip, vector, film.camera.axes[0], film.scale).tolist()})")
    box = tab.page.locator(".labels .number").bounding_box()
    assert min(abs(box["x"] - x), abs(box["x"] + box["width"] - x)) < 12 and abs(box["y"] + 8 - y) < 12

"""The motion as a GIF or MP4 file, an instant of it as a picture, made without a screen."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from dalembert.arrays import Array
from dalembert.errors import ModelError, SimulationError, StoreError, ViewerError
from dalembert.files import check_parent, written_whole
from dalembert.model.elements import GROUND
from dalembert.model.validation import unit_vector
from dalembert.results.sampling import curve, usable, usual_speed
from dalembert.results.solution import BodyResult
from dalembert.run.progress import Progress, ProgressFunction
from dalembert.viewer.arrows import COLOUR as ARROWS
from dalembert.viewer.arrows import arrows_of, keys_of, look_at
from dalembert.viewer.fittings import COLOURS, SPRING
from dalembert.viewer.frames import poses
from dalembert.viewer.framing import VIEWS, standard_view, upward
from dalembert.viewer.ground import COLOUR
from dalembert.viewer.parts import Part, between
from dalembert.viewer.raster import Camera, Label, Surface, background, draw_shadows, finished, painted, rgb
from dalembert.viewer.stage import colours, marker_parts, middle_of, outline_of, stage_of
from dalembert.viewer.surfaces import coil, faces_of
from dalembert.viewer.trails import trails_of

_MEMORY = 1.2  # seconds of animation that a trail lasts, also in pages (web/viewer.js)
_MOST_FRAMES = 3000
_DARKER = 0.87  # quarters of what is round, as in pages (web/solids.js)
_CORNERS = 3000.0, 24, 192  # around what is round: over its radius in parts of the mechanism, least, most: no facets are seen
_OF_BALLS = 64  # most around what is round in two directions, which has half as many rings


def export_animation(
    solution: BodyResult,
    path: str | os.PathLike[str],
    *,
    fps: float = 25.0,
    speed: float | None = None,
    size: tuple[int, int] = (800, 600),
    camera: str | npt.ArrayLike | None = None,
    progress: bool | ProgressFunction | None = None,
) -> None:
    """Write an animation, whole or not at all; see `Solution.export_animation`."""
    target = Path(path)
    writers = {".gif": _write_gif, ".mp4": _write_mp4}
    if target.suffix.lower() not in writers:
        raise StoreError(f"{target}: {target.suffix or 'no suffix'!r} is no animation format; give one of {', '.join(writers)}")
    check_parent(target)
    for name, value in (("fps", fps), ("speed", 1.0 if speed is None else speed)):
        if not (math.isfinite(value) and value > 0):
            raise ModelError(f"export_animation: {name} is {value!r}; give a number above 0")
    film = _film("export_animation", solution, size, camera)
    speed = usual_speed(film.end - film.start) if speed is None else speed
    step = speed / fps
    times: Array = film.start + step * np.arange(int((film.end - film.start) / step * (1 + 1e-12)) + 1, dtype=float)
    if len(times) > _MOST_FRAMES:
        raise ModelError(
            f"export_animation: the run would take {len(times)} pictures; give speed={speed * len(times) / 1000:.2g}"
            " or a larger one"
        )
    film.speed = speed
    where = "picture {task.completed:.0f} of {task.total:.0f}"
    with written_whole(target) as temporary, Progress(progress, "drawing", where) as bar:
        few = sorted({len(times) // 4, len(times) // 2, len(times) - 1})
        palette = _palette(list(film.pictures(times, _MEMORY * speed, few)))
        writers[target.suffix.lower()](_told(film.pictures(times, _MEMORY * speed), bar, len(times)), temporary, fps, palette)


def _told(pictures: Iterator[Image.Image], bar: Progress, count: int) -> Iterator[Image.Image]:
    for k, picture in enumerate(pictures, 1):
        bar.update(k, count)
        yield picture


def export_picture(
    solution: BodyResult,
    path: str | os.PathLike[str],
    *,
    t: float | None = None,
    size: tuple[int, int] = (800, 600),
    camera: str | npt.ArrayLike | None = None,
) -> None:
    """Write a picture of one instant, whole or not at all; see `Solution.export_picture`."""
    target = Path(path)
    if target.suffix.lower() != ".png":
        raise StoreError(f"{target}: {target.suffix or 'no suffix'!r} is no format of pictures; give .png")
    check_parent(target)
    film = _film("export_picture", solution, size, camera)
    at = film.start if t is None else float(t)
    if not film.start <= at <= film.end:
        raise ModelError(f"export_picture: t is {t!r}; give one of the run, {film.motion.span(film.start, film.end)}")
    span = film.end - film.start
    memory = min(_MEMORY * usual_speed(span), span or 1.0)
    (picture,) = film.pictures(np.array([at]), memory if at > film.start else -memory)
    with written_whole(target) as temporary:
        picture.save(temporary, "PNG", optimize=True)


def _film(owner: str, solution: BodyResult, size: tuple[int, int], camera: str | npt.ArrayLike | None) -> Film:
    if isinstance(camera, str) and camera not in VIEWS:
        raise ModelError(f"{owner}: there is no view {camera!r}; give one of {', '.join(VIEWS)}, or (x, y, z) to the camera")
    if isinstance(camera, str):
        camera = standard_view(camera, upward(solution.mechanism.model.gravity))
    direction = None if camera is None else unit_vector(owner, "camera", camera)
    if min(size) < 2:
        raise ModelError(f"{owner}: size is {min(size)!r}; give a number above 1")
    return Film(solution, (2 * (size[0] // 2), 2 * (size[1] // 2)), direction)  # video codecs want even sizes


class Film:
    """A solution that can be drawn at any time of the run."""

    def __init__(self, solution: BodyResult, size: tuple[int, int], direction: Array | None = None) -> None:
        states = usable(solution)
        if not len(states):
            raise SimulationError("the solution holds no states that can be drawn; there is nothing to animate")
        self.motion: BodyResult = curve(solution)
        self.start, self.end = float(self.motion.t[0]), float(self.motion.t[-1])
        self.speed = 1.0
        self.title = solution.mechanism.model.name or "model"
        stage = stage_of(outline_of(solution), direction)
        self.scale = stage.scale
        self.arrows, scales = arrows_of(self.motion, stage.scale, stage.look.radius)
        self.camera = Camera(look_at(stage, self.motion, self.arrows), size)
        self.keys = keys_of(scales, self.camera.metre)
        self.empty = background(self.camera)
        self.way = middle_of(self.motion, stage.look.normal) if stage.follow else None
        names, markers = solution.mechanism.body_names, solution.mechanism.model.markers
        self.colours = [rgb(colour) for colour in colours(len(names) + len(markers))]
        self.trails = trails_of(solution.mechanism.model)
        places = [(name, name) for name in names] + [(marker.name, marker.body) for marker in markers]
        self.layers = np.array([stage.layers.offset(body) for _, body in places]).reshape(-1, 3)
        self.paths = {
            b: (self.motion.point(names[b], point) if b < len(names) else self.motion.position(places[b][0])) + self.layers[b]
            for b, point in self.trails
        }
        own = [(b, part) for b, name in enumerate(names) for part in stage.pictures[name].parts if not part.fixed]
        marks = range(len(names), len(names) + len(markers))
        self.dots = [[self._surface(b, part, self.colours[b]) for b in marks] for part in marker_parts(stage.scale)]
        others = [(-1, part) for part in stage.ground] + [(self._index(f.body), f.part) for f in stage.fittings]
        self.surfaces = [self._surface(b, part, self.colours[b]) for b, part in own]
        self.surfaces += [self._surface(b, part, rgb(COLOUR)) for b, part in others]
        self.lines = [(line, self._index(line.start[0]), self._index(line.end[0])) for line in stage.lines]

    def _surface(self, body: int, part: Part, colour: Array) -> Surface:
        around = _around(part, self.scale)
        return Surface(body, faces_of(part, around), _painted(part, colour, around), part.clear)

    def _index(self, body: str) -> int:
        return -1 if body == GROUND else self.motion.mechanism.body_names.index(body)

    def pictures(self, times: Array, memory: float, only: Sequence[int] | None = None) -> Iterator[Image.Image]:
        """One picture per time, or of only some of them; trails last `memory` seconds of motion, negative: of that ahead."""
        moving = poses(self.motion, times)
        digits = max(2, 2 - math.floor(math.log10(max(self.end - self.start, 1e-9))))
        slower = "" if self.speed >= 1 else f", {1 / self.speed:.6g} times slower"
        name, unit = self.motion.along
        for k in range(len(times)) if only is None else only:
            yield self.picture(times[k], moving[k], memory, f"{name} = {times[k]:.{digits}f} {unit}{slower}")

    def picture(self, t: float, pose: Array, memory: float, note: str) -> Image.Image:
        """The mechanism at time t in its pose (nb, 7)."""
        pose = np.concatenate([pose[:, :3] + self.layers, pose[:, 3:]], axis=1)
        place, camera, empty = partial(_placed, pose), self.camera, self.empty
        if self.way is not None:
            camera = camera.moved(_at(t, self.motion.t, self.way))
            empty = background(camera)
        solids, clear = (
            [(place(surface.body, surface.faces), surface.colours) for surface in self.surfaces if surface.clear is wanted]
            for wanted in (False, True)
        )
        for line, first, second in self.lines:
            start, end, colour = place(first, line.start[1]), place(second, line.end[1]), rgb(COLOURS[line.kind])
            if (length := float(np.linalg.norm(end - start))) > 0.0:
                end = start + min(1.0, line.reach / length) * (end - start)
                bar = between(start, end, line.radius * self.scale)
                bar = replace(bar, kind="cylinder") if line.kind == "pot" else bar
                r, wire = SPRING[0] * self.scale, SPRING[1] * self.scale
                faces = coil(start, end, r, wire) if line.kind == "spring" else faces_of(bar)
                solids.append((faces, np.tile(colour, (len(faces), 1))))
        corners, paint = _together(solids)
        recent = slice(*np.searchsorted(self.motion.t, sorted((t - memory, t))))
        ages = np.append(np.clip((t - self.motion.t[recent]) / memory, 0, 1), 0.0)
        order = ages.argsort(kind="stable")[::-1]  # from the farthest instant to this one
        paths = ((np.vstack([self.paths[b][recent], place(b, point)])[order], self.colours[b]) for b, point in self.trails)
        trails = [camera.ribbon(path, colour, ages[order]) for path, colour in paths]
        shaded = draw_shadows(empty, camera, corners)
        nothing = camera.faces(*_together([]))
        picture = painted(shaded, [camera.faces(corners, paint)], trails, camera.faces(*_together(clear)))
        for dots in self.dots if self.dots[0] else ():  # over all else, as arrows are
            marks = [(place(dot.body, dot.faces), dot.colours) for dot in dots]
            picture = painted(picture, [camera.faces(*_together(marks))], [], nothing)
        faces, labels = np.zeros((0, 4, 3)), []
        for arrow in self.arrows:
            at = place(self._index(arrow.load.body), arrow.load.point)
            vector = _at(t, self.motion.t, arrow.vectors)
            own, tip = arrow.faces(at, vector, self.scale)
            faces = np.concatenate([faces, own])
            if len(own):
                value = float(np.linalg.norm(_at(t, self.motion.t, arrow.load.values)))
                begins = arrow.number_at(at, tip, vector, camera.axes[0], self.scale)
                end, start = camera.seen(np.stack([begins, at]))[0]
                labels.append(Label(end, start, arrow.told(value)))
        if labels:
            loads = camera.faces(faces, np.tile(rgb(ARROWS), (len(faces), 1)))
            picture = painted(picture, [loads], [], nothing)
        return finished(picture, self.title, note, self.keys, ARROWS, labels)


def _at(t: float, times: Array, values: Array) -> Array:
    """(3,) of values (nt, 3)."""
    return np.array([np.interp(t, times, axis) for axis in values.T])


def _together(solids: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Faces (n, 4, 3) and colours (n, 3) of all of them."""
    faces, colours = [np.zeros((0, 4, 3))], [np.zeros((0, 3))]
    return np.concatenate(faces + [face for face, _ in solids]), np.concatenate(colours + [colour for _, colour in solids])


def _around(part: Part, scale: float) -> int:
    """How many corners a part has around what is round, in whole quarters."""
    each, least, most = _CORNERS
    most = most if part.kind in ("cylinder", "cone") else _OF_BALLS
    return 4 * round(float(np.clip(each * np.median(part.half) / scale, least, most)) / 4)


def _painted(part: Part, colour: Array, around: int) -> Array:
    """One colour per face; opposite quarters of what is round, of cylinders those of the ends, are darker, so that its spin is
    seen."""
    faces = faces_of(Part(part.kind, part.size, mesh=part.mesh, colour=part.colour), around)
    x, y, _ = faces.mean(axis=1).T
    ends = np.ptp(faces[:, :, 2], axis=1) == 0.0
    dark = (x * y > 0) & (part.colour is None) & (part.kind in ("sphere", "ellipsoid") or (part.kind == "cylinder") & ends)
    return np.where(dark[:, None], _DARKER, 1.0) * (colour if part.colour is None else rgb(part.colour))


def _placed(pose: Array, body: int, points: Array) -> Array:
    """Points (..., 3) of a body in the world."""
    if body < 0:
        return points
    x, y, z, w = pose[body, 3:]
    v = np.array([x, y, z])
    turned = points + 2.0 * np.cross(v, np.cross(v, points) + w * points)
    return np.asarray(turned + pose[body, :3])


def _palette(samples: list[Image.Image]) -> Image.Image:
    """The 256 colours that all pictures of a GIF share."""
    width, height = samples[0].size
    strip = Image.new("RGB", (width, height * len(samples)))
    for k, sample in enumerate(samples):
        strip.paste(sample, (0, height * k))
    return strip.quantize(256, method=Image.Quantize.MAXCOVERAGE, kmeans=1)


def _write_gif(pictures: Iterator[Image.Image], path: Path, fps: float, palette: Image.Image) -> None:
    first, *rest = (picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures)
    duration = max(20, 10 * round(100 / fps))  # the format counts hundredths of a second
    first.save(path, save_all=True, append_images=rest, duration=duration, loop=0, optimize=False, disposal=1)


def _write_mp4(pictures: Iterator[Image.Image], path: Path, fps: float, palette: Image.Image) -> None:
    try:
        import imageio_ffmpeg
    except ImportError:
        raise ViewerError("writing .mp4 needs a package: pip install imageio-ffmpeg; .gif needs nothing more") from None
    first = next(pictures)
    options = ["-crf", "20", "-preset", "medium", "-movflags", "+faststart"]
    video: Any = imageio_ffmpeg.write_frames(str(path), first.size, fps=fps, macro_block_size=2, output_params=options)
    video.send(None)
    video.send(first.tobytes())
    for picture in pictures:
        video.send(picture.tobytes())
    video.close()

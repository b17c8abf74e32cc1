"""Pictures of a mechanism with a depth buffer: of all that covers a pixel the nearest is seen. No screen, no browser."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from matplotlib import font_manager
from matplotlib.colors import to_rgb
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from dalembert.arrays import Array
from dalembert.viewer.arrows import Key
from dalembert.viewer.framing import Framing

_OVERSAMPLING = 2
_TANGENT = np.tan(np.radians(16.0))  # of half the field of view
_FARTHER = 1e-4  # that for parallel projection, over the usual one: from very far away all rays are parallel
_FREE = (124.0, 0.84), (210.0, 0.72)  # across and upright: pixels that are not, least part that is
_NEAREST = 0.05  # of the camera's distance: what is nearer is not drawn
_PAPER, _GRID, _INK, _GREY = (244, 243, 239), (212, 209, 200), (36, 39, 45), (93, 97, 104)  # as in web/style.css
_EVERYWHERE, _SKY, _SUN = 0.35, 1.9, 2.1  # lights, as in web/stage.js
_WARM, _BELOW = np.array([255, 246, 232]) / 255.0, np.array([201, 195, 184]) / 255.0  # colours of the sun and from below
_SHADOW = 51  # of 255
_REACH = 3.6  # of the grid, over the radius of the motion
_OPACITY, _STRONGEST = 0.4, 0.85  # of what is seen through, of the newest part of a trail, as in web/trails.js


@dataclass(frozen=True, eq=False)
class Surface:
    """Faces that move with a body (-1: the ground): (n, 4, 3) corners in body axes, (n, 3) colours in 0..1.

    clear : seen through
    """

    body: int
    faces: Array
    colours: Array
    clear: bool = False


@dataclass(frozen=True, eq=False)
class Polygons:
    """Convex polygons on a picture.

    points : (n, 4, 2) corners [px];  nearness : (n, 3), so that nearness @ (x, y, 1) = 1 / distance from the camera [1/m]
    colours : (n, 3) in 0..1;  opacity : (n,), of what fades
    """

    points: Array
    nearness: Array
    colours: Array
    opacity: Array = field(default_factory=lambda: np.ones(0))


@dataclass(frozen=True, eq=False)
class Label:
    """A number at the end of an arrow; end, start : (2,) [px]"""

    end: Array
    start: Array
    text: str


class Camera:
    """Picture of `size` pixels that shows what the framing holds, in perspective or in parallel projection."""

    def __init__(self, look: Framing, size: tuple[int, int]) -> None:
        width, height = (_OVERSAMPLING * pixels for pixels in size)
        self.axes = look.axes
        # as much is free around it as in pages (web/eye.js), less in small pictures
        free = (
            max(side - _OVERSAMPLING * most, part * side) for side, (most, part) in zip((width, height), _FREE, strict=True)
        )
        fit = max(size / room for size, room in zip(look.extent[:2], free, strict=True))
        tangent = _TANGENT * (_FARTHER if look.parallel else 1.0)
        self.distance = max(fit * height / tangent + look.extent[2], 1.1 * look.radius)
        self.target = look.target
        self.size = (width, height)
        self.zoom = 0.5 * height / tangent
        self.before = 1.0 + 0.002 * tangent / _TANGENT  # how much nearer trails are than what they lie on
        light = 1.1 * look.ground[0] + 0.5 * (look.up + look.direction) - 0.9 * look.axes[0]  # as in web/stage.js
        self.light = light / np.linalg.norm(light)
        self.look = look

    @property
    def metre(self) -> float:
        """Of the middle of what is seen, in pixels of the finished picture."""
        return float(self.zoom / self.distance / _OVERSAMPLING)

    def moved(self, way: Array) -> Camera:
        """The same, gone along."""
        other = copy(self)
        other.target = self.target + way
        return other

    def seen(self, points: Array) -> tuple[Array, Array]:
        """World points (..., 3) in pixels (..., 2), and how far they are in front of the camera [m]."""
        local = (points - self.target) @ self.axes.T
        away = np.maximum(self.distance - local[..., 2], 1e-3 * self.distance)
        flat = self.zoom * local[..., :2] / away[..., None] * [1, -1]
        return flat + 0.5 * np.array(self.size), away

    def on_floor(self, points: Array) -> Array:
        """Where points throw their shadows; what is below the floor throws none."""
        normal, floor = self.look.ground
        height = np.maximum(points @ normal - floor, 0.0)
        return np.asarray(points - height[..., None] * (self.light / (self.light @ normal)))

    def faces(self, corners: Array, colours: Array) -> Polygons:
        """Plane faces (n, 4, 3), lit from above; those that look away are left out.

        A plane m p = d, seen along the rays p = a (X, Y, -1) + (0, 0, D), has 1/a = (m_x X + m_y Y - m_z) / (d - m_z D).
        """
        normals = np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1])
        normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
        points, away = self.seen(corners)
        eye = self.target + self.distance * self.look.direction
        facing = np.sum(normals * (eye - corners[:, 0]), axis=1)
        kept = (facing > 1e-9 * self.distance) & (away > _NEAREST * self.distance).all(axis=1)
        normals, facing = normals[kept], facing[kept]
        x, y, z = -(normals @ self.axes.T).T / facing
        centre = 0.5 * np.array(self.size) / self.zoom
        nearness = np.stack([x / self.zoom, -y / self.zoom, y * centre[1] - x * centre[0] - z], axis=1)
        return Polygons(points[kept], nearness, self._lit(normals, colours[kept]))

    def _lit(self, normals: Array, colours: Array) -> Array:
        """Colours (n, 3) of faces that do not shine, as pages light them (web/stage.js)."""
        sky = 0.5 + 0.5 * normals @ self.look.up
        light = _EVERYWHERE + _SKY * (_linear(_BELOW) + sky[:, None] * (1.0 - _linear(_BELOW)))
        light = light + _SUN * _linear(_WARM) * np.maximum(normals @ self.light, 0.0)[:, None]
        lit = np.minimum(_linear(colours) * light / np.pi, 1.0)
        return np.asarray(np.where(lit < 0.0031308, 12.92 * lit, 1.055 * np.maximum(lit, 1e-9) ** (1.0 / 2.4) - 0.055))

    def ribbon(self, path: Array, colour: Array, ages: Array, width: float = 2.6) -> Polygons:
        """A line of `width` pixels through world points (n, 3); ages from 0 (now) to 1 (gone)."""
        points, away = self.seen(path)
        p, q, near_p, near_q = points[:-1], points[1:], 1.0 / away[:-1], 1.0 / away[1:]
        length = np.linalg.norm(q - p, axis=1, keepdims=True)
        along = (q - p) / np.maximum(length, 1e-9)
        side = 0.5 * _OVERSAMPLING * width * np.stack([-along[:, 1], along[:, 0]], axis=1)
        over = 0.25 * _OVERSAMPLING * width * along  # so that bends have no gaps
        corners = np.stack([p - over - side, p - over + side, q + over + side, q + over - side], axis=1)
        slope = along * (near_q - near_p)[:, None] / np.maximum(length, 1e-9)
        nearness = np.concatenate([slope, (near_p - np.sum(slope * p, axis=1))[:, None]], axis=1)
        nearness *= self.before
        kept = length[:, 0] > 1e-6
        return Polygons(
            corners[kept], nearness[kept], np.tile(colour, (int(kept.sum()), 1)), _STRONGEST * (1.0 - ages[:-1][kept])
        )


def background(camera: Camera) -> Image.Image:
    """Paper, and on the floor a grid that fades away, as pages have it (web/stage.js): every fifth line is strong."""
    look, (width, height) = camera.look, (pixels // _OVERSAMPLING for pixels in camera.size)
    normal, floor = look.ground
    x, y = np.meshgrid(_OVERSAMPLING * (np.arange(width) + 0.5), _OVERSAMPLING * (np.arange(height) + 0.5))
    flat = (np.stack([x, y], axis=-1) - 0.5 * np.array(camera.size)) / camera.zoom * [1, -1]
    rays = flat @ look.axes[:2] - look.axes[2]
    eye = camera.target + camera.distance * look.axes[2]
    sinks = rays @ normal
    away = np.where(np.abs(sinks) > 1e-12, (floor - eye @ normal) / np.where(sinks == 0.0, 1.0, sinks), -1.0)
    a = np.cross(np.eye(3)[0 if abs(normal[0]) < 0.9 else 1], normal)
    a /= np.linalg.norm(a)
    plane = np.stack([a, np.cross(normal, a)])
    at = (eye + np.maximum(away, 0.0)[..., None] * rays) @ plane.T
    step = _nice(look.radius / 4)
    fade = 1.0 - _smooth(0.25, 1.0, np.linalg.norm(at - plane @ camera.target, axis=-1) / (_REACH * look.radius))
    ink = (away > 0.0) * fade * np.maximum(0.55 * _lines(at / step), _lines(at / (5.0 * step)))
    paper, grid = np.array(_PAPER), np.array(_GRID)
    small = Image.fromarray(np.round(paper + ink[..., None] * (grid - paper)).astype(np.uint8))
    return small.resize(camera.size, Image.Resampling.NEAREST)


def _lines(at: Array) -> Array:
    """How much of a pixel lines at whole coordinates (h, w, 2) cover; none where they would be too near each other."""
    wide = np.abs(np.gradient(at, axis=0)) + np.abs(np.gradient(at, axis=1)) if min(at.shape[:2]) > 1 else np.ones_like(at)
    away = np.abs((at - 0.5) % 1.0 - 0.5) / np.maximum(wide, 1e-300)
    return np.asarray(((1.0 - _smooth(0.4, 1.3, away)) * (1.0 - _smooth(0.25, 0.6, wide))).max(axis=-1))


def _smooth(low: float, high: float, value: Array) -> Array:
    t = np.clip((value - low) / (high - low), 0.0, 1.0)
    return np.asarray(t * t * (3.0 - 2.0 * t))


def _linear(colour: Array) -> Array:
    """Light of colours in 0..1."""
    return np.where(colour < 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)


def draw_shadows(picture: Image.Image, camera: Camera, corners: Array) -> Image.Image:
    """Darker where faces (n, 4, 3) stand between the light and the floor."""
    mask = Image.new("L", camera.size, 0)
    draw = ImageDraw.Draw(mask)
    points, away = camera.seen(camera.on_floor(corners))
    for face in points[(away > _NEAREST * camera.distance).all(axis=1)]:
        draw.polygon(face.ravel().tolist(), fill=_SHADOW)
    mask = mask.filter(ImageFilter.GaussianBlur(2.5 * _OVERSAMPLING))
    return Image.composite(Image.new("RGB", camera.size, (0, 0, 0)), picture, mask)


def painted(picture: Image.Image, layers: Sequence[Polygons], trails: Sequence[Polygons], clear: Polygons) -> Image.Image:
    """The picture with polygons over it, the nearest one in each pixel; then trails, which fade over what is behind them, the
    strongest one, so that where a path comes back the newer part is seen; then what is seen through, the farthest first."""
    image = np.array(picture)
    height, width, _ = image.shape
    pixels, nearest = image.reshape(-1, 3), np.zeros(width * height)
    pixel, near, inks, _ = _inked(layers, width, height)
    np.maximum.at(nearest, pixel, near)
    seen = near >= nearest[pixel]
    pixels[pixel[seen]] = inks[seen]
    if trails:
        strongest = np.zeros(width * height)
        pixel, near, inks, which = _inked(trails, width, height)
        opacity = np.concatenate([trail.opacity for trail in trails])[which]
        before = near > nearest[pixel]
        np.maximum.at(strongest, pixel[before], opacity[before])
        seen = before & (opacity >= strongest[pixel])
        part = opacity[seen, None]
        pixels[pixel[seen]] = np.round((1 - part) * pixels[pixel[seen]] + part * inks[seen]).astype(np.uint8)
    pixel, near, inks, _ = _inked([clear], width, height)
    order = np.lexsort((near, pixel))
    order = order[near[order] > nearest[pixel[order]]]
    while len(order):  # the farthest of every pixel that is left
        first = np.diff(pixel[order], prepend=-1) != 0
        at = order[first]
        pixels[pixel[at]] = np.round((1 - _OPACITY) * pixels[pixel[at]] + _OPACITY * inks[at]).astype(np.uint8)
        order = order[~first]
    return Image.fromarray(image)


def _inked(
    layers: Sequence[Polygons], width: int, height: int
) -> tuple[npt.NDArray[np.intp], Array, npt.NDArray[np.uint8], npt.NDArray[np.intp]]:
    """Of everything that covers a pixel: which pixel, how near, in which colour, which polygon."""
    points, nearness, colours = (
        np.concatenate([getattr(layer, name) for layer in layers]) for name in ("points", "nearness", "colours")
    )
    x, y, which = _covered(points, width, height)
    near = nearness[which, 0] * (x + 0.5) + nearness[which, 1] * (y + 0.5) + nearness[which, 2]
    return y * width + x, near, np.clip(255 * colours, 0, 255).astype(np.uint8)[which], which


def _covered(points: Array, width: int, height: int) -> tuple[npt.NDArray[np.intp], ...]:
    """Column and row of every pixel whose centre is in a convex polygon (n, 4, 2), and in which; edges are shared out."""
    low, high = points[:, :, 1].min(axis=1), points[:, :, 1].max(axis=1)
    first, last = (np.clip(np.ceil(edge - 0.5), 0, height).astype(int) for edge in (low, high))
    row, which = _spread(first, last)
    a, b = points[which], np.roll(points, -1, axis=1)[which]
    level = (row + 0.5)[:, None]
    crossed = (a[:, :, 1] <= level) != (b[:, :, 1] <= level)
    rise = np.where(crossed, b[:, :, 1] - a[:, :, 1], 1.0)
    at = a[:, :, 0] + (level - a[:, :, 1]) / rise * (b[:, :, 0] - a[:, :, 0])
    left, right = np.where(crossed, at, np.inf).min(axis=1), np.where(crossed, at, -np.inf).max(axis=1)
    first, last = (np.ceil(np.clip(edge, 0, width) - 0.5).astype(int) for edge in (left, right))
    column, line = _spread(first, last)
    return column, row[line], which[line]


def _spread(first: npt.NDArray[np.intp], last: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """All whole numbers first <= k < last of each pair, and the pair that each belongs to."""
    counts = np.maximum(last - first, 0)
    which = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    return first[which] + within, which


def finished(
    picture: Image.Image,
    title: str,
    note: str,
    keys: Sequence[Key] = (),
    colour: str = "",
    labels: Sequence[Label] = (),
) -> Image.Image:
    """Scaled down, with a title at the top, a note at the bottom, at its right the scale of arrows of this colour, labels."""
    size, font = (picture.width // _OVERSAMPLING, picture.height // _OVERSAMPLING), _font(14)
    texts, x = [(0.0, "scale:")], font.getlength("scale:")
    places = []
    for key in keys:
        places.append(x + 16.0)
        texts.append((x + 24.0 + key.pixels, key.text))
        x = texts[-1][0] + font.getlength(key.text)
    left, room = size[0] - 14.0 - x, x + font.getlength(note) < size[0] - 60  # a small picture has none
    if keys and room:
        large = ImageDraw.Draw(picture)
        for key, at in zip(keys, places, strict=True):
            _draw_key(large, key, left + at, size[1] - 18.0, colour)
    small = picture.resize(size, Image.Resampling.BOX)
    draw = ImageDraw.Draw(small)
    _draw_labels(draw, labels, size[0], colour)
    draw.text((14, 10), title, fill=_INK, font=_font(16))
    draw.text((14, size[1] - 26), note, fill=_GREY, font=font)
    for at, text in texts if keys and room else ():
        draw.text((left + at, size[1] - 26), text, fill=_GREY, font=font)
    return small


def _draw_labels(draw: ImageDraw.ImageDraw, labels: Sequence[Label], width: int, colour: str) -> None:
    """Beside ends of arrows, none over another, the next one there below it: as in pages (web/labels.js)."""
    font, taken = _font(11), list[tuple[float, float, float]]()
    for label in labels:
        (x, y), wide = label.end / _OVERSAMPLING, font.getlength(label.text) + 14.0
        left = x - 8.0 - wide if label.end[0] < label.start[0] else x + 8.0
        left, top = min(max(left, 0.0), width - wide), y - 8.0
        while below := [t for a, b, t in taken if a < left + wide and left < b and abs(t - top) < 17.0]:
            top = below[0] + 18.0
        taken.append((left, left + wide, top))
        draw.rectangle((left, top, left + wide, top + 16.0), fill=(255, 255, 255))
        draw.rectangle((left, top, left + 3.0, top + 16.0), fill=colour)
        draw.text((left + 9.0, top + 1.0), label.text, fill=_INK, font=font)


def _draw_key(draw: ImageDraw.ImageDraw, key: Key, left: float, y: float, colour: str) -> None:
    """An arrow, of a torque three quarters of a turn, from x = left on [px of the finished picture]"""
    right, half, tip = left + key.pixels, 0.5 * key.pixels, np.array([[0.0, -4.0], [9.0, 0.0], [0.0, 4.0]])
    if key.what == "force":
        lines, tip = [(left, y), (right - 8.0, y)], tip + np.array([right - 9.0, y])
        draw.line([_OVERSAMPLING * c for at in lines for c in at], fill=colour, width=2 * _OVERSAMPLING)
    else:
        box = [_OVERSAMPLING * c for c in (left, y - half, right, y + half)]
        draw.arc(box, 0.0, 270.0, fill=colour, width=2 * _OVERSAMPLING)
        tip = tip[:, ::-1] * [1.0, -1.0] + [right - 1.0, y + 2.0]
    draw.polygon((_OVERSAMPLING * tip).ravel().tolist(), fill=colour)


def rgb(colour: str) -> Array:
    """(3,) in 0..1 of a colour's name or code."""
    return np.array(to_rgb(colour))


def _font(pixels: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(font_manager.findfont("DejaVu Sans"), pixels)


def _nice(rough: float) -> float:
    power = 10.0 ** np.floor(np.log10(rough))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= rough * 0.999))

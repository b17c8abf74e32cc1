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
_NEAREST = 0.05  # of the camera's distance: what is nearer is not drawn
_PAPER, _GRID, _INK, _GREY = (246, 245, 242), (222, 219, 211), (36, 39, 45), (109, 113, 120)
_GRID_CELLS = 12
_OPACITY = 0.4  # of what is seen through


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


class Camera:
    """Picture of `size` pixels that shows what the framing holds, in perspective or in parallel projection."""

    def __init__(self, look: Framing, size: tuple[int, int]) -> None:
        width, height = (_OVERSAMPLING * pixels for pixels in size)
        self.axes = look.axes
        fit = max(look.extent[0] / width, look.extent[1] / (0.86 * height))
        tangent = _TANGENT * (_FARTHER if look.parallel else 1.0)
        self.distance = max(1.04 * fit * height / tangent + look.extent[2], 1.1 * look.radius)
        self.target = look.target
        self.size = (width, height)
        self.zoom = 0.5 * height / tangent
        self.before = 1.0 + 0.002 * tangent / _TANGENT  # how much nearer trails are than what they lie on
        light = 1.6 * look.up + 0.5 * look.direction - 0.9 * look.axes[0]
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
        normal = self.look.normal
        height = np.maximum(points @ normal - self.look.floor, 0.0)
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
        shade = 0.66 + 0.34 * np.maximum(normals @ self.light, 0.0) + 0.08 * (normals @ self.look.up)
        return Polygons(points[kept], nearness, colours[kept] * shade[:, None])

    def ribbon(self, path: Array, colour: Array, ages: Array, width: float = 2.0) -> Polygons:
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
        return Polygons(corners[kept], nearness[kept], np.tile(colour, (int(kept.sum()), 1)), 1.0 - ages[:-1][kept])


def background(camera: Camera) -> Image.Image:
    """Paper and a grid on the floor that fades away."""
    picture = Image.new("RGB", camera.size, _PAPER)
    draw = ImageDraw.Draw(picture)
    look = camera.look
    cells = _GRID_CELLS // 2 if look.parallel else _GRID_CELLS  # what does not get smaller far away would fill the picture
    step = _nice(look.radius / 3)
    centre = camera.target - (camera.target @ look.normal - look.floor) * look.normal
    a = np.cross(look.normal, np.eye(3)[int(np.argmin(np.abs(look.normal)))])
    a /= np.linalg.norm(a)
    b = np.cross(look.normal, a)
    start = np.round(np.array([centre @ a, centre @ b]) / step)
    along = np.linspace(-cells, cells, 4 * cells + 1)
    for k in range(-cells, cells + 1):
        for u, v, at_u, at_v in ((a, b, *start), (b, a, *start[::-1])):
            line = look.floor * look.normal + step * ((at_u + k) * u + (at_v + along)[:, None] * v)
            points, away = camera.seen(line)
            far = np.linalg.norm(line - centre, axis=1) / (cells * step)
            for p, q, fade, near in zip(points[:-1], points[1:], far, away, strict=False):
                if fade < 1 and near > _NEAREST * camera.distance:
                    draw.line([*p, *q], fill=_mixed(_GRID, _PAPER, fade), width=_OVERSAMPLING)
    return picture


def draw_shadows(picture: Image.Image, camera: Camera, corners: Array) -> Image.Image:
    """Darker where faces (n, 4, 3) stand between the light and the floor."""
    mask = Image.new("L", camera.size, 0)
    draw = ImageDraw.Draw(mask)
    points, away = camera.seen(camera.on_floor(corners))
    for face in points[(away > _NEAREST * camera.distance).all(axis=1)]:
        draw.polygon(face.ravel().tolist(), fill=44)
    mask = mask.filter(ImageFilter.GaussianBlur(2.5 * _OVERSAMPLING))
    return Image.composite(Image.new("RGB", camera.size, (40, 40, 45)), picture, mask)


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


def finished(picture: Image.Image, title: str, note: str, keys: Sequence[Key] = (), colour: str = "") -> Image.Image:
    """Scaled down, with a title at the top, a note at the bottom, and at its right the scale of arrows of this colour."""
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
    draw.text((14, 10), title, fill=_INK, font=_font(16))
    draw.text((14, size[1] - 26), note, fill=_GREY, font=font)
    for at, text in texts if keys and room else ():
        draw.text((left + at, size[1] - 26), text, fill=_GREY, font=font)
    return small


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


def _mixed(a: tuple[int, int, int], b: tuple[int, int, int], part_of_b: float) -> tuple[int, int, int]:
    r, g, blue = (round(x + part_of_b * (y - x)) for x, y in zip(a, b, strict=True))
    return r, g, blue


def _nice(rough: float) -> float:
    power = 10.0 ** np.floor(np.log10(rough))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= rough * 0.999))

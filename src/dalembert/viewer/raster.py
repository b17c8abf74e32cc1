"""Pictures of a mechanism by the painter's algorithm: far faces first. Needs Pillow, no screen and no browser."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from matplotlib import font_manager
from matplotlib.colors import to_rgb
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from dalembert.viewer.framing import Framing

Array = npt.NDArray[np.float64]

_OVERSAMPLING = 2
_TANGENT = np.tan(np.radians(16.0))  # of half the field of view
_PAPER, _GRID, _INK = (246, 245, 242), (222, 219, 211), (36, 39, 45)
_GRID_CELLS = 12


@dataclass(frozen=True, eq=False)
class Surface:
    """Faces that move with a body (-1: the ground): (n, 4, 3) corners in body axes, (n, 3) colours in 0..1."""

    body: int
    faces: Array
    colours: Array


class Camera:
    """Perspective picture of `size` pixels that shows what the framing holds."""

    def __init__(self, look: Framing, size: tuple[int, int]) -> None:
        width, height = (_OVERSAMPLING * pixels for pixels in size)
        right = np.cross(look.up, look.direction)
        right /= np.linalg.norm(right)
        self.axes = np.stack([right, np.cross(look.direction, right), look.direction])
        fit = max(look.extent[0] / width, look.extent[1] / (0.86 * height))
        self.distance = max(1.04 * fit * height / _TANGENT + look.extent[2], 1.1 * look.radius)
        self.target = look.target
        self.size = (width, height)
        self.zoom = 0.5 * height / _TANGENT
        self.light = self._light(look)
        self.look = look

    def _light(self, look: Framing) -> Array:
        side = np.cross(look.up, look.direction)
        light = 1.6 * look.up + 0.5 * look.direction - 0.9 * side
        return np.asarray(light / np.linalg.norm(light))

    def seen(self, points: Array) -> tuple[Array, Array]:
        """World points (..., 3) in pixels (..., 2), and how far they are in front of the camera [m]."""
        local = (points - self.target) @ self.axes.T
        away = np.maximum(self.distance - local[..., 2], 1e-3 * self.distance)
        flat = self.zoom * local[..., :2] / away[..., None] * [1, -1]
        return flat + 0.5 * np.array(self.size), away

    def on_floor(self, points: Array) -> Array:
        """Where points throw their shadows."""
        up = self.look.up
        height = points @ up - self.look.floor
        return points - height[..., None] * (self.light / (self.light @ up))


def background(camera: Camera) -> Image.Image:
    """Paper and a grid on the floor that fades away."""
    picture = Image.new("RGB", camera.size, _PAPER)
    draw = ImageDraw.Draw(picture)
    look = camera.look
    step = _nice(look.radius / 3)
    centre = look.target - (look.target @ look.up - look.floor) * look.up
    a = np.cross(look.up, np.eye(3)[int(np.argmin(np.abs(look.up)))])
    a /= np.linalg.norm(a)
    b = np.cross(look.up, a)
    start = np.round(np.array([centre @ a, centre @ b]) / step)
    along = np.linspace(-_GRID_CELLS, _GRID_CELLS, 4 * _GRID_CELLS + 1)
    for k in range(-_GRID_CELLS, _GRID_CELLS + 1):
        for u, v, at_u, at_v in ((a, b, *start), (b, a, *start[::-1])):
            line = look.floor * look.up + step * ((at_u + k) * u + (at_v + along)[:, None] * v)
            points, away = camera.seen(line)
            far = np.linalg.norm(line - centre, axis=1) / (_GRID_CELLS * step)
            for p, q, fade, near in zip(points[:-1], points[1:], far, away, strict=False):
                if fade < 1 and near > 0.05 * camera.distance:
                    draw.line([*p, *q], fill=_mixed(_GRID, _PAPER, fade), width=_OVERSAMPLING)
    return picture


def draw_shadows(picture: Image.Image, camera: Camera, corners: Array) -> Image.Image:
    """Darker where faces (n, 4, 3) stand between the light and the floor."""
    mask = Image.new("L", camera.size, 0)
    draw = ImageDraw.Draw(mask)
    points, away = camera.seen(camera.on_floor(corners))
    for face in points[(away > 0.05 * camera.distance).all(axis=1)]:
        draw.polygon(face.ravel().tolist(), fill=44)
    mask = mask.filter(ImageFilter.GaussianBlur(2.5 * _OVERSAMPLING))
    return Image.composite(Image.new("RGB", camera.size, (40, 40, 45)), picture, mask)


def draw_faces(picture: Image.Image, camera: Camera, corners: Array, colours: Array) -> None:
    """Faces (n, 4, 3) in colours (n, 3), lit from above, far ones first; those that look away are left out."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    other = np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 0])
    normals = np.where(np.linalg.norm(normals, axis=1, keepdims=True) > 1e-300, normals, other)
    normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    centres = corners.mean(axis=1)
    eye = camera.target + camera.distance * camera.look.direction
    facing = np.sum(normals * (eye - centres), axis=1) > 0
    points, away = camera.seen(corners)
    shade = 0.52 + 0.4 * np.maximum(normals @ camera.light, 0.0) + 0.12 * (normals @ camera.look.up)
    fills = np.clip(255 * colours * shade[:, None], 0, 255).astype(int)
    draw = ImageDraw.Draw(picture)
    order = np.argsort(-away.mean(axis=1))
    for k in order[facing[order]]:
        fill = (int(fills[k, 0]), int(fills[k, 1]), int(fills[k, 2]))
        draw.polygon(points[k].ravel().tolist(), fill=fill, outline=fill)


def draw_path(picture: Image.Image, camera: Camera, path: Array, colour: Array, ages: Array) -> None:
    """A line through world points (n, 3); ages from 0 (now) to 1 (gone)."""
    draw = ImageDraw.Draw(picture)
    points, _ = camera.seen(path)
    ink = (int(255 * colour[0]), int(255 * colour[1]), int(255 * colour[2]))
    for p, q, age in zip(points[:-1], points[1:], ages, strict=False):
        draw.line([*p, *q], fill=_mixed(ink, _PAPER, float(age)), width=2 * _OVERSAMPLING)


def finished(picture: Image.Image, title: str, note: str) -> Image.Image:
    """Scaled down, with a title at the top and a note at the bottom."""
    size = (picture.width // _OVERSAMPLING, picture.height // _OVERSAMPLING)
    small = picture.resize(size, Image.Resampling.BOX)
    draw = ImageDraw.Draw(small)
    draw.text((14, 10), title, fill=_INK, font=_font(16))
    draw.text((14, size[1] - 26), note, fill=(109, 113, 120), font=_font(14))
    return small


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

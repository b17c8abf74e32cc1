"""Mass, centre and inertia of what a mesh encloses, against solids that are known."""

import itertools

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import ModelError

pytestmark = pytest.mark.nojit
SIZE, AT = np.array([0.3, 0.4, 0.5]), np.array([1.0, -2.0, 3.0])
# faces of a box by corner numbers (bits x, y, z), seen from outside against the clock
QUADS = ((0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6))


def box_file(folder, size=SIZE, at=AT, quads=QUADS, name="box.obj", unit=1.0):
    corners = [at + size * (np.array([k & 1, k >> 1 & 1, k >> 2 & 1]) - 0.5) for k in range(8)]
    lines = ["v " + " ".join(repr(float(x) / unit) for x in corner) for corner in corners]
    lines += ["f " + " ".join(str(k + 1) for k in quad) for quad in quads]
    (folder / name).write_text("\n".join(lines))
    return folder / name


@pytest.mark.parametrize("unit", [1.0, 1e-3])
def test_box(tmp_path, unit):
    solid = da.mesh(box_file(tmp_path, unit=unit), density=700.0, scale=unit)
    known = da.box(700.0 * float(np.prod(SIZE)), SIZE)
    # files are read in single precision: 6e-8 of a coordinate of 3 m, over an edge of 0.3 m
    assert solid.mass == pytest.approx(known.mass, rel=3e-6)
    np.testing.assert_allclose(solid.inertia, np.diag(known.inertia), rtol=1e-5, atol=1e-6 * max(known.inertia))
    np.testing.assert_allclose(solid.position, AT, rtol=1e-6)


def test_sphere_of_many_triangles_converges(tmp_path):
    """An octahedron, divided: errors fall as 4^-k, as those of inscribed polyhedra do."""
    corners = np.array([(1, 0, 0), (0, 1, 0), (0, 0, 1)], dtype=float)
    faces = [corners * np.array(signs)[:, None] for signs in itertools.product((1, -1), repeat=3)]
    faces = [face if np.linalg.det(face) > 0 else face[::-1] for face in faces]
    errors = []
    for _ in range(5):
        made = []
        for a, b, c in faces:
            ab, bc, ca = (x / np.linalg.norm(x) for x in (a + b, b + c, c + a))
            made += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        faces = made
        corner = "vertex {!r} {!r} {!r}\n"
        lines = ["facet\n" + "".join(corner.format(*x) for x in np.float32(face).tolist()) for face in faces]
        (tmp_path / "ball.stl").write_text("solid\n" + "".join(lines))
        solid, known = da.mesh(tmp_path / "ball.stl", density=2.0), da.sphere(2.0 * 4 / 3 * np.pi, 1.0)
        errors.append(abs(np.asarray(solid.inertia)[0, 0] / known.inertia[0] - 1))
    assert errors[-1] < 3e-3 and 3.7 < errors[-2] / errors[-1] < 4.3


def test_the_body_swings_as_the_box_does(tmp_path):
    ends = []
    for solid in (da.mesh(box_file(tmp_path, at=np.zeros(3)), density=700.0), da.box(700.0 * float(np.prod(SIZE)), SIZE)):
        model = da.Model()
        model.add_body("box", **solid.body(), angular_velocity=(1, 2, 3))
        ends.append(da.simulate(model, 0.02, integrator=da.RungeKutta4(step=0.01)).x[-1])
    np.testing.assert_allclose(*ends, rtol=0, atol=1e-6)


def test_files_hold_it(tmp_path):
    box_file(tmp_path)
    (tmp_path / "m.yaml").write_text("bodies: {a: {solid: {type: mesh, file: box.obj, density: 700}}}")
    body = da.Model.from_yaml(tmp_path / "m.yaml").body("a")
    assert body.mass == da.mesh(tmp_path / "box.obj", density=700.0).mass
    np.testing.assert_allclose(body.position, AT, rtol=1e-6)
    (tmp_path / "m.yaml").write_text("bodies: {a: {solid: {type: mesh, file: ../box.obj, density: 700}}}")
    with pytest.raises(ModelError, match=r"mesh file '../box.obj'; give a path in the model file's folder"):
        da.Model.from_yaml(tmp_path / "m.yaml")


def test_bad_meshes(tmp_path):
    with pytest.raises(ModelError, match=r"box.obj' is not closed, .* \(4 edges|mend it, or give mass and inertia"):
        da.mesh(box_file(tmp_path, quads=QUADS[:-1]), density=1.0)
    with pytest.raises(ModelError, match="not all its triangles look outwards"):
        da.mesh(box_file(tmp_path, quads=(QUADS[0][::-1], *QUADS[1:])), density=1.0)
    with pytest.raises(ModelError, match="cannot be read"):
        da.mesh(tmp_path / "no.stl", density=1.0)
    with pytest.raises(ModelError, match="mesh: density is 0"):
        da.mesh(box_file(tmp_path), density=0.0)
    with pytest.raises(ModelError, match="is no mesh format"):
        da.mesh(tmp_path / "part.step", density=1.0)


def test_a_mesh_inside_out_is_the_same_body(tmp_path):
    turned = da.mesh(box_file(tmp_path, quads=[quad[::-1] for quad in QUADS]), density=2.0)
    assert turned.mass == pytest.approx(2.0 * float(np.prod(SIZE)), rel=3e-6)
    assert np.linalg.eigvalsh(np.array(turned.inertia)).min() > 0

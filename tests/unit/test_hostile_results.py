"""Results from strangers: what is not a run's own data is refused in one message, and nothing in a file is executed."""

import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.errors import DalembertError, ModelError, StoreError
from dalembert.io.record import read_record, write_record
from dalembert.io.store import read_store
from dalembert.lagrangian.graph import Graph
from dalembert.lagrangian.system import LagrangianSystem
from dalembert.results.plain import encode

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n"


def model_hash(data):
    return hashlib.sha256(json.dumps(data, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def edit(path, change, *, of=""):
    """Change a record of a store and give it the right checksums, as an attacker would."""
    record = read_record(path / of)
    change(record)
    if of == "" and isinstance(record["attributes"].get("model"), dict):
        record["attributes"]["model_hash"] = model_hash(record["attributes"]["model"])
    write_record(path / of, encode(record))


@pytest.fixture(scope="module")
def lagrangian_run(tmp_path_factory):
    path = tmp_path_factory.mktemp("lagrangian") / "run.zarr"
    da.simulate(gallery.build("oscillator"), 0.5).save(path)
    return path


@pytest.fixture(scope="module")
def body_run(tmp_path_factory):
    path = tmp_path_factory.mktemp("bodies") / "run.zarr"
    da.simulate(gallery.build("slider_crank"), 0.1).save(path)
    return path


@pytest.fixture
def oscillator(lagrangian_run, tmp_path):
    return shutil.copytree(lagrangian_run, tmp_path / "run.zarr")


@pytest.fixture
def crank(body_run, tmp_path):
    return shutil.copytree(body_run, tmp_path / "run.zarr")


def set_node(op, content):
    def change(record):
        nodes = record["attributes"]["model"]["nodes"]
        k = next(k for k, node in enumerate(nodes) if node[0] not in ("constant", "input"))
        nodes[k] = [op, nodes[k][1] if content is None else content]

    return change


def test_no_code_of_a_result_is_executed(oscillator, tmp_path):
    """The operation of a node is pasted into source: one that is not known never gets so far."""
    witness = tmp_path / "executed"
    edit(oscillator, set_node(f"sin(0.0) or open({str(witness)!r}, 'w').close() or np.sin", [0]))
    with pytest.raises(StoreError, match="there is no operation"):
        da.load(oscillator)
    assert not witness.exists()


@pytest.mark.parametrize(
    ("op", "content", "message"),
    [
        ("__import__", None, "there is no operation '__import__'"),
        ("sin", [0, 0], "no operation 'sin' of 2 arguments"),
        ("+", [0], r"no operation '\+' of 1 arguments"),
        ("+", [], "of 0 arguments"),
        ("+", [0, 10**9], "the number of an operation before it"),
        ("+", [0, -1], "the number of an operation before it"),
        ("input", "q:nothing", "inputs q:, v:, p: of the system's own names"),
        ("constant", "1.0", "expected finite numbers"),
        ("constant", 10**400, "expected finite numbers"),
        (["sin"], [0], r"expected \[operation, arguments\]"),
    ],
)
def test_nodes_that_are_no_operations(oscillator, op, content, message):
    edit(oscillator, set_node(op, content))
    with pytest.raises(StoreError, match=message):
        da.load(oscillator)


def test_a_graph_takes_known_operations_only():
    graph = Graph()
    x = graph.input("x")
    for op, args in (("os.system", (x,)), ("sin", (x, x)), ("+", (x,)), ("+", (x, x, x))):
        with pytest.raises(ModelError, match="there is no operation"):
            graph.make(op, *args)


def update(**parts):
    def change(record):
        record["attributes"]["model"] |= parts

    return change


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"coordinates": ["x y"]}, "coordinates"),
        ({"coordinates": []}, "of the system's own names"),
        ({"coordinates": "x"}, "expected a list"),
        ({"parameters": {"m[999999]": 1.0}}, "every entry of an array once"),
        ({"parameters": {"m[0] or 1": 1.0}}, "parameters"),
        ({"parameters": {"m": "1.0"}}, "expected finite numbers"),
        ({"lagrangian": 10**6}, "the number of an operation"),
        ({"holonomic": [["rod", "0"]]}, "holonomic"),
        ({"initial": {"nobody": 1.0}}, "names of coordinates"),
        ({"nodes": [["constant", 1.0]] * 60_000}, "at most 50000"),
        ({"format": "dalembert-model"}, "does not compile"),
    ],
)
def test_systems_that_nobody_wrote(oscillator, parts, message):
    edit(oscillator, update(**parts))
    with pytest.raises(StoreError, match=message):
        da.load(oscillator)


def test_systems_of_the_gallery_read_back():
    for name in ("car_axis", "routh_sphere_in_coordinates", "chaplygin_sleigh"):
        system = gallery.build(name)
        assert LagrangianSystem.from_dict(json.loads(json.dumps(system.to_dict()))).hash == system.hash


def element(k, **parts):
    def change(record):
        record["attributes"]["model"]["elements"][k] |= parts

    return change


def row(k, **parts):
    def change(record):
        record["attributes"]["model"]["elements"][3]["primitives"][k] |= parts

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (element(0, mass=-1.0), "greater than 0"),
        (element(0, mass="1"), "give a number"),
        (element(0, kind="ground"), "is the ground"),
        (element(0, rotation=[2.0, 0.0, 0.0, 0.0]), "unit quaternion"),
        (element(0, given=[True]), "given is"),
        (element(0, name=["x"]), r"name is \['x'\]"),
        (element(0, more=1), "entries beyond"),
        (element(3, type="nothing"), "there is no joint type"),
        (element(3, coordinates=["angle"] * 40), "expected those of a"),
        (element(3, coordinate=[0.0] * 7), "a value for each of its coordinates"),
        (element(3, second="ground"), "with itself"),
        (row(0, labels=["x"] * 30), "expected those of a"),
        (row(0, kind="W"), "kind is 'W'"),
        (row(0, kind="U", law="os.system"), "expected those of a"),
        (row(0, p_i=[float("1e999")] * 3), "finite"),
    ],
)
def test_elements_that_no_verb_makes(crank, change, message):
    """Tables of the kernels are laid out for what the verbs make: anything else would reach beyond them."""
    edit(crank, change)
    with pytest.raises(StoreError, match=message):
        da.load(crank)


@pytest.mark.parametrize("name", ["../outside", "/etc", "..", "a/b", "commit", "x" * 300, "", "a\0b"])
def test_names_of_arrays(crank, name):
    def change(record):
        record["arrays"][name] = record["arrays"].pop("x")

    edit(crank, change, of="commit")
    with pytest.raises(StoreError, match="cannot name an array"):
        da.load(crank)


def entry(**parts):
    def change(record):
        record["arrays"]["x"] |= parts

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (entry(shape=[-1, 43]), "does not fit its blocks"),
        (entry(shape=[10**15, 43]), "blocks do not hold its shape"),
        (entry(shape="x"), "not one that dalembert writes"),
        (entry(dtype="|O"), "not one that dalembert writes"),
        (entry(dtype={"a": 1}), "not one that dalembert writes"),
        (entry(block_rows=10**12), "does not fit its blocks"),
        (entry(blocks=["0" * 32]), "does not match its checksum"),
        (entry(dims=["time"]), "does not fit its blocks"),
        (lambda record: record["arrays"].update(x=3), "not one that dalembert writes"),
        (lambda record: record.update(arrays=[]), "commit record"),
        (lambda record: record.update(place="../.."), "commit record"),
        (lambda record: record.pop("status"), "commit record"),
    ],
)
def test_commit_records_with_right_checksums(crank, change, message):
    edit(crank, change, of="commit")
    with pytest.raises(StoreError, match=message):
        da.load(crank)


def attribute(**parts):
    def change(record):
        record["attributes"] |= parts

    return change


@pytest.mark.parametrize(
    "parts",
    [
        {"versions": {"dalembert": 3}},
        {"versions": {}},
        {"settings": {}},
        {"settings": {"t_end": 1.0, "coordinates": "absolute", "formulation": {"type": "Jet"}, "integrator": 3}},
        {"x_0": [0.0]},
        {"x_0": ["a"] * 43},
        {"rows": ["A.x"]},
        {"rows": 3},
        {"coordinates": "polar"},
        {"model": []},
    ],
)
def test_attributes_with_right_checksums(crank, parts):
    edit(crank, attribute(**parts))
    with pytest.raises(StoreError, match=r"run\.zarr"):
        da.load(crank)


@pytest.mark.parametrize(
    "parts",
    [
        {"statistics": {"accepted": "many"}},
        {"statistics": {"unknown": 1}},
        {"statistics": {"time": {"assembly": "x"}}},
        {"message": 3},
        {"events": [["a"]]},
        {"warnings": [3]},
    ],
)
def test_attributes_of_the_end(crank, parts):
    edit(crank, attribute(**parts))
    with pytest.raises(StoreError, match=r"which no run writes"):
        da.load(crank)


def test_deep_recursion_and_large_records(crank):
    for text in ("[" * 100_000 + "]" * 100_000, '{"a":' * 3000 + "1" + "}" * 3000):
        (crank / "zarr.json").write_text(f'{{"attributes": {{"record": {text}, "sha256": "0"}}}}')
        with pytest.raises(StoreError, match=r"damaged|deep"):
            da.load(crank)
    with (crank / "zarr.json").open("wb") as file:
        file.truncate(10**9)
    with pytest.raises(StoreError, match="MB, more than 64 MB"):
        da.load(crank)
    (crank / "zarr.json").unlink()
    os.mkfifo(crank / "zarr.json")
    with pytest.raises(StoreError, match="cannot be read"):  # and does not wait for a writer
        da.load(crank)


BOMB = """
import sys
import numpy as np
from numcodecs import zstd
from pathlib import Path
from dalembert.io.record import read_record, write_record
from dalembert.io.store import read_store
from dalembert.errors import StoreError

path, width = Path(sys.argv[1]), 1_000_000_000
record = read_record(path / "commit")
record["arrays"]["x"] |= {"shape": [1, width], "block_rows": 1}
write_record(path / "commit", record)
try:
    read_store(path)
except StoreError as problem:
    print(problem)
"""


def test_a_small_file_does_not_unfold_to_gigabytes(crank):
    environment = {**os.environ, "PYTHONPATH": str(Path(da.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", BOMB, str(crank)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30)),
    )
    assert "would unfold to 8 GB" in done.stdout, done.stderr


def test_a_block_unfolds_to_its_size_at_most(crank):
    """zstd says how much there is: what is more than a block is refused before it is unfolded."""
    from numcodecs import zstd

    (crank / "x" / "c" / "0" / "0").write_bytes(zstd.compress(bytes(200_000_000), 1))
    with pytest.raises(StoreError, match="array 'x' cannot be read"):
        read_store(crank)


def with_mesh(file):
    model = da.Model(name="with a mesh")
    model.add_body("stone", mass=1.0, inertia=(1, 1, 1), shape={"type": "mesh", "file": str(file)})
    return model


def test_meshes_go_with_the_result(tmp_path):
    (tmp_path / "models").mkdir()
    mesh = tmp_path / "models" / "stone.obj"
    mesh.write_text(TETRAHEDRON)
    model = with_mesh(mesh)
    solution = da.simulate(model, 0.1, out=tmp_path / "run.zarr")
    mesh.unlink()
    again = da.load(tmp_path / "run.zarr")
    file = Path(again.mechanism.model.body("stone").shape["file"])
    assert file.read_text() == TETRAHEDRON
    assert file.is_relative_to(tmp_path / "run.zarr")
    again.save(tmp_path / "other.zarr")
    assert da.load(tmp_path / "other.zarr").x.tobytes() == solution.x.tobytes()
    mesh.write_text(TETRAHEDRON)
    assert da.load(tmp_path / "run.zarr", model=model).mechanism.model.body("stone").shape["file"] == str(mesh)


@pytest.mark.parametrize("file", ["/etc/passwd", "../secret.obj", "meshes/../../secret.obj", "meshes/secret.obj", 3])
def test_shape_files_outside_the_result(tmp_path, file):
    (tmp_path / "secret.obj").write_text(TETRAHEDRON)
    mesh = tmp_path / "stone.obj"
    mesh.write_text(TETRAHEDRON)
    da.simulate(with_mesh(mesh), 0.1, out=tmp_path / "run.zarr")
    edit(tmp_path / "run.zarr", element(0, shape={"type": "compound", "parts": [{"type": "mesh", "file": file}]}))
    with pytest.raises(StoreError, match=r"body 'stone': shape file is .* outside the result"):
        da.load(tmp_path / "run.zarr")


def test_a_mesh_that_is_a_link(tmp_path):
    (tmp_path / "secret.obj").write_text(TETRAHEDRON)
    mesh = tmp_path / "stone.obj"
    mesh.write_text(TETRAHEDRON)
    da.simulate(with_mesh(mesh), 0.1, out=tmp_path / "run.zarr")
    inside = next((tmp_path / "run.zarr" / "meshes").iterdir())
    inside.unlink()
    inside.symlink_to(tmp_path / "secret.obj")
    with pytest.raises(StoreError, match="is a link"):
        da.load(tmp_path / "run.zarr")


def test_versions_are_printed_as_text(crank):
    edit(crank, lambda record: record.update(format_version="\x1b[31m"))
    with pytest.raises(StoreError, match="format version") as caught:
        da.load(crank)
    assert "\x1b" not in str(caught.value)


def test_times_that_go_back(crank, tmp_path):
    from dalembert.io.store import write_store

    arrays, attributes, _ = read_store(crank)
    arrays["t"] = (("time",), arrays["t"][1][::-1].copy())
    write_store(tmp_path / "other.zarr", arrays, attributes)
    with pytest.raises(StoreError, match="times are not finite and increasing"):
        da.load(tmp_path / "other.zarr")


def test_every_refusal_is_an_error_of_ours(crank, rng):
    """Random values in place of parts of the header: a run, or one of our errors."""
    header = read_record(crank)
    original = json.dumps(header)
    for _ in range(40):
        record = json.loads(original)
        part, key = record["attributes"], str(rng.choice(list(record["attributes"])))
        while isinstance(part[key], dict | list) and part[key] and rng.uniform() < 0.8:
            part = part[key]
            key = str(rng.choice(list(part))) if isinstance(part, dict) else int(rng.integers(len(part)))
        part[key] = [None, -1, 1e300, "x", [], {}, True, [[0.0]], "inf"][int(rng.integers(9))]
        edit(crank, lambda old, new=record: old.update(new))
        try:
            np.asarray(da.load(crank).x)
        except DalembertError as problem:
            assert "\n" not in str(problem)

"""Machine code on disk: whatever is wrong with a file or a folder, a run works, or says what to do."""

import ast
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numba
import numpy as np
import pytest

from dalembert.kernels.base import cache, compiler
from dalembert.kernels.base.slots import CALLBACK_SIGNATURE

pytestmark = pytest.mark.skipif(not compiler.JIT, reason="nothing is compiled in this process")
SOURCE = "def callback(k, t, W, s):\n    return k + 7\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache."""
    monkeypatch.setattr(cache, "FOLDERS", [tmp_path])
    monkeypatch.setattr(cache, "CACHE", tmp_path)
    monkeypatch.setattr(cache.DiskCache, "_told", False)
    return tmp_path


@pytest.fixture
def made(monkeypatch):
    """Compiles, or loads as a new process does; returns how often the disk was hit."""

    def make(source=SOURCE):
        monkeypatch.setattr(compiler, "_generated", type(compiler._generated)())
        function = compiler.generated(source, "callback", CALLBACK_SIGNATURE)
        assert function(1, 0.0, np.zeros(1), 0) == 8
        return sum(function.stats.cache_hits.values())

    return make


def spoilt(data):
    yield b""
    yield data[:100]
    yield data[:-1]
    yield data[:200] + bytes([data[200] ^ 1]) + data[201:]
    yield os.urandom(len(data))


def test_damaged_files_are_misses_and_replaced(folder, made):
    assert (made(), made()) == (0, 1)
    (file,) = folder.iterdir()
    sound = file.read_bytes()
    for k, data in enumerate(spoilt(sound)):
        file.write_bytes(data)
        assert (k, made()) == (k, 0)
        assert (k, made()) == (k, 1)
    assert list(folder.iterdir()) == [file]
    file.unlink()
    file.mkdir()  # what cannot even be replaced
    with pytest.warns(RuntimeWarning, match="cannot be kept"):
        assert made() == 0


def test_damaged_kernels_are_not_compiled_to_the_command_line(folder):
    from dalembert.cli.kernels import KERNELS
    from dalembert.kernels.base.slots import no_callback

    kernel = next(kernel for kernel in KERNELS if kernel.name == "no_callback")
    assert kernel.state == "not compiled"
    compiler.bind(compiler.kernel(no_callback.py_func), CALLBACK_SIGNATURE)
    assert kernel.state == "cached"
    (file,) = folder.iterdir()
    file.write_bytes(file.read_bytes()[:-5])
    assert kernel.state == "not compiled"


def test_kernels_that_are_not_kept_are_not_compiled_to_the_command_line(monkeypatch):
    """As after sources have changed under this process."""
    from dalembert.cli.kernels import KERNELS
    from dalembert.kernels.base import slots

    monkeypatch.setattr(cache, "_changed", lambda path: True)
    monkeypatch.setattr(slots, "no_callback", compiler.kernel(slots.no_callback.py_func))
    assert next(kernel for kernel in KERNELS if kernel.name == "no_callback").state == "not compiled"


def test_ready_code_in_a_folder_that_cannot_be_written(folder, made, monkeypatch):
    assert made() == 0
    monkeypatch.setattr(cache, "CACHE", None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert made() == 1


def test_no_folder_to_write_is_said_once(folder, made, monkeypatch):
    monkeypatch.setattr(cache, "CACHE", None)
    with pytest.warns(RuntimeWarning, match="set NUMBA_CACHE_DIR to a folder you can write") as told:
        assert (made(), made()) == (0, 0)
    assert len(told) == 1


def test_a_full_disk_stops_no_run(folder, made, monkeypatch):
    def full(self, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.warns(RuntimeWarning, match="No space left on device"):
        assert made() == 0
    assert list(folder.iterdir()) == []


def test_folders_are_tried_in_turn(tmp_path, monkeypatch):
    """What lies below a file can be made by nobody, not even by root."""
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setattr(cache, "_FOLDER", file)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    home = tmp_path / ".cache" / "dalembert" / "kernels"
    assert cache.cache_folders() == ([file / "__pycache__", home], home)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "mine"))
    assert cache.cache_folders() == ([tmp_path / "mine" / "dalembert"], tmp_path / "mine" / "dalembert")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(file))
    monkeypatch.setenv("HOME", str(file))
    assert cache.cache_folders()[1] is None

    def unknown():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", unknown)
    assert cache.cache_folders() == ([file / "dalembert", file / "__pycache__"], None)


def test_old_generated_code_is_forgotten(folder, made, monkeypatch):
    monkeypatch.setattr(cache, "MOST_GENERATED", 4)
    for k in range(6):
        made(SOURCE + f"# {k}\n")
    assert len(list(folder.iterdir())) <= 5


@compiler.kernel
def inner(k, t, W, s):
    return k


@compiler.kernel
def outer(k, t, W, s):
    return inner(k, t, W, s)


def test_a_kernel_that_another_had_compiled_is_closed_all_the_same(folder):
    """Or the first function passed to it would become a second signature, of a type that no other process can read."""
    compiler.bind(outer, CALLBACK_SIGNATURE)
    assert len(inner.signatures) == 1
    compiler.bind(inner, CALLBACK_SIGNATURE)
    assert not inner._can_compile
    assert len(inner.signatures) == 1


def test_nothing_is_kept_of_sources_that_changed_before_it_was_compiled(folder, monkeypatch):
    """Modules that are loaded where something is compiled are the new ones then, and the stamp is that of the old ones."""
    for began, kept in ((cache._BEGAN, 1), (0.0, 0)):
        made = compiler.kernel(inner.py_func)
        monkeypatch.setattr(cache, "_BEGAN", began)
        compiler.bind(made, CALLBACK_SIGNATURE)
        assert len(list(folder.glob("test_kernel_cache.inner*.code"))) == kept
        for file in folder.iterdir():
            file.unlink()


def test_code_does_not_outlive_the_layout_of_a_bundle():
    """A kernel that gets a bundle need not import the file that declares it, so the name of the type tells the layout."""
    from dalembert.kernels.base.bundles import BundleType
    from dalembert.kernels.base.layout import INT, NUM, Record

    names = {
        BundleType(Record("Steps", **fields)).name for fields in ({"a": NUM}, {"a": INT}, {"a": NUM, "b": NUM}, {"b": NUM})
    }
    assert len(names) == 4 and BundleType(Record("Steps", a=NUM)).name in names


def test_whatever_form_an_import_has_enters_the_stamp():
    """Sources are found by a pattern; Python's own parser must find the same."""
    package = cache._FOLDER

    def imported(path):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or "", *(f"{node.module}.{a.name}" for a in node.names)]
                assert node.level == 0, path
            for name in names:
                file = package.joinpath(*name.split(".")[2:]).with_suffix(".py")
                if name.startswith("dalembert.kernels.") and file.is_file() and file.name != "cache.py":
                    yield file

    files = [path for path in package.rglob("*.py") if path.name not in ("__init__.py", "cache.py")]
    known = {path: set(imported(path)) for path in files}
    for path in files:
        found, waiting = set(), [path]
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.add(one)
                waiting += known[one]
        module = "dalembert.kernels." + ".".join(path.relative_to(package).with_suffix("").parts)
        assert cache._sources(module) == found, module


def test_options_of_a_settings_file_are_options_too(tmp_path):
    """Code with bounds checks passes views in more words: it must not be called by code without."""
    (tmp_path / ".numba_config.yaml").write_text("boundscheck: 1\n")
    code = "from dalembert.kernels.base.cache import OPTIONS_TEXT; print(OPTIONS_TEXT)"
    plain = {name: value for name, value in os.environ.items() if name != "NUMBA_BOUNDSCHECK"}
    told = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=plain, capture_output=True, text=True, check=True)
    assert "BOUNDSCHECK=1" in told.stdout


def test_a_second_process_loads_no_array_functions(tmp_path):
    """Numba takes a sixth of it to load what cached kernels do not need."""
    code = (
        "import sys; from dalembert.compilation.catalogue import compiled_kernel; made = compiled_kernel('no_forces');"
        "print(sum(made.stats.cache_hits.values()), 'numba.np.arraymath' in sys.modules)"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    for expected in ("0 True", "1 False"):
        told = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert told.stdout.strip() == expected


def test_loops_of_vectorised_helpers_are_vectorised():
    @compiler.vectorised
    def add(k, x):
        for i in range(x.size):
            x[i] += k

    @numba.njit
    def called(x):
        add(1.0, x)
        return x[0]

    assert called(np.zeros(5)) == 1.0
    assert " x double>" in add.overloads[add.signatures[0]].library.get_llvm_str() or not numba.config.LOOP_VECTORIZE


OWN = """
import {b}
from {b} import SCALE
from dalembert.kernels.base.compiler import bind, kernel
from dalembert.kernels.base.slots import CALLBACK_SIGNATURE


@kernel
def own(k, t, W, s):
    return {b}.part(k) + SCALE


def made(scale):
    @kernel
    def closed(k, t, W, s):
        return scale * k

    return closed
"""
PART = "from dalembert.kernels.base.compiler import inline\nSCALE = {scale}\n\n\n@inline\ndef part(k):\n    return k + {more}\n"


SHOW = "import own_a\nprint(own_a.bind(own_a.own, own_a.CALLBACK_SIGNATURE)(1, 0.0, np.zeros(1), 0))"


def own_kernel(folder, run=SHOW, scale=0, more=1):
    """What a process prints that runs a kernel of somebody else's, made of two files."""
    (folder / "own_a.py").write_text(OWN.format(b="own_b"))
    (folder / "own_b.py").write_text(PART.format(scale=scale, more=more))
    paths = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": paths}
    code = f"import numpy as np\n{run}"
    return subprocess.check_output([sys.executable, "-c", code], env=environment, text=True, timeout=300).split()


def test_kernels_of_others_follow_what_they_import(tmp_path):
    assert own_kernel(tmp_path) == ["2"]
    assert len(list((tmp_path / "cache").rglob("own_a.own*.code"))) == 1  # kept
    assert own_kernel(tmp_path, more=100) == ["101"]
    assert own_kernel(tmp_path, scale=7) == ["9"]


def test_kernels_that_a_function_makes_are_not_taken_for_each_other(tmp_path):
    run = "import own_a\nprint(*(own_a.bind(own_a.made(x), own_a.CALLBACK_SIGNATURE)(1, 0.0, np.zeros(1), 0) for x in (2, 3)))"
    assert own_kernel(tmp_path, run) == ["2", "3"]


def test_sources_that_change_under_a_process_leave_no_code_behind(tmp_path):
    """It has loaded the old ones, or some of them: under the stamp of the new ones, every later process would run old code."""
    edit = f"import own_b, pathlib\npathlib.Path(own_b.__file__).write_text({PART.format(scale=0, more=100)!r})\n"
    assert own_kernel(tmp_path, edit + SHOW) == ["2"]
    assert own_kernel(tmp_path, more=100) == ["101"]

"""Machine code on disk: one file per function, signature, processor and version of Numba.

Numba's own cache stamps only the caller's file, so an edited callee in another file goes unnoticed, and one damaged file stops
every later process. Here a file begins with the hash of its stamp and contents: whatever does not fit is a miss, and replaced.
"""

import contextlib
import hashlib
import os
import pickle
import re
import sys
import sysconfig
import tempfile
import time
import uuid
import warnings
from functools import cache
from importlib.util import resolve_name
from pathlib import Path

import numba
import numpy as np
from numba.core import sigutils
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from dalembert.kernels.base.told import GENERATED, tell

_FOLDER = Path(__file__).parents[1]
_OPTIONS = ("BOUNDSCHECK", "CPU_NAME", "CPU_FEATURES", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT")
# those that change machine code, as they are at the start, from the environment or from .numba_config.yaml: compiler.py changes
# two of them for a while
OPTIONS_TEXT = ";".join(f"{option}={getattr(numba.config, option)}" for option in _OPTIONS)
_DIGEST = 32
_IMPORT = re.compile(r"^ *(?:from ([\w.]+) import (\([^)]*\)|[^\n#]*)|import ([^\n#]+))", re.MULTILINE)
_NAME = re.compile(r"([\w.]+)(?: as \w+)?")
_BEGAN = time.time()
MOST_GENERATED = 1000  # files of generated code and user functions, which no edit replaces


def kept(function):
    """Where machine code of an entry point is kept; None where no file tells what it does: what was typed in, what is made by
    another function, and sources that changed after this process began, which may have loaded the old ones."""
    module, code = function.__module__, function.__code__
    file, sources = _file(module, module.partition(".")[0]), _sources(module)
    if code.co_filename != str(file) or function.__closure__ or any(map(_changed, sources)):
        return None
    label = f"{module.rpartition('.')[2]}.{function.__qualname__}-{code.co_firstlineno}"
    return DiskCache(label, source_stamp(module), sources)


@cache
def source_stamp(module):
    """Hash of the sources that a kernel module is made of, those it imports included, and of the options that change code."""
    digest = hashlib.sha256(OPTIONS_TEXT.encode())
    for path in sorted(_sources(module)):
        digest.update(path.name.encode() + _read(path))
    return digest.hexdigest()


@cache
def _read(path):
    return path.read_bytes()


def _changed(path):
    """Since this process began."""
    when = path.stat()
    return (when.st_ctime if os.name == "posix" else when.st_mtime) > _BEGAN


@cache
def _own_file(module):
    path = _FOLDER.joinpath(*module.split(".")[2:]).with_suffix(".py")
    return path if module.startswith("dalembert.kernels.") and path.is_file() else None


def _file(module, package):
    """The source of a module that kernels of a package may be made of, None for libraries and for what was typed in."""
    if module.startswith("dalembert."):
        return _own_file(module)
    file, other = getattr(sys.modules.get(module), "__file__", None) or "", module.partition(".")[0]
    library = other != package and (other in sys.stdlib_module_names or "site-packages" in file)
    return Path(file) if file.endswith(".py") and not library else None


def _imports(module, text):
    """Modules that the text of a module imports, and names that may be modules."""
    for package, names, plain in _IMPORT.findall(text):
        if package.startswith("."):
            package = resolve_name(package, sys.modules[module].__package__)
        yield from [package, *(f"{package}.{name}" for name in _NAME.findall(names))] if package else _NAME.findall(plain)


@cache
def _sources(module):
    """Files of a kernel module and of all that it imports, directly or not, but this one and those of libraries."""
    found, waiting, package = {}, [module], module.partition(".")[0]
    while waiting:
        name = waiting.pop()
        path = None if name in found or name == __name__ else _file(name, package)
        if path is not None:
            found[name] = path
            waiting += _imports(name, _read(path).decode())
    return set(found.values())


def cache_folders():
    """Folders to read, and the one to write or None: the first writable of $NUMBA_CACHE_DIR, the package folder, the user's
    cache folder. Those before it are read too: a package folder that is read-only may hold ready kernels."""
    choices = [_FOLDER / "__pycache__"]
    if os.environ.get("NUMBA_CACHE_DIR"):
        choices.insert(0, Path(os.environ["NUMBA_CACHE_DIR"]) / "dalembert")
    with contextlib.suppress(RuntimeError):  # neither HOME nor a known user id
        choices.append(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dalembert" / "kernels")
    for k, folder in enumerate(choices):
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return choices[: k + 1], folder
    return choices, None


FOLDERS, CACHE = cache_folders()
NOT_KEPT = (
    "compiled code cannot be kept ({why}), so it is compiled in every process; set NUMBA_CACHE_DIR to a folder you can write"
)


class DiskCache:
    """What Numba asks for machine code before it compiles a function, and hands what it compiled.

    label : begins the names of its files;  stamp : what the code was made from
    sources : its files; some are only loaded when something is compiled, and may have changed until then
    """

    cache_path = str(CACHE)
    _told = False

    def __init__(self, label, stamp, sources=()):
        self._label, self._stamp, self._sources = label, stamp.encode(), sources

    def _begin(self, target_context):
        """How the names of its files for this processor and these versions begin."""
        python = sys.version_info[:2], sysconfig.get_config_var("SOABI")
        made_by = (*python, numba.__version__, np.__version__, *target_context.codegen().magic_tuple())
        return f"{self._label}-{_short(made_by)}-"

    def _name(self, signature, target_context):
        arguments, _ = sigutils.normalize_signature(signature)
        return f"{self._begin(target_context)}{_short(arguments)}.code"

    def _read(self, path):
        """What a file holds, or None."""
        with contextlib.suppress(OSError):
            data = path.read_bytes()
            if data[:_DIGEST] == self._digest(data[_DIGEST:]):
                return data[_DIGEST:]
        return None

    def ready(self, target_context):
        """Whether there is machine code on disk for this processor."""
        files = (path for folder in FOLDERS for path in folder.glob(f"{self._begin(target_context)}*.code"))
        return any(self._read(path) is not None for path in files)

    def load_overload(self, signature, target_context):
        if self._label.startswith(GENERATED):  # it may allocate
            from numba.cpython import hashing  # noqa: F401 - it names what code with dictionaries is linked to

            rtsys.initialize(target_context)
        for folder in FOLDERS:
            data = self._read(folder / self._name(signature, target_context))
            with contextlib.suppress(Exception):  # whatever is wrong with it, compiling makes it anew
                if data is not None:
                    return CompileResult._rebuild(target_context, *pickle.loads(data))
        tell(self._label)
        return None

    def save_overload(self, signature, result):
        if result.library.has_dynamic_globals or any(not lifted.can_cache for lifted in result.lifted):
            return
        if any(map(_changed, self._sources)):
            return
        try:
            if CACHE is None:
                raise OSError("no cache folder can be written")
            data = dumps(result._reduce())
            _replace(CACHE / self._name(signature, result.target_context), self._digest(data) + data)
            if self._label.startswith(GENERATED):
                _prune()
        except Exception as problem:  # a full disk, a folder that was removed: the run itself is fine
            if not DiskCache._told:
                DiskCache._told = True
                warnings.warn(NOT_KEPT.format(why=problem), RuntimeWarning, stacklevel=2)

    def _digest(self, data):
        return hashlib.sha256(self._stamp + data).digest()

    def enable(self):
        """Asked for by Numba."""

    disable = flush = enable


def _short(value):
    return hashlib.sha256(str(value).encode()).hexdigest()[:12]


def _replace(path, data):
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}")
    try:
        new.write_bytes(data)
        os.replace(new, path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _prune():
    """Forget the oldest fifth of generated code where there is too much of it."""
    files = list(CACHE.glob(f"{GENERATED}*.code"))
    with contextlib.suppress(OSError):  # another process may do the same
        too_many = len(files) // 5 if len(files) > MOST_GENERATED else 0
        for path in sorted(files, key=lambda path: path.stat().st_mtime)[:too_many]:
            path.unlink(missing_ok=True)

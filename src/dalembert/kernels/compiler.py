"""The decorators of the kernels, and the disk cache behind them.

`@kernel` marks an entry point (compiled, cached, GIL released), `@flat` a part of one, `@inline` a helper (plain Python
when called from Python). Numba's own cache stamps only the caller's file, so an edited callee in another file goes
unnoticed; our locator stamps all kernel sources and the options that change generated code.
"""

import gc
import hashlib
import linecache
import os
import sys
import tempfile
import types
import warnings
from pathlib import Path

import numba
import numpy as np
from numba.core.caching import _CacheLocator
from numba.extending import register_jitable

_FOLDER = Path(__file__).parent
_OPTIONS = ("NUMBA_BOUNDSCHECK", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_OPT", "NUMBA_DEBUGINFO")


def source_stamp() -> str:
    """Hash of every kernel source file and of the options that change the machine code."""
    digest = hashlib.sha256()
    for path in sorted(_FOLDER.glob("*.py")):
        digest.update(path.name.encode() + path.read_bytes())
    for option in _OPTIONS:
        digest.update(f"{option}={os.environ.get(option, '')};".encode())
    return digest.hexdigest()


_STAMP = source_stamp()


def cache_folder() -> Path:
    """First writable of: $NUMBA_CACHE_DIR, the package folder, the user's cache folder, a private temporary folder."""
    choices = [_FOLDER / "__pycache__", Path("~/.cache/dalembert/kernels").expanduser()]
    if os.environ.get("NUMBA_CACHE_DIR"):
        choices.insert(0, Path(os.environ["NUMBA_CACHE_DIR"]) / "dalembert")
    for folder in choices:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    return Path(tempfile.mkdtemp(prefix="dalembert-kernels-"))


CACHE = cache_folder()
_ALL = {"error_model": "numpy", "_nrt": False}  # kernels allocate nothing: no reference counts, and compiling fails if one does
JIT = not numba.config.DISABLE_JIT  # False leaves kernels as plain Python


class Locator(_CacheLocator):
    """Where Numba keeps our machine code, and when it is out of date."""

    def __init__(self, py_func, py_file):
        self._line = py_func.__code__.co_firstlineno

    def get_cache_path(self):
        return str(CACHE)

    def get_source_stamp(self):
        return _STAMP

    def get_disambiguator(self):
        return str(self._line)

    @classmethod
    def from_function(cls, py_func, py_file):
        return cls(py_func, py_file)


def kernel(function):
    """Compile an entry point on first use; cached on disk, GIL released, division by zero gives inf or NaN."""
    return _cached(function, "Locator")


def light(function):
    """A kernel that LLVM optimises at its first level and does not vectorise: compiled in 0.85 of the time, a few per
    cent slower. For what every first run has to compile; scalar code gains little from more."""
    made = kernel(function)
    made.light = True
    return made


def _cached(function, locator):
    before = numba.config.CACHE_LOCATOR_CLASSES
    numba.config.CACHE_LOCATOR_CLASSES = f"{__name__}.{locator}"
    try:
        return numba.njit(cache=True, nogil=True, fastmath=False, **_ALL)(function)
    finally:
        numba.config.CACHE_LOCATOR_CLASSES = before


class GeneratedLocator(Locator):
    """The same for generated source: out of date when its text changes, not when a kernel does."""

    def __init__(self, py_func, py_file):
        self._stamp = py_func.__globals__["STAMP"]

    def get_source_stamp(self):
        return self._stamp

    def get_disambiguator(self):
        return self._stamp[:16]


def generated(source, name, signature):
    """The function `name` of straight-line source text, compiled for one signature and cached on disk by its content."""
    options = ";".join(f"{option}={os.environ.get(option, '')}" for option in _OPTIONS)
    stamp = hashlib.sha256(f"{options}{source}".encode()).hexdigest()
    label = f"dalembert_generated_{stamp[:16]}"
    if label not in sys.modules:
        module = types.ModuleType(label)  # a cached function is loaded by the name of its module
        module.np, module.STAMP = np, stamp
        exec(compile(source, f"{label}.py", "exec"), module.__dict__)
        linecache.cache[f"{label}.py"] = (len(source), None, source.splitlines(True), f"{label}.py")
        sys.modules[label] = module
        module.compiled = bind(_cached(module.__dict__[name], "GeneratedLocator"), signature)
    return sys.modules[label].compiled


inline = register_jitable(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **_ALL)


def flat(function):
    """A part of an entry point that is only there to be read: pasted into its caller before types are inferred.

    Helpers (`inline`) are optimised once by themselves and once more in every caller, so deep nesting of large ones is what
    compile time goes into; parts are not compiled by themselves. Numba compiles a helper once for entry points and once more
    for helpers that call it, so a part should call no helper that other helpers call too.
    """
    return numba.njit(inline="always", **_ALL)(function)


def bind(function, signature):
    """Compile `function` for exactly this signature and nothing else, so that it can be passed through a slot."""
    if JIT and not function.overloads:
        compile_for(function, signature)
    return function


def compile_for(function, signature):
    """Compile `function` for one more signature, so that it takes what fits one of them and nothing else."""
    if signature.args not in function.signatures:
        function.disable_compile(False)
        collecting, level, vectorising = gc.isenabled(), numba.config.OPT, numba.config.LOOP_VECTORIZE
        gc.disable()  # compiling makes many objects and little garbage: a tenth of the time
        if getattr(function, "light", False):
            numba.config.OPT, numba.config.LOOP_VECTORIZE = type(level)(1), 0
        try:
            with warnings.catch_warnings():  # functions in slots are what Numba calls an experimental feature
                warnings.simplefilter("ignore", numba.NumbaExperimentalFeatureWarning)
                function.compile(signature)
        finally:
            numba.config.OPT, numba.config.LOOP_VECTORIZE = level, vectorising
            if collecting:
                gc.enable()
    if JIT:
        function.disable_compile()  # also where a kernel that calls it had it compiled already
    return function

"""The decorators of the kernels, and how they are compiled: once, for one signature, by one thread at a time.

`@kernel` marks an entry point (compiled, cached on disk, GIL released), `@flat` a part of one, `@inline` a helper (plain Python
when called from Python), `@vectorised` one whose loops are long; `@light` an entry point that every first run compiles.
"""

import contextlib
import gc
import hashlib
import linecache
import sys
import threading
import types
import warnings
from collections import OrderedDict

import numba
import numpy as np
from numba.core.codegen import JITCodeLibrary
from numba.core.registry import CPUDispatcher

from dalembert.kernels.base.cache import GENERATED, OPTIONS_TEXT, DiskCache, kept
from dalembert.kernels.base.front_end import KernelCompiler, shortcuts

# kernels allocate nothing: no reference counts, and compiling fails if one does; nobody calls them from C
_ALL = {"error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_KEPT = 256  # generated functions that a process remembers
JIT = not numba.config.DISABLE_JIT  # False leaves kernels as plain Python
_FULL = numba.config.OPT, numba.config.LOOP_VECTORIZE
_LIGHT = type(numba.config.OPT)(1), 0  # Numba's own kind of number, which it asks
COMPILING = threading.RLock()  # a function is open to new signatures only while its thread holds this


@contextlib.contextmanager
def _optimising(level, loops):
    """As LLVM is told to while this lasts."""
    before = numba.config.OPT, numba.config.LOOP_VECTORIZE
    numba.config.OPT, numba.config.LOOP_VECTORIZE = level, loops
    try:
        yield
    finally:
        numba.config.OPT, numba.config.LOOP_VECTORIZE = before


def kernel(function):
    """Compile an entry point on first use; cached on disk, GIL released, division by zero gives inf or NaN."""
    return _cached(function, kept(function), nogil=True, **_ALL)


def light(function):
    """A kernel that LLVM optimises at its first level and does not vectorise: compiled in 0.85 of the time, a few per
    cent slower. For what every first run has to compile; scalar code gains little from more."""
    made = kernel(function)
    made.light = True
    return made


def _cached(function, cache, **options):
    made = numba.njit(fastmath=False, pipeline_class=KernelCompiler, **options)(function)
    if JIT and cache is not None:
        made._cache = cache
    return made


_generated = OrderedDict()


def generated(source, name, signature, *, given=None, content="", on_disk=True):
    """The function `name` of source text, compiled for one signature and cached on disk by its content.

    given : makes the names that the source refers to, from that of its module; such code may allocate
    content : tells these apart;  on_disk : whether it tells them apart in another process too
    """
    stamp = hashlib.sha256(f"{OPTIONS_TEXT}\n{signature}\n{content}\n{source}".encode()).hexdigest()
    with COMPILING:
        if stamp in _generated:
            _generated.move_to_end(stamp)
            return _generated[stamp]
        label = f"dalembert_generated_{stamp[:16]}"
        module = sys.modules[label] = types.ModuleType(label)  # cached code is loaded by the name of its module
        try:
            module.np = np
            module.__dict__.update(given(label) if given else {})
            exec(compile(source, f"{label}.py", "exec"), module.__dict__)
            linecache.cache[f"{label}.py"] = (len(source), None, source.splitlines(True), f"{label}.py")
            cache = DiskCache(f"{GENERATED}{stamp[:16]}", stamp) if on_disk else None
            options = {"error_model": "numpy"} if given else {"nogil": True, **_ALL}
            _generated[stamp] = bind(_cached(module.__dict__[name], cache, **options), signature)
        except BaseException:
            _forget(label)
            raise
        if len(_generated) > _KEPT:
            _forget(f"dalembert_generated_{_generated.popitem(last=False)[0][:16]}")
        return _generated[stamp]


def _forget(label):
    sys.modules.pop(label, None)
    linecache.cache.pop(f"{label}.py", None)


class _Part(JITCodeLibrary):
    """Code that is linked into what calls it and optimised there alone; no machine code is made of it by itself: compiling
    takes three quarters of the time. It has no address, and no place for the environment by which Numba's compiled code would
    find Python's objects."""

    @property
    def codegen(self):
        return self

    def set_env(self, name, environment):
        """Asked for by Numba."""

    def get_pointer_to_function(self, name):
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class _VectorisedPart(_Part):
    def _optimize_functions(self, module):
        with _optimising(*_FULL):
            super()._optimize_functions(module)

    def _optimize_final_module(self):
        with _optimising(*_FULL):
            JITCodeLibrary._optimize_final_module(self)


class _PartCompiler(KernelCompiler):
    made = _Part

    def __init__(self, typing, target, library, *rest):
        super().__init__(typing, target, library or self.made(target.codegen(), "helper"), *rest)


class _VectorisedCompiler(_PartCompiler):
    made = _VectorisedPart


class _Helper(CPUDispatcher):
    """A function for compiled code that is plain Python when called from Python."""

    def __call__(self, *args):
        return self.py_func(*args)

    any_constants = False  # compiled once for all constants that it is called with, which LLVM knows where it is pasted

    def get_call_template(self, args, kws):
        return super().get_call_template([numba.types.unliteral(typ) for typ in args] if self.any_constants else args, kws)


def inline(function, compiler=_PartCompiler):
    """A helper of kernels: compiled once for each signature, whoever calls it."""
    if not JIT:
        return function
    return _Helper(function, targetoptions={"nopython": True, "no_cpython_wrapper": True, **_ALL}, pipeline_class=compiler)


def once(helper):
    """A helper that is not compiled again for each constant that it is called with, as Numba does."""
    helper.any_constants = True
    return helper


def vectorised(function):
    """A helper that LLVM optimises to the full by itself, so that its loops are vectorised whatever is around it."""
    return inline(function, _VectorisedCompiler)


def flat(function):
    """A part of an entry point that is only there to be read: pasted into its caller before types are inferred.

    Helpers (`inline`) are optimised in every caller, so deep nesting of large ones is what compile time goes into; parts are
    not compiled by themselves.
    """
    return numba.njit(inline="always", **_ALL)(function)


def bind(function, signature):
    """Compile `function` for exactly this signature and nothing else, so that it can be passed through a slot."""
    bound = getattr(function, "bound_to", {})
    if JIT and id(signature) not in bound:
        function = compile_for(function, signature)
        function.bound_to = {**bound, id(signature): signature}  # which lives as long as its id is asked for
    return function


def _calls(function, known):
    """A compiled function and all that it calls."""
    if function not in known:
        known[function] = None
        code, given = function.py_func.__code__, function.py_func.__globals__
        for name in code.co_names:
            if isinstance(given.get(name), type(function)):
                _calls(given[name], known)
    return list(known)


def compile_for(function, signature):
    """Compile `function` for one more signature, so that it takes what fits one of them and nothing else."""
    from dalembert.kernels.base import loop_types, view_makers  # noqa: F401 - what kernels read their tables through

    with COMPILING:
        if signature.args not in function.signatures:
            closed = [called for called in _calls(function, {}) if not called._can_compile]
            for called in closed:  # for numbers of one kind, where a kernel that calls it came from disk for the others
                called.disable_compile(False)
            collecting = gc.isenabled()
            gc.disable()  # compiling makes many objects and little garbage: a tenth of the time
            try:
                with (
                    shortcuts(),
                    _optimising(*(_LIGHT if getattr(function, "light", False) else _FULL)),
                    warnings.catch_warnings(),
                ):
                    # functions in slots are what Numba calls an experimental feature
                    warnings.simplefilter("ignore", numba.NumbaExperimentalFeatureWarning)
                    function.compile(signature)
            finally:
                for called in closed:
                    called.disable_compile()
                if collecting:
                    gc.enable()
        function.disable_compile()  # also where a kernel that calls it had it compiled already
        return function

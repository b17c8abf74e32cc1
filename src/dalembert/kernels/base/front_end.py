"""What Numba's front end does for kernels in vain or over and over, left out while they are compiled: a quarter of the time.

The machine code is the same. Of versions of Numba that came later than those that this was tried with, nothing is left out.
"""

import contextlib
import types
from functools import cache

from numba import version_info
from numba.core import base, inline_closurecall
from numba.core.base import BaseContext
from numba.core.compiler import Compiler, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.inline_closurecall import InlineWorker
from numba.core.ir import Expr, Inst, Loc, Var
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.targetconfig import TargetConfig
from numba.core.transforms import canonicalize_cfg
from numba.core.types.functions import BaseFunction

# for closures, comprehensions, array expressions, `with`, `raise` of values, loops over tuples: kernels have none; for the ends
# of variables' lives, where reference counts would fall, and for listings
FAMILIAR = version_info.short <= (0, 68)
_UNUSED = {
    "IRLegalization",
    "AnnotateTypes",
    "WithLifting",
    "InlineClosureLikes",
    "RewriteDynamicRaises",
    "MakeFunctionToJitFunction",
    "FindLiterallyCalls",
    "LiteralUnroll",
    "LiteralPropagationSubPipelinePass",
    "NopythonRewrites",
    "DumpParforDiagnostics",
}


def _fewer_passes(manager, state):
    """Without those that find nothing to do in our own sources."""
    if FAMILIAR and state.func_id.modname.startswith("dalembert."):
        manager.passes = [entry for entry in manager.passes if entry[0].__name__ not in _UNUSED]
        manager._finalized = False
        manager.finalize()
    return manager


def _untyped_passes(state):
    return _fewer_passes(DefaultPassBuilder.define_untyped_pipeline(state), state)


@cache
def load_array_functions():
    """What Numba loads before it compiles, but without SciPy's linear algebra, a tenth of a short process: kernels use none,
    and for code that does Numba asks again when it compiles it."""
    from numba.np import linalg

    asked, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        from numba.np import arraymath  # noqa: F401 - it asks for BLAS where it is loaded
    finally:
        linalg.ensure_blas = asked


class KernelCompiler(Compiler):
    """Numba's, with fewer passes."""

    def __init__(self, *given):
        load_array_functions()
        super().__init__(*given)

    def define_pipelines(self):
        return [_fewer_passes(DefaultPassBuilder.define_nopython_pipeline(self.state), self.state)]


_ask, _tidy, _measure = BaseFunction.get_call_type, PostProcessor.run, BaseContext.get_abi_sizeof
_list, _values, _takes_place = Inst._rec_list_vars, TargetConfig.values, base._has_loc
_LEAVES, _BLANK = {str, int, float, bool, Loc, type(None)}, Inst()
_answers = {}  # of operators, by their type and those of their arguments
_sizes = {}  # of LLVM's types


def _call_type(self, context, args, kws):
    """What an operator gives for these types; Numba asks all its templates anew at every call, a twentieth of compiling.

    The answers belong to a set of templates: a new one makes another type, and `self` stays alive as long as its answers.
    """
    if kws or getattr(self.typing_key, "__module__", None) != "_operator":
        return _ask(self, context, args, kws)
    _, known = _answers.setdefault(id(self), (self, {}))
    if args not in known:
        known[args] = _ask(self, context, args, kws)
    return known[args]


def _paste(self, caller_ir, block, i, function, arg_typs=None):
    """`flat`: the code of a part was made for this one place, and Numba copies it twice with all its names for each block."""
    self._compiler_pipeline = _untyped_passes
    made, copying = self.run_untyped_passes(function), inline_closurecall.copy
    inline_closurecall.copy = types.SimpleNamespace(deepcopy=copying.copy)
    try:
        return self.inline_ir(caller_ir, block, i, made, function.__code__.co_freevars, arg_typs=arg_typs)
    finally:
        inline_closurecall.copy = copying


def _tidy_blocks(self, emit_dels=False, extend_lifetimes=False):
    """After each pass: which variables live where is found when it is asked for, which after most it is not."""
    code = self.func_ir
    if emit_dels or code.is_generator:
        return _tidy(self, emit_dels, extend_lifetimes)
    code.blocks = canonicalize_cfg(code.blocks)
    code.variable_lifetime = VariableLifetime(code.blocks)
    code.generator_info = None


def _size(self, typ):
    """In bytes; Numba has LLVM read a module for each variable."""
    if typ not in _sizes:
        _sizes[typ] = _measure(self, typ)
    return _sizes[typ]


def _collect(value, found):
    """Variables below a part of the code, in its order."""
    kind = type(value)
    if kind is Var:
        found.append(value)
    elif kind is dict:
        for part in value.values():
            _collect(part, found)
    elif kind is list or kind is tuple:
        for part in value:
            _collect(part, found)
    elif kind is Expr:
        _collect(value._kws, found)
    elif kind not in _LEAVES:
        found += _list(_BLANK, value)


def _variables(self, value):
    """Of a statement; Numba makes a list for each of its parts, and of parts that are none."""
    found = []
    _collect(value, found)
    return found


def _options(self):
    """All values of a function's options; Numba reads each through a property, at every call of it."""
    given = self._values
    return {name: given.get(name, option.default) for name, option in self.options.items()}


@contextlib.contextmanager
def shortcuts():
    """These ways while kernels are compiled, by one thread at a time: Numba's lock keeps others from compiling meanwhile."""
    with global_compiler_lock:
        if not FAMILIAR:
            yield
            return
        pasting = InlineWorker.inline_function
        BaseFunction.get_call_type, InlineWorker.inline_function = _call_type, _paste
        PostProcessor.run, BaseContext.get_abi_sizeof = _tidy_blocks, _size
        Inst._rec_list_vars, TargetConfig.values = _variables, _options
        base._has_loc = cache(_takes_place)  # whether a function takes the line that it is called from, asked at every call
        try:
            yield
        finally:
            BaseFunction.get_call_type, InlineWorker.inline_function = _ask, pasting
            PostProcessor.run, BaseContext.get_abi_sizeof = _tidy, _measure
            Inst._rec_list_vars, TargetConfig.values = _list, _values
            base._has_loc = _takes_place

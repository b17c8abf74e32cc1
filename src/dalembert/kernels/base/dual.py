"""Dual: a number with its derivatives along several directions, with which a kernel's source gives those of its result.

    f(a + da) = f(a) + f'(a) da                 per direction, by the rules of each operation [GriewankWalther2008, 3.1]

The value is to the last bit what a kernel computes without derivatives. Comparisons, whole parts and signs are those of the
value: a kernel goes the way that it goes for the value, with the pivots and the choices of it. Numbers without derivatives stay
plain numbers.

This is the class that plain Python uses, with any number of directions; dual_types.py is the same in compiled code.
"""

import operator

import numpy as np

# functions of one argument: derivative from the argument and the value
SLOPES = {
    "sqrt": lambda a, f: 0.5 / f,
    "sin": lambda a, f: np.cos(a),
    "cos": lambda a, f: -np.sin(a),
    "tan": lambda a, f: 1.0 + f * f,
    "arcsin": lambda a, f: 1.0 / np.sqrt(1.0 - a * a),
    "arccos": lambda a, f: -1.0 / np.sqrt(1.0 - a * a),
    "arctan": lambda a, f: 1.0 / (1.0 + a * a),
    "sinh": lambda a, f: np.cosh(a),
    "cosh": lambda a, f: np.sinh(a),
    "tanh": lambda a, f: 1.0 - f * f,
    "arcsinh": lambda a, f: 1.0 / np.sqrt(1.0 + a * a),
    "arccosh": lambda a, f: 1.0 / np.sqrt(a * a - 1.0),
    "arctanh": lambda a, f: 1.0 / (1.0 - a * a),
    "exp": lambda a, f: f,
    "expm1": lambda a, f: f + 1.0,
    "log": lambda a, f: 1.0 / a,
    "log1p": lambda a, f: 1.0 / (1.0 + a),
}
OF_VALUE = ("floor", "sign", "isfinite", "isnan")  # piecewise constant, so without derivatives


def _of_numbers(operation):
    """What is neither a dual nor a number (a vector, an array) knows better what to do with one."""
    return lambda a, b: operation(a, b) if isinstance(b, (Dual, float, int, np.number)) else NotImplemented


class Dual:
    """value : a number;  tangents : its derivatives, an array"""

    __slots__ = ("tangents", "value")

    def __init__(self, value, tangents):
        self.value, self.tangents = value, tangents

    def __repr__(self):
        return f"Dual({self.value!r}, {self.tangents!r})"

    @_of_numbers
    def __add__(a, b):
        return Dual(a.value + b.value, a.tangents + b.tangents) if type(b) is Dual else Dual(a.value + b, a.tangents)

    @_of_numbers
    def __radd__(a, b):
        return Dual(b + a.value, a.tangents)

    @_of_numbers
    def __sub__(a, b):
        return Dual(a.value - b.value, a.tangents - b.tangents) if type(b) is Dual else Dual(a.value - b, a.tangents)

    @_of_numbers
    def __rsub__(a, b):
        return Dual(b - a.value, -a.tangents)

    @_of_numbers
    def __mul__(a, b):
        if type(b) is Dual:
            return Dual(a.value * b.value, b.value * a.tangents + a.value * b.tangents)
        return Dual(a.value * b, b * a.tangents)

    @_of_numbers
    def __rmul__(a, b):
        return Dual(b * a.value, b * a.tangents)

    @_of_numbers
    def __truediv__(a, b):
        if type(b) is Dual:
            q = a.value / b.value
            return Dual(q, (a.tangents - q * b.tangents) / b.value)
        return Dual(a.value / b, a.tangents / b)

    @_of_numbers
    def __rtruediv__(a, b):
        q = b / a.value
        return Dual(q, (-q / a.value) * a.tangents)

    @_of_numbers
    def __pow__(a, b):
        if type(b) is Dual:
            f = a.value**b.value
            change = b.value * a.value ** (b.value - 1.0) * a.tangents
            return Dual(f, change + np.where(b.tangents == 0.0, 0.0, f * np.log(a.value) * b.tangents))
        return Dual(a.value**b, b * a.value ** (b - 1.0) * a.tangents)

    @_of_numbers
    def __rpow__(a, b):
        f = b**a.value
        return Dual(f, f * np.log(b) * a.tangents)

    def __neg__(a):
        return Dual(-a.value, -a.tangents)

    def __pos__(a):
        return a

    def __abs__(a):
        return Dual(abs(a.value), -a.tangents if a.value < 0.0 else a.tangents)

    def __int__(self):
        return int(self.value)

    def __bool__(self):
        return bool(self.value)

    def __float__(self):
        raise TypeError("a number with derivatives cannot become a plain one: use np.sin instead of math.sin, and the like")

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        """NumPy's functions of numbers and of arrays of them."""
        apply = _RULES.get(ufunc)
        if method != "__call__" or apply is None or any(value is not None for value in options.values()):
            return NotImplemented
        if not any(isinstance(x, np.ndarray) for x in inputs):
            return apply(*inputs)
        return np.frompyfunc(apply, len(inputs), 1)(*(_boxed(x) for x in inputs))


def _boxed(x):
    """In an array, which NumPy would not make of a number of its own kind."""
    if not isinstance(x, Dual):
        return x
    array = np.empty((), dtype=object)
    array[()] = x
    return array


def value_of(a):
    return a.value if type(a) is Dual else a


def values_of(system):
    """The system without derivatives that one with them belongs to."""
    return system.values


def smooth(a):
    """Whether its derivatives are numbers: a root has none where it vanishes."""
    return type(a) is not Dual or bool(np.isfinite(a.tangents).all())


def _compared(how):
    return lambda a, b: how(value_of(a), value_of(b))


for _how in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
    setattr(Dual, f"__{_how.__name__}__", _compared(_how))
Dual.__hash__ = None


def _of_one(function, slope):
    def apply(a):
        if type(a) is not Dual:
            return function(a)
        f = function(a.value)
        return Dual(f, slope(a.value, f) * a.tangents)

    return apply


def _arctan2(a, b):
    u, v = value_of(a), value_of(b)
    r2, change = u * u + v * v, 0.0
    if type(a) is Dual:
        change = change + (v / r2) * a.tangents
    if type(b) is Dual:
        change = change - (u / r2) * b.tangents
    return Dual(np.arctan2(u, v), change)


def _either(name):
    """An operator where one of both or both are duals: NumPy's numbers do not leave it to us."""
    forward, backward = getattr(Dual, f"__{name}__"), getattr(Dual, f"__r{name}__")
    return lambda a, b: forward(a, b) if type(a) is Dual else backward(b, a)


_RULES = {getattr(np, name): _of_one(getattr(np, name), slope) for name, slope in SLOPES.items()}
_RULES |= {getattr(np, name): lambda a, f=getattr(np, name): f(value_of(a)) for name in OF_VALUE}
_RULES |= {np.arctan2: _arctan2, np.absolute: abs, np.negative: operator.neg, np.square: lambda a: a * a}
_RULES |= {np.add: _either("add"), np.subtract: _either("sub"), np.multiply: _either("mul"), np.divide: _either("truediv")}
_RULES |= {np.power: _either("pow"), np.maximum: max, np.minimum: min, np.hypot: lambda a, b: np.sqrt(a * a + b * b)}
_RULES |= {getattr(np, name): _compared(how) for name, how in (("less", operator.lt), ("less_equal", operator.le))}
_RULES |= {getattr(np, name): _compared(how) for name, how in (("greater", operator.gt), ("greater_equal", operator.ge))}
_RULES |= {getattr(np, name): _compared(how) for name, how in (("equal", operator.eq), ("not_equal", operator.ne))}
for _name in (*SLOPES, "arctan2", "hypot"):
    setattr(Dual, _name, _RULES[getattr(np, _name)])  # NumPy's functions of arrays of objects call these

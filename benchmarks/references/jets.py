"""Numbers of 80 bits with first and second derivatives along one coordinate, and vectors of them."""

import numpy as np

L = np.longdouble
PI = L("3.14159265358979323846264338327950288")


class Jet:
    """f, f', f'' along the one coordinate."""

    def __init__(self, f, d=0, dd=0):
        self.f, self.d, self.dd = L(f), L(d), L(dd)

    def __add__(self, o):
        o = o if isinstance(o, Jet) else Jet(o)
        return Jet(self.f + o.f, self.d + o.d, self.dd + o.dd)

    def __mul__(self, o):
        o = o if isinstance(o, Jet) else Jet(o)
        return Jet(self.f * o.f, self.d * o.f + self.f * o.d, self.dd * o.f + 2 * self.d * o.d + self.f * o.dd)

    def chain(self, f, d, dd):
        """f(self) from the derivatives of f there."""
        return Jet(f, d * self.d, dd * self.d**2 + d * self.dd)

    def root(self):
        r = np.sqrt(self.f)
        return self.chain(r, 1 / (2 * r), -1 / (4 * r**3))

    def inverse(self):
        return self.chain(1 / self.f, -1 / self.f**2, 2 / self.f**3)

    def sin(self):
        return self.chain(np.sin(self.f), np.cos(self.f), -np.sin(self.f))

    def cos(self):
        return self.chain(np.cos(self.f), -np.sin(self.f), -np.cos(self.f))

    def __sub__(self, o):
        return self + o * L(-1) if isinstance(o, Jet) else self + (-o)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self * L(-1)

    def __truediv__(self, o):
        return self * o.inverse() if isinstance(o, Jet) else self * (1 / L(o))


def plus(a, b):
    return tuple(x + y for x, y in zip(a, b, strict=True))


def minus(a, b):
    return tuple(x - y for x, y in zip(a, b, strict=True))


def scaled(a, s):
    return tuple(x * s for x in a)


def dot(a, b):
    total = Jet(0)
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def jets(*values):
    return tuple(v if isinstance(v, Jet) else Jet(v) for v in values)

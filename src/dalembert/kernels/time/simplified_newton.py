"""The stage equations of implicit Runge-Kutta methods by simplified Newton's method, and error estimates for stiff problems.

    (I - h a (x) J) dk = f(x + h a k) - k,  k <- k + dk,    a = T diag(lambda) T^-1        [HairerWanner1996, IV.8]

k are the rates of all stages, a is the tableau. The system falls apart into (I - mu J) w = r, mu = h lambda, one for each real
eigenvalue and each conjugate pair. Of J = [Q N; K C] only K and C, the derivatives of u', are to be found; Q = d(N u)/dq is
zero or, for Euler parameters, Omega(w) / 2 with a known inverse, so that the coordinates are eliminated:

    D = (I - mu Q)^-1 = (I + mu Q) / (1 + mu^2 |w|^2 / 4)
    (I - mu C - mu^2 K D N) w_u = r_u + mu K D r_q,     w_q = D (r_q + mu N w_u)

J is made at the predicted point of a stage in the middle and kept while it contracts, and so are its factors while the step
size stays. What a kept J leaves falls like a power, which Anderson's mixture of iterates sees and takes out. The first J are
central differences; a run that needs more columns than ENOUGH asks for exact ones, from numbers with derivatives (slopes.py):
a third of the time, once they are compiled. Where these have none (a root that vanishes) differences stay. The other
components of the state (work, angle counters) do not enter f and are iterated.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline, kernel, light
from dalembert.kernels.base.loops import clear, copy
from dalembert.kernels.base.tables import CALLBACK_FAILED, OK, STAGES_FAILED, WANTS_SLOPES
from dalembert.kernels.base.views import Numbers
from dalembert.kernels.time.complex_factors import back_substitute, dot, exchange_and_eliminate
from dalembert.kernels.time.implicit_stages import (
    EULER_PARAMETERS,
    ROUNDING,
    accelerate,
    assess,
    count,
    is_gauss,
    larger,
    quaternion_rate,
    remember,
    repeat_rate,
)
from dalembert.kernels.time.stepping import NOTHING, combine, visit
from dalembert.kernels.time.steps import slopes

ENOUGH = 400  # columns of Jacobians that are worth no compiling
STALE = 0.1  # contraction beyond which the next step takes a new Jacobian, or iterations that cost as much as one
DIFFERENCE = 6e-6  # central differences: eps^(1/3)
MAX_ITERATIONS = 20
# a stiff spring that turns with the bodies makes the error fall in every other iteration only: fixed steps, which cannot be
# repeated with a smaller one, wait for so many bad contractions in a row
PATIENCE = 4
EPS, LOOSEST = 2e-16, 1e-6  # rounding of rates is that of the state times the Jacobian; the most that counts as such
# jacobian_is
MISSING, KEPT, NEW = 0, 1, 2


@light
def iterate_newton(steps, system):
    """Simplified Newton's method; where a kept Jacobian does not contract, once more with a new one. Status."""
    y, stages, s, h = steps.y, steps.stages, steps.last - 1, steps.h
    status, before, slow, iteration, attempts, mixed = STAGES_FAILED, 0.0, 0, 0, 0, 0
    patience = 2 if steps.control == 1 else PATIENCE
    while status == STAGES_FAILED and attempts < 2:
        attempts += 1
        if steps.jacobian_is == MISSING:
            if steps.at_slopes == 0 and steps.jacobians * steps.n >= ENOUGH:
                return WANTS_SLOPES
            stand(steps)
            status = slopes(steps, system) if steps.at_slopes > 0 else STAGES_FAILED
            if status != OK:
                status = differentiate(steps, system)
            if status != OK:
                break
            status, steps.jacobian_is, steps.h_factored = STAGES_FAILED, NEW, 0.0
            steps.jacobians += 1
            steps.stiffness = largest_row(steps.jacobian)
        if steps.h_factored != h:
            factorise(steps)
            steps.h_factored = h
        before, slow, iteration, mixed = 0.0, 0, 0, 0
        remember(steps)
        rounding = max(ROUNDING, min(EPS * abs(h) * steps.stiffness, LOOSEST))
        while status == STAGES_FAILED and slow < patience and iteration < MAX_ITERATIONS:
            iteration += 1
            change, seen = 0.0, OK
            for i in range(1, s + 1):
                combine(steps.a, i, s + 1, 1, y, steps)
                seen = visit(steps.visit, steps.t + steps.c[i] * h, y, stages[s + 1 + i], system)
                if seen != OK:
                    break
            if seen == OK:
                change = newton_update(steps)
            status, slow = assess(seen, change, before, steps.contraction, slow, iteration, rounding, steps)
            if status == STAGES_FAILED and seen == OK:
                mixed = 1 if slow > 0 or change <= rounding else mixed + 1  # rounding is not mixed
                accelerate(mixed, steps)
            before = change
        count(iteration, steps)
        if status == OK:
            if steps.jacobian_is == NEW:
                steps.fresh, steps.beyond = iteration, 0
            steps.beyond += max(0, iteration - steps.fresh)
            stale = 2 * s * steps.beyond > steps.n or (iteration > 2 and steps.contraction > STALE)
            steps.jacobian_is = MISSING if stale else KEPT
        elif status != CALLBACK_FAILED and steps.jacobian_is == KEPT:
            status, steps.jacobian_is = STAGES_FAILED, MISSING
            repeat_rate(steps)
        else:
            steps.jacobian_is = MISSING
            break
    return status


@inline
def middle(steps):
    """The stage at whose predicted point Jacobians are made; 0, the old point, where nothing is predicted, or steps are fixed,
    which may be so long that predictions are far off."""
    return steps.last // 2 if steps.control == 1 and steps.predicted != NOTHING else 0


@flat
def stand(steps):
    """y and the last row of the Jacobian <- the point at which it is made."""
    s, n, y, jacobian = steps.last - 1, steps.n, steps.y, steps.jacobian
    combine(steps.a, middle(steps), s + 1, 1, y, steps)
    copy(jacobian[jacobian.shape[0] - 1], y, n)


@flat
def differentiate(steps, system):
    """K, C <- central differences of u' over q and u at the point in the last row. Status."""
    x, y, stages, jacobian, status, n = steps.x, steps.y, steps.stages, steps.jacobian, OK, steps.n
    forward, backward, nu = stages.shape[0] - 1, stages.shape[0] - 3, jacobian.shape[0] - 1
    t = steps.t + steps.c[middle(steps)] * steps.h
    for j in range(n):
        at = jacobian[nu, j]
        delta = DIFFERENCE * max(1.0, abs(at))
        for side in range(2):
            for i in range(x.size):
                y[i] = jacobian[nu, i] if i < n else x[i]
            y[j] += delta if side == 0 else -delta
            row = forward if side == 0 else backward
            status = visit(steps.visit, t, y, stages[row], system)
            if status != OK:
                break
        if status != OK:
            break
        for i in range(nu):
            jacobian[i, j] = (stages[forward, n - nu + i] - stages[backward, n - nu + i]) / ((at + delta) - (at - delta))
    return status


@flat
def put(steps, out):
    """jacobian <- rows of derivatives of x' by each component; whether all are finite."""
    jacobian, n, fine = steps.jacobian, steps.n, True
    nu = jacobian.shape[0] - 1
    for j in range(n):
        for i in range(nu):
            jacobian[i, j] = out[j, n - nu + i]
            fine &= np.isfinite(jacobian[i, j])
    return fine


@flat
def largest_row(jacobian):
    """Largest sum |J_ij| max(1, |x_j|) of a row"""
    largest, nu = 0.0, jacobian.shape[0] - 1
    for i in range(nu):
        total = 0.0
        for j in range(jacobian.shape[1]):
            total += abs(jacobian[i, j]) * max(1.0, abs(jacobian[nu, j]))
        largest = max(largest, total)
    return largest


@inline
def turned_back(mu, v, w, k):
    """D v = (v + mu Q v) / (1 + mu^2 |w|^2 / 4) for Euler parameters v, Q v = Omega(w) v / 2, w from entry k on."""
    r = quaternion_rate(v, w, k)
    scale = 1.0 / (1.0 + 0.25 * mu * mu * (w[k] * w[k] + w[k + 1] * w[k + 1] + w[k + 2] * w[k + 2]))
    return (
        scale * (v[0] + mu * r[0]),
        scale * (v[1] + mu * r[1]),
        scale * (v[2] + mu * r[2]),
        scale * (v[3] + mu * r[3]),
    )


@kernel
def factorise(steps):
    """All factors for the Jacobian and the step size at hand."""
    nu = steps.pivots.shape[1]
    for pair in range(steps.factors.shape[0]):
        mu = steps.h * steps.spectrum[0, pair]
        fill(mu, pair, steps)
        re, im = steps.factors[pair, 0, :nu], steps.factors[pair, 1, :nu]
        exchange_and_eliminate(re, im, steps.pivots[pair], mu.imag == 0.0)


@inline
def subtract(factors, pair, i, j, value):
    factors[pair, 0, i, j] -= value.real
    factors[pair, 1, i, j] -= value.imag


@flat
def fill(mu, pair, steps):
    """factors[pair] <- I - mu C - mu^2 K D N"""
    jacobian, factors, velocity_map = steps.jacobian, steps.factors, steps.velocity_map
    nu, n = jacobian.shape[0] - 1, jacobian.shape[1]
    nq, at = n - nu, jacobian[jacobian.shape[0] - 1]
    for i in range(nu):
        for j in range(nu):
            factors[pair, 0, i, j] = -mu.real * jacobian[i, nq + j]
            factors[pair, 1, i, j] = -mu.imag * jacobian[i, nq + j]
        factors[pair, 0, i, i] += 1.0
    for k in range(velocity_map.shape[0]):
        q, u, size = velocity_map[k, 0], velocity_map[k, 1], velocity_map[k, 2]
        if size == EULER_PARAMETERS:
            theta = at[q], at[q + 1], at[q + 2], at[q + 3]
            for j in range(3):
                axis = (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0)
                d = turned_back(mu, quaternion_rate(theta, axis, 0), at, u)
                for i in range(nu):
                    kd = (
                        jacobian[i, q] * d[0]
                        + jacobian[i, q + 1] * d[1]
                        + jacobian[i, q + 2] * d[2]
                        + jacobian[i, q + 3] * d[3]
                    )
                    subtract(factors, pair, i, u - nq + j, mu * mu * kd)
        else:
            for i in range(nu):
                for j in range(size):
                    subtract(factors, pair, i, u - nq + j, mu * mu * jacobian[i, q + j])


@kernel
def solve(mu, pair, steps):
    """The last row of factors[pair] <- (I - mu J)^-1 of what it holds, a vector over q and u."""
    jacobian, factors, velocity_map = steps.jacobian, steps.factors, steps.velocity_map
    nu, n = jacobian.shape[0] - 1, jacobian.shape[1]
    nq, at, x, y, real = n - nu, jacobian[jacobian.shape[0] - 1], factors[pair, 0, nu], factors[pair, 1, nu], mu.imag == 0.0
    for k in range(velocity_map.shape[0]):
        q, u = velocity_map[k, 0], velocity_map[k, 1]
        if velocity_map[k, 2] == EULER_PARAMETERS:
            z = complex(x[q], y[q]), complex(x[q + 1], y[q + 1]), complex(x[q + 2], y[q + 2]), complex(x[q + 3], y[q + 3])
            for j, value in enumerate(turned_back(mu, z, at, u)):
                x[q + j], y[q + j] = value.real, value.imag
    for i in range(nu):
        value = mu * complex(dot(jacobian[i], x, 0, nq), 0.0 if real else dot(jacobian[i], y, 0, nq))
        x[nq + i] += value.real
        y[nq + i] += value.imag
    back_substitute(factors[pair, 0, :nu], factors[pair, 1, :nu], steps.pivots[pair], x[nq:], y[nq:], real)
    for k in range(velocity_map.shape[0]):
        q, u, size = velocity_map[k, 0], velocity_map[k, 1], velocity_map[k, 2]
        if size == EULER_PARAMETERS:
            w = complex(x[u], y[u]), complex(x[u + 1], y[u + 1]), complex(x[u + 2], y[u + 2])
            d = turned_back(mu, quaternion_rate((at[q], at[q + 1], at[q + 2], at[q + 3]), w, 0), at, u)
            for j, each in enumerate(d):
                subtract(factors, pair, nu, q + j, -mu * each)
        else:
            for j in range(size):
                subtract(factors, pair, nu, q + j, -mu * complex(x[u + j], y[u + j]))


@kernel
def newton_update(steps):
    """K <- K + dK from f(x + h A K) in rows s + 2 .. 2 s + 1; the largest change of h K, relative to max(1, |x|)."""
    x, stages, factors, spectrum, h = steps.x, steps.stages, steps.factors, steps.spectrum, steps.h
    nu, s, n, change = steps.pivots.shape[1], steps.last - 1, steps.n, 0.0
    for pair in range(factors.shape[0]):
        re, im = factors[pair, 0, nu], factors[pair, 1, nu]
        clear(re, n)
        clear(im, n)
        for i in range(1, s + 1):
            old, new, vector = stages[i], stages[s + 1 + i], spectrum[s + i, pair]
            for j in range(n):
                re[j] += vector.real * (new[j] - old[j])
                im[j] += vector.imag * (new[j] - old[j])
        solve(h * spectrum[0, pair], pair, steps)
    for i in range(1, s + 1):
        old, new = stages[i], stages[s + 1 + i]
        copy(Numbers(old, n), Numbers(new, n), x.size - n)
        clear(new, n)
        for pair in range(factors.shape[0]):
            re, im, vector = factors[pair, 0, nu], factors[pair, 1, nu], spectrum[i, pair]
            for j in range(n):
                new[j] += vector.real * re[j] - vector.imag * im[j]
        for j in range(n):
            old[j] += new[j]
            change = larger(change, h * new[j], x[j])
    return change


@light
def filtered_error(steps, system):
    """err <- RMS over q and u of (I - h lambda J)^-1 h sum_j e_j k_j, scaled by the tolerances [HairerWanner1996, IV (8.20)].

    Without the factor what is stiff in f at the old point would rule. lambda is the real eigenvalue of A, or a complex one
    where there is none.
    """
    x, y, stages, e, factors, spectrum = steps.x, steps.y, steps.stages, steps.e, steps.factors, steps.spectrum
    nu, n, pair, h = steps.pivots.shape[1], steps.n, factors.shape[0] - 1, steps.h
    for k in range(pair - 1, -1, -1):  # from the last: were pair 0 at first, `solve` would be compiled for a pair 0 as well
        if abs(spectrum[0, k].imag) <= abs(spectrum[0, pair].imag):
            pair = k
    for i in range(n):
        value = 0.0
        for j in range(steps.last):
            value += e[0, j] * stages[j, i]
        factors[pair, 0, nu, i], factors[pair, 1, nu, i] = h * value, 0.0
    solve(h * spectrum[0, pair], pair, steps)
    total = 0.0
    for i in range(n):
        scale = steps.atol + steps.rtol * max(abs(x[i]), abs(y[i]))
        total += (factors[pair, 0, nu, i] ** 2 + factors[pair, 1, nu, i] ** 2) / (scale * scale)
    steps.err = np.sqrt(total / n)
    if is_gauss(steps):  # stiff: the error is that of the stages, and the law of order 2 s + 1 does not hold
        s = steps.last - 1
        steps.err = (steps.err * abs(spectrum[0, pair] / e[0, 0])) ** ((2.0 * s + 1.0) / (s + 1.0))
    return OK

"""Compiled kernels against the same sources run as plain Python in another process, and the rules of KERNELS.md."""

import os
import subprocess
import sys
from pathlib import Path

import kernel_calls
import numpy as np
import pytest
from numba import types
from random_mechanisms import SHAPES, planar_chain, random_model

from dalembert import gallery
from dalembert.compilation.compile import compile
from dalembert.kernels.base.compiler import JIT, compile_for, kernel
from dalembert.kernels.formulations.jet import jet

compiled_only = pytest.mark.skipif(not JIT, reason="kernels are plain Python in this process")


def models():
    """Every shape with every force, planar coordinates, the published mechanisms."""
    for shape in SHAPES:
        yield f"{shape}", compile(random_model(1, shape, 3))
    yield "planar", compile(planar_chain(0, 3), "planar")
    yield "crank", compile(gallery.crank_mechanism())
    yield "four-bar", compile(gallery.spatial_four_bar())


def evaluate_all():
    """Right-hand sides and both projections of all models as named arrays."""
    results = {}
    for name, mechanism in models():
        x = kernel_calls.moved(mechanism, mechanism.x_0, 0.01 * np.sin(np.arange(6.0 * mechanism.nb)))
        e = kernel_calls.evaluate(mechanism, 0.3, x)
        results[f"{name} rate"], results[f"{name} lam"] = e.rate, e.lam
        results[f"{name} cg"] = kernel_calls.evaluate(mechanism, 0.3, x, conjugate_gradients=True).rate
        results[f"{name} projected"] = kernel_calls.project(mechanism, 0.3, x)[1]
        if name in ("chain", "crank", "planar"):
            results[f"{name} orthogonal"] = kernel_calls.project(mechanism, 0.3, x, orthogonal=True)[1]
    return results


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Results of this process and of one with NUMBA_DISABLE_JIT=1."""
    file = tmp_path_factory.mktemp("plain") / "results.npz"
    code = "import sys, numpy, test_kernels_compiled as t; assert not t.JIT;numpy.savez(sys.argv[1], **t.evaluate_all())"
    here = Path(__file__).parent
    import dalembert

    folders = [here, here.parent, Path(dalembert.__file__).parents[1]]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(map(str, folders))}
    subprocess.run([sys.executable, "-c", code, str(file)], check=True, env=environment, timeout=300)
    with np.load(file) as plain:
        return evaluate_all(), dict(plain)


@compiled_only
def test_compiled_and_plain_kernels_agree(both):
    compiled, plain = both
    assert compiled.keys() == plain.keys()
    for name, value in compiled.items():
        assert np.isfinite(value).all(), name
        # The same operations in the same order, and no fused multiply-add without fastmath: bitwise equal on x86-64.
        # NumPy's sin, cos and arctan2 may elsewhere differ from the C library's in the last place, times cond(S) = 1e4.
        assert kernel_calls.relative(value, plain[name]) <= 1e-11, name


@compiled_only
def test_algebra_is_bitwise_equal(both):
    """Models without drivers and motors use +, -, *, / and sqrt alone, which IEEE 754 fixes to the last bit."""
    compiled, plain = both
    for name in (f"{model} {what}" for model in ("four-bar", "crank") for what in ("rate", "lam", "cg", "projected")):
        q_and_u = slice(None) if name.endswith("lam") else slice(0, 39)  # 3 bodies; joint angles need arctan2
        assert np.array_equal(compiled[name][q_and_u], plain[name][q_and_u]), name


@compiled_only
def test_one_signature_per_kernel(both):
    from dalembert.kernels.formulations.conjugate_gradient import jet_rate_by_cg
    from dalembert.kernels.formulations.orthogonal import project_orthogonal
    from dalembert.kernels.mechanics.forces import force_elements

    for function in (jet, jet_rate_by_cg, project_orthogonal, force_elements):
        assert signatures(function) == 1


def signatures(function):
    """How many for plain numbers; those for numbers with derivatives are compiled where somebody asks for them."""
    return sum("Dual" not in str(signature) for signature in function.signatures)


@pytest.mark.nojit
@pytest.mark.bounds
def test_kernels_run_in_this_process():
    """Carried by the selections without compilation and with bounds checks."""
    mechanism = compile(gallery.crank_mechanism())
    e = kernel_calls.evaluate(mechanism, 0.0, mechanism.x_0)
    c = kernel_calls.evaluate(mechanism, 0.0, mechanism.x_0, conjugate_gradients=True)
    assert e.status == c.status == 0
    assert kernel_calls.relative(e.acceleration, c.acceleration) <= 1e-10  # residual 1e-14 times cond(S) <= 1e4


@pytest.mark.nojit
@pytest.mark.bounds
@pytest.mark.parametrize("solver", ["fixed-point", "newton"])
def test_implicit_steps_run_in_this_process(solver):
    """Both stage solvers, three stages and a time between steps, against an explicit method."""
    import dalembert as da

    mechanism = compile(gallery.pendulum_3d())
    times = [0.005, 0.02]
    implicit = da.simulate(mechanism, 0.02, integrator=da.GaussLegendre(3, step=0.01, solver=solver), save_at=times)
    explicit = da.simulate(mechanism, 0.02, integrator=da.DOP853(step=0.01), save_at=times)
    assert np.abs(implicit.x - explicit.x).max() <= 1e-11
    assert implicit.statistics.stage_newton_steps == (2 if solver == "newton" else 0)


@compiled_only
def test_one_signature_per_time_loop():
    from dalembert.compilation.compiled_loops import compiled

    for loop in (compiled("implicit_runge_kutta"), compiled("runge_kutta")):
        assert len(loop.signatures) == 1


@pytest.mark.nojit
@pytest.mark.parametrize("name", ["routh_sphere", "slider_crank", "tethered_chain"])
def test_variational_steps_run_in_this_process(name):
    """Nonholonomic rows, a closed loop, force elements; two steps of order two against an explicit method."""
    import dalembert as da

    mechanism = compile(gallery.build(name))
    steps = da.simulate(mechanism, 2e-4, formulation=da.Variational(), integrator=da.FixedStep(step=1e-4))
    exact = da.simulate(mechanism, 2e-4, integrator=da.DOP853(step=1e-4))
    assert np.abs(steps.x[-1] - exact.x[-1]).max() <= 1e-6


@compiled_only
def test_kernels_called_by_kernels_keep_their_signature():
    """A second one, for the type of one user function, would make the disk cache unreadable in the next process."""
    import dalembert as da
    from dalembert.kernels.coordinates.lagrangian import lagrangian

    step = {"formulation": da.Variational(), "integrator": da.FixedStep(step=0.1)}
    for model in (gallery.oscillator(), gallery.routh_sphere()):
        da.simulate(model, 0.2, **step)
        da.simulate(model, 0.2)
    assert signatures(lagrangian) == signatures(jet) == 1


@kernel
def called(x):
    return x


@kernel
def calling(x):
    return called(x)


@compiled_only
def test_a_kernel_may_call_one_that_is_compiled_for_other_numbers():
    """As where one caller came from disk, and sensitivities compiled what it calls for theirs: the next caller was refused."""
    compile_for(called, types.complex128(types.complex128))
    assert compile_for(calling, types.float64(types.float64))(1.5) == 1.5
    with pytest.raises(TypeError, match="No matching definition"):  # it takes what it was compiled for, and nothing else
        called("a")

"""Runs as functions of JAX and torch: values are those of simulate, derivatives those of a closed form."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from test_fit import closed_form, oscillator

import dalembert as da
from dalembert.bridges.jax import jax_function
from dalembert.bridges.runs import OutputsOfRuns
from dalembert.bridges.torch import torch_function

START = {"stiffness": 40.0, "damping": 0.6}
TIMES = np.linspace(0.02, 0.4, 20)
OPTIONS = {"t_end": 0.4, "save_at": TIMES, "integrator": da.RungeKutta4(step=0.005)}
BRIDGES = {"jax": jax_function, "torch": torch_function}
EXACT = 1e-7  # h^4 of the steps, h^2 of the differences of the closed form


def final(solution):
    return solution.position("bob")[-1, 0]


def both(solution):
    return solution.position("bob")[:, :2]


OUTPUTS = {"x": "bob.x", "end": final, "both": both}


def slopes(t, **p):
    """(..., p) derivatives of the closed form, by central differences."""
    made = []
    for name, value in p.items():
        h = 1e-4 * value
        made.append((closed_form(t, **{**p, name: value + h}) - closed_form(t, **{**p, name: value - h})) / (2 * h))
    return np.stack(made, axis=-1)


def bridge(name, outputs=OUTPUTS, parameters=START, build=oscillator, **options):
    return BRIDGES[name](build, outputs, parameters, **{**OPTIONS, **options})


@pytest.fixture(scope="module")
def jax():
    found = pytest.importorskip("jax", reason="needs the extra jax (380 MB)")
    found.config.update("jax_enable_x64", True)
    return found


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="needs the extra torch")


def test_what_bridges_call():
    """Many vectors in one call; values with and without derivatives agree."""
    runs = OutputsOfRuns("bridge", oscillator, OUTPUTS, START, 0.4, {k: v for k, v in OPTIONS.items() if k != "t_end"})
    assert runs.names == ("stiffness", "damping") and runs.shapes == {"x": (20,), "end": (), "both": (20, 2)}
    P = np.array([[[40.0, 0.6], [44.0, 0.5]], [[36.0, 0.7], [50.0, 0.1]]])
    values, (again, derivatives) = runs.values(P), runs.with_derivatives(P)
    assert [v.shape for v in values] == [(2, 2, 20), (2, 2), (2, 2, 20, 2)]
    assert [d.shape for d in derivatives] == [(2, 2, 20, 2), (2, 2, 2), (2, 2, 20, 2, 2)]
    for one, other in zip(values, again, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-13)
    for at in np.ndindex(2, 2):
        p = dict(zip(START, P[at], strict=True))
        np.testing.assert_allclose(values[0][at], closed_form(TIMES, **p), rtol=0, atol=EXACT)
        np.testing.assert_allclose(derivatives[0][at], slopes(TIMES, **p), rtol=0, atol=EXACT)
        np.testing.assert_allclose(derivatives[1][at], slopes(0.4, **p), rtol=0, atol=EXACT)
    np.testing.assert_array_equal(values[2][..., 0], values[0])
    with pytest.raises(da.SimulationError, match=r"run 1 \(stiffness = -1, damping"):
        runs.values([[40.0, 0.6], [-1.0, 0.6]])
    with pytest.raises(da.ModelError, match="stiffness of run 0 is nan"):
        runs.values([np.nan, 0.6])
    with pytest.raises(da.ModelError, match="give finite numbers"):
        runs.with_derivatives([np.nan, 0.6])


@pytest.mark.parametrize(
    ("outputs", "parameters", "message"),
    [
        ([], START, "outputs are"),
        (["bob.w"], START, "no signal 'bob.w'"),
        ({"three": lambda s: [1.0, 2.0, 3.0]}, START, r"'three' has the shape \(3,\); give one number"),
        (OUTPUTS, {"stifness": 40.0}, "stifness.*stiffness"),
        (OUTPUTS, {"stiffness": np.nan}, "stiffness"),
        (OUTPUTS, {}, "give where to start"),
    ],
)
def test_bad_input_is_told_when_the_function_is_made(outputs, parameters, message):
    with pytest.raises(da.ModelError, match=message):
        OutputsOfRuns("bridge", oscillator, outputs, parameters, 0.4, {"save_at": TIMES, "integrator": OPTIONS["integrator"]})


@pytest.mark.parametrize("name", BRIDGES)
def test_what_is_not_installed_is_named(name, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(da.ModelError, match=rf"(?i)needs {name}: pip install {name}$"):
        bridge(name)


def test_jax_values_derivatives_and_maps(jax):
    jnp, f = jax.numpy, bridge("jax")

    def loss(p):
        y = f(p)
        return jnp.sum(y["x"] ** 2) + 3.0 * y["end"] + jnp.sum(y["both"][:, 0])

    x, dx = closed_form(TIMES, **START), slopes(TIMES, **START)
    exact = 2 * x @ dx + 3.0 * dx[-1] + dx.sum(axis=0)
    told = da.gradient(oscillator, "bob.x", START, **OPTIONS)
    np.testing.assert_allclose(f(START)["x"], x, rtol=0, atol=EXACT)
    for gradient in (jax.grad(loss), jax.jit(jax.grad(loss)), jax.jacfwd(loss), jax.jit(jax.jacrev(loss))):
        found = gradient(START)
        np.testing.assert_allclose([found[name] for name in START], exact, rtol=0, atol=20 * EXACT)
    found = jax.jvp(f, (START,), ({"stiffness": 1.0, "damping": 0.0},))[1]
    np.testing.assert_allclose(found["end"], told["stiffness"], rtol=1e-12)
    np.testing.assert_allclose(found["x"], dx[:, 0], rtol=0, atol=EXACT)
    many = {"stiffness": jnp.array([38.0, 40.0, 45.0]), "damping": jnp.array([0.5, 0.6, 0.7])}
    mapped, over = jax.vmap(f)(many), jax.jit(jax.vmap(f, in_axes=({"stiffness": 0, "damping": None},)))
    one = over({"stiffness": many["stiffness"], "damping": 0.6})
    slope = jax.vmap(jax.grad(loss))(many)
    for k in range(3):
        p = {name: float(values[k]) for name, values in many.items()}
        np.testing.assert_allclose(mapped["x"][k], closed_form(TIMES, **p), rtol=0, atol=EXACT)
        np.testing.assert_allclose(one["end"][k], closed_form(0.4, stiffness=p["stiffness"]), rtol=0, atol=EXACT)
        np.testing.assert_allclose(slope["damping"][k], jax.grad(loss)(p)["damping"], rtol=1e-12)


def test_jax_maps_into_one_call(jax, monkeypatch):
    from dalembert.bridges import runs

    f, calls = bridge("jax"), []
    whole = runs.simulate_many

    def counted(*given, parameters, **options):
        calls.append(len(parameters["damping"]))
        return whole(*given, parameters=parameters, **options)

    monkeypatch.setattr(runs, "simulate_many", counted)
    jax.vmap(lambda k: f({"stiffness": k, "damping": 0.6})["end"])(jax.numpy.linspace(30.0, 50.0, 7)).block_until_ready()
    assert calls == [7]


def test_what_jax_cannot_do_is_refused(jax):
    f = bridge("jax")
    with pytest.raises(da.ModelError, match=r"no parameter 'damp'.*damping"):
        f({"stiffness": 40.0, "damp": 0.6})
    with pytest.raises(da.ModelError, match="also needs damping"):
        f({"stiffness": 40.0})
    with pytest.raises(da.ModelError, match=r"one number for each parameter; jax\.vmap"):
        f({"stiffness": jax.numpy.ones(3), "damping": 0.6})
    with pytest.raises(Exception, match="do not support JVP"):
        jax.hessian(lambda p: f(p)["end"])(START)
    with pytest.raises(Exception, match="stiffness = -1"):
        f({"stiffness": -1.0, "damping": 0.6})["end"].block_until_ready()
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.warns(RuntimeWarning, match="seven digits at most.*jax_enable_x64"):
            bridge("jax")
    finally:
        jax.config.update("jax_enable_x64", True)


def test_torch_values_and_derivatives(torch):
    f, dx = bridge("torch"), slopes(TIMES, **START)
    x = torch.tensor(list(START.values()), dtype=torch.float64, requires_grad=True)

    def loss(x):
        y = f({"stiffness": x[..., 0], "damping": x[..., 1]})
        return (y["x"] ** 2).sum(-1) + 3.0 * y["end"] + y["both"][..., 0].sum(-1)

    loss(x).backward()
    exact = 2 * closed_form(TIMES, **START) @ dx + 3.0 * dx[-1] + dx.sum(axis=0)
    np.testing.assert_allclose(x.grad, exact, rtol=0, atol=20 * EXACT)
    assert torch.autograd.gradcheck(loss, (x,), eps=1e-3, atol=1e-5)
    many = torch.tensor([[40.0, 0.6], [38.0, 0.5], [45.0, 0.7]], dtype=torch.float64, requires_grad=True)
    loss(many).sum().backward()
    np.testing.assert_allclose(many.grad[0], x.grad, rtol=1e-12)
    with torch.no_grad():
        plain = f({"stiffness": many[:, 0], "damping": 0.6})
    assert plain["both"].shape == (3, 20, 2) and not plain["end"].requires_grad
    np.testing.assert_allclose(plain["x"][2], closed_form(TIMES, stiffness=45.0), rtol=0, atol=EXACT)


def test_what_torch_cannot_do_is_refused(torch):
    f = bridge("torch")
    k = torch.tensor(40.0, dtype=torch.float64, requires_grad=True)
    with pytest.raises(da.ModelError, match="derivatives have no derivatives"):  # autograd would give 2 for the second one
        torch.autograd.grad(f({"stiffness": k, "damping": 0.6})["end"] + k**2, k, create_graph=True)
    with pytest.warns(RuntimeWarning, match=r"seven digits at most.*torch\.float64"):
        f({"stiffness": torch.tensor(40.0), "damping": 0.6})
    with pytest.raises(da.ModelError, match="stiffness = -1"):
        f({"stiffness": -1.0, "damping": 0.6})


@pytest.mark.parametrize("name", BRIDGES)
def test_the_page_runs(name, request):
    """Blocks marked `py` need what is not installed everywhere."""
    request.getfixturevalue(name)
    text = (Path(__file__).parents[2] / "docs" / "howto" / "fit.md").read_text(encoding="utf-8")
    first, *_ = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    blocks = re.findall(r"^```py\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    (mine,) = (block for block in blocks if f"bridges.{name}" in block)
    names = {}
    exec(first, names)
    exec(mine, names)
    assert names["slope"] == pytest.approx(names["run"].derivative("bob.x", "stiffness")[-1], rel=1e-9)

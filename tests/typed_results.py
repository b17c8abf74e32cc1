"""What the type checker knows of results; read by mypy, never run."""

from typing import assert_type

import dalembert as da
from dalembert.compilation.lagrangian import LagrangianMechanism
from dalembert.compilation.mechanism import Mechanism
from dalembert.plot import Plots

model, system = da.Model(), da.LagrangianSystem(lambda v: v.x**2, "x")
assert_type(da.simulate(model, 1.0, coordinates="tree"), da.Solution)
assert_type(da.simulate(da.compile(system), 1.0), da.LagrangianSolution)
assert_type(da.compile(model), Mechanism)
assert_type(da.compile(system), LagrangianMechanism)
assert_type(da.simulate(model, 1.0).plot, Plots)

"""Ctrl-C while Numba looks at the types of arguments: what Python code raises there is forgotten, so none may run."""

import sys

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.formulations.base import prepared
from dalembert.integrators.advance import Advance
from dalembert.kernels.base.bundles import Bundle
from dalembert.kernels.base.compiler import JIT
from dalembert.kernels.base.views import System


@pytest.mark.skipif(not JIT, reason="compiled code only")
def test_numba_asks_no_python_code():
    mechanism = da.compile(gallery.slider_crank())
    run = prepared(da.Jet(), mechanism)
    bundle = Advance(run, da.DOP853(), 0.0, run.from_absolute(mechanism.x_0), 0.1, None).bundle
    asked, rate = [], np.zeros(run.state_size)

    def watch(frame, event, argument):
        if event == "call" and frame.f_code in (System.__getattr__.__code__, Bundle.__getattr__.__code__):
            asked.append(frame.f_locals["label"])

    sys.setprofile(watch)
    try:
        run.rate(0.0, run.from_absolute(mechanism.x_0), rate)
        assert hasattr(bundle, "_numba_type_") and hasattr(run.view, "_numba_type_")
    finally:
        sys.setprofile(None)
    assert rate.any() and asked == []

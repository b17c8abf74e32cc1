"""A formulation of one's own that promises an evaluation and has none."""

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery


class Promising(da.Jet):
    compliant = True


def test_a_compliant_formulation_without_evaluation_is_told_so():
    mechanism = da.compile(gallery.pendulum_3d())
    with pytest.raises(da.ModelError, match=r"Promising says that it is compliant.*evaluate"):
        Promising().evaluate(mechanism, np.zeros(1), mechanism.x_0[None], {})

"""The parameters that a user's function is given by name."""

from __future__ import annotations

from collections.abc import Mapping

import numpy.typing as npt

from dalembert.model.elements import Parameter
from dalembert.model.validation import user_function

Parameters = Mapping[str, npt.ArrayLike]


def parameters_of(owner: str, function: object, forms: Mapping[int, str], parameters: object) -> tuple[Parameter, ...]:
    """Those of a function that is one of the forms, {number of arguments: text}, beside them."""
    given = user_function(owner, function, forms, parameters)
    return tuple(Parameter(name, array.shape, tuple(array.ravel().tolist())) for name, array in given.items())

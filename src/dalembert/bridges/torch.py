"""Runs as torch functions: an `autograd.Function` whose derivatives are those of this library."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

from dalembert.bridges.runs import SINGLE, OutputsOfRuns
from dalembert.errors import ModelError
from dalembert.questions.gradient import RunOptions


def torch_function(
    build: Any,
    outputs: Sequence[str | Callable[[Any], Any]] | Mapping[str, str | Callable[[Any], Any]],
    parameters: Mapping[str, float],
    *,
    t_end: float,
    **options: Unpack[RunOptions],
) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """A function of a dict of tensors that returns outputs of a run by name, as tensors that autograd goes back through.

    Arguments as of `jax_function`. Tensors of one shape are that many runs, by one call of `simulate_many` where no derivatives
    are asked for; the shape comes first in that of each output. Give tensors of double precision (dtype=torch.float64).
    Derivatives have no derivatives themselves. A run that fails raises.
    """
    try:
        import torch
    except ImportError:
        raise ModelError("torch_function needs torch: pip install torch") from None

    runs = OutputsOfRuns("torch_function", build, outputs, parameters, t_end, options)

    class Run(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            def tensors(arrays: Any) -> Any:
                return tuple(torch.as_tensor(values, dtype=x.dtype, device=x.device) for values in arrays)

            at = x.detach().cpu().numpy()
            if not ctx.needs_input_grad[0]:
                return tensors(runs.values(at))
            values, slopes = runs.with_derivatives(at)
            ctx.save_for_backward(*tensors(slopes))
            return tensors(values)

        @staticmethod
        def backward(ctx: Any, *along: Any) -> Any:
            if torch.is_grad_enabled():  # what autograd would take for constant
                raise ModelError("torch_function: derivatives have no derivatives themselves; leave out create_graph=True")
            parts = []
            for dy, by, shape in zip(along, ctx.saved_tensors, runs.shapes.values(), strict=True):
                many = dy.shape[: dy.ndim - len(shape)]
                parts.append(torch.einsum("...i,...ip->...p", dy.reshape(*many, -1), by.reshape(*many, -1, by.shape[-1])))
            return sum(parts)

    def of_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
        given = [v if torch.is_tensor(v) else torch.tensor(v, dtype=torch.float64) for v in runs.ordered(parameters)]
        x = torch.stack(torch.broadcast_tensors(*given), dim=-1)
        if any(v.dtype != torch.float64 for v in given):
            warnings.warn(f"torch: {SINGLE}; give tensors with dtype=torch.float64", RuntimeWarning, stacklevel=2)
        return dict(zip(runs.shapes, Run.apply(x), strict=True))

    return of_parameters

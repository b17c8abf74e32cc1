"""Independent velocities of a spherical pendulum and of a spinning top, with and without continuation of their basis.

python examples/minimal_continuity.py          writes minimal_continuity.png, like Figs. 9, 10 and 14 of [QRContinuation]
"""

import numpy as np

import dalembert as da
from dalembert.gallery import spherical_pendulum, spin_top
from dalembert.plot.style import house_style, new_figure, save_figure

STEP = 1e-3
CASES = {"continued": da.Minimal(), "factored anew": da.Minimal(continuation=False)}


def build() -> dict[str, tuple[da.Model, float]]:
    """The two systems and how long they are followed [s]."""
    return {"pendulum": (spherical_pendulum(), 0.5), "top": (spin_top(), 5.0)}


def run() -> dict[tuple[str, str], da.Solution]:
    """Every system with every way to choose the basis, every step saved."""
    return {
        (system, case): da.simulate(model, t_end, formulation=formulation, integrator=da.DormandPrince(step=STEP))
        for system, (model, t_end) in build().items()
        for case, formulation in CASES.items()
    }


def check(solutions: dict[tuple[str, str], da.Solution]) -> None:
    """The motion is the same; s' jumps unless its basis is continued."""
    for system in build():
        smooth, rough = (solutions[system, case] for case in CASES)
        np.testing.assert_allclose(smooth.q, rough.q, atol=1e-9)
        np.testing.assert_allclose(
            np.linalg.norm(smooth.minimal.s_dot, axis=1), np.linalg.norm(rough.minimal.s_dot, axis=1), atol=1e-8
        )
        assert rough.minimal.jump[-1] > 20 * smooth.minimal.jump[-1]


def draw(solutions: dict[tuple[str, str], da.Solution]) -> None:
    """Rows: s' of the pendulum, the first column of its basis, s' of the top; left with, right without continuation."""
    with house_style():
        figure = new_figure(10.0, 8.0)
        axes = figure.subplots(3, 2, sharey="row")
        for column, case in enumerate(CASES):
            pendulum, top = solutions["pendulum", case], solutions["top", case]
            shown = (
                ("pendulum: s' [m/s]", pendulum.t, pendulum.minimal.s_dot, "s'"),
                ("pendulum: first column of the basis", pendulum.t, pendulum.minimal.basis[:, :, 0], "Q"),
                ("top: s' [m/s]", top.t, top.minimal.s_dot, "s'"),
            )
            for ax, (title, t, values, symbol) in zip(axes[:, column], shown, strict=True):
                for k in range(values.shape[1]):
                    ax.plot(t, values[:, k], label=f"{symbol}$_{k + 1}$")
                ax.set(title=f"{title}, {case}", xlabel="t [s]")
        for ax in axes[:, 1]:
            ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))
        figure.suptitle("The same motion, two bases of its velocities")
        save_figure(figure, "minimal_continuity.png")


if __name__ == "__main__":
    results = run()
    check(results)
    draw(results)

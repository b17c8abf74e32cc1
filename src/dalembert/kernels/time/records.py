"""What an integration is told and what it keeps: one record, which all parts of it share. Without Numba, so that commands start
at once; steps.py has what compiled code makes of it.

A method keeps its rates in the rows of `stages`: row 0 is f at the old point, row `last` f at the projected new point (first
same as last).
"""

from dalembert.kernels.base.layout import INT, NUM, Array, Record, integers, numbers

VECTOR, MATRIX, WHOLE = Array(1), Array(2), Array(2, "int64")
# an integration: what it is told, what it keeps from one call to the next (`t` to `rounded`), arrays
STEPS_RECORD = Record(
    "Steps",
    # addresses of what fills the seams; at_inside : 0 where nothing happens within steps
    **integers("at_attempt at_inside at_sweeps at_newton at_filtered at_slopes"),
    # it ends at t_end, or with so many steps accepted in all
    t_end=NUM,
    until=INT,
    # row of `stages` with f at the new point, error law (0 none, 1 plain, 2 with a companion), extra stages of the interpolant,
    # exponent of the controller, components in error norms, runs side by side that these belong to in turns, save every step,
    # what to do at stages, adaptive, with the trend of errors, solver of implicit stages or which method, of how many steps one
    # is kept for the checks of the report where other times are saved (0 none), leave the interpolant of every step in `dense`;
    # after how many steps that a formulation makes by itself these ask for `slopes`
    **integers("last law extra order n lanes every visit control trend solver watch keep_dense slopes_after"),
    # rows of `stages`: rates at both ends for the interpolant; free for rates between
    **integers("left right free"),
    # start : of the run;  look : distance at which forces of time are looked at within a step;  step : the fixed one
    # gap : widest between stages that the error estimate sees, in parts of a step
    **numbers("rtol atol safety factor_min factor_max h_max h_min stage_tolerance step start look gap"),
    # h : of the next step, or of the one at hand;  growth : most that the next step may grow by;  rounded_error : largest error
    # of a step, in tolerances, that rounding of rates explains
    **numbers("t h growth h_done t_old h_smallest h_largest rounded_error"),
    # of implicit stages: step size of the last attempt and of the factors, contraction, error of the last step, largest row of
    # the Jacobian
    **numbers("h_stages h_factored contraction err_before stiffness"),
    # of the step at hand: where it ends, size that was asked for, error in tolerances, what the projection moved, |dq| before
    # it, factor of the next step
    **numbers("t_new asked err moved change factor"),
    # next : of save_t;  refused : steps rejected for another reason than their error
    **integers("accepted rejected saved next have_rate refused"),
    # of implicit stages: who solves them, steps since functional iteration was tried, what the last k_i are, what the Jacobian
    # is, iterations of its first solution and those that later ones took beyond that, and counts
    **integers("solved_by retry predicted jacobian_is fresh beyond solves iterations iterations_max newton jacobians"),
    # breakpoints passed; steps whose error rounding of rates explains
    **integers("stop rounded"),
    x=VECTOR, y=VECTOR, stages=MATRIX, dense=MATRIX,  # y : the new point, after the step the old one
    a=MATRIX, c=VECTOR, e=MATRIX, d=MATRIX,  # as in `Tableau`; e of own steps: substeps, as parts of h
    save_t=VECTOR, out_t=VECTOR, out_x=MATRIX,
    # of implicit stages: derivatives of u' (nu + 1, nqu), the last row is where; factors (pairs, 2, nu + 1, nqu), real and
    # imaginary parts, the last row is a vector over q and u; pivots (pairs, nu); eigenvalues and eigenvectors of a, see
    # `spectrum`; blocks of q' = N(q) u, see `Run`; (7, s nu) of sweeps
    jacobian=MATRIX, factors=Array(4), pivots=WHOLE, spectrum=Array(2, "complex128"), velocity_map=WHOLE,
    memory=MATRIX,
    # of functions of force elements: what they were given and gave at stages, with the time, then rows for work; `nodes` of
    # integrators/tableau.py; `kept` of compilation/callbacks.py. Empty where looks take evaluations
    calls=MATRIX, nodes=MATRIX, functions=WHOLE,
    # of slopes: the table that names kernels for numbers with derivatives, columns wanted, work (W, x, x', t), what comes out
    slopes_I=Array(1, "int64"), slopes_of=Array(1, "int64"), slopes_W=VECTOR, slopes_work=VECTOR, slopes_out=MATRIX,
)  # fmt: skip
# many runs, each in its own rows;  kept : words of their steps;  F, W_0 : one row or one for each, W_0 as good as new
RUNS_RECORD = Record(
    "Runs",
    x=MATRIX, start=MATRIX, kept=WHOLE, out_x=Array(3), status=Array(1, "int64"), counters=MATRIX, F=MATRIX, W_0=MATRIX,
    spare=MATRIX, stop=Array(1, "int64"), current=Array(1, "int64"), max_steps=INT,
)  # fmt: skip
KEPT = STEPS_RECORD.span("t", "rounded")
KEPT_FROM, N_KEPT = KEPT.start, KEPT.stop - KEPT.start

"""Numbers with a name: header entries of the packed arrays, kinds, modes, statuses.

What I, F and W hold, and what their records are made of, is said in layout.py, through which kernels read them. A header entry
of `I` holds a number or the offset of a section; a new one goes among its like.
"""

# header of I
(
    # sizes
    NB, NQ, NU, NX, NANGLE, NPRIM, NFORCE, M, M_ALL, NINC, NNODE, NPAIR, NHUB, NHUB_INC, NMOTION, NCOL, F_SIZE, W_SIZE, K_SIZE,
    # offsets of sections in I, in F, in W
    BODY_I, PRIM_I, FORCE_I, ANGLE_I, INC_I, PAIR_I, HUB_I, HUB_INC_I, TAPE_I, NODE_I, MOTION_I,
    BODY_F, PRIM_F, FORCE_F, ANGLE_F, MASS_F, METRIC_F, PLANE_F,
    W_BODY, W_H, W_ACC, W_G, W_GT, W_ZETA, W_A, W_Y, W_K, W_RHS, W_ANGLE, W_STAT, W_CALL, W_CG, W_DIAG, W_WORK, W_DENSE,
    W_MOTION,
    W_FORCE,  # coordinate, rate and effort of every record of force elements
    W_BEFORE,  # rows at the start of a step, 0 where they are too many to be kept (pivots.py)
    # settings of a run
    ENERGY, MAX_NEWTON, NINVARIANT, INVARIANT_F,
    REFINE,  # sweeps that take rounding out of accelerations and multipliers
    UNREAD,  # 1 where no force element reads an angle of a joint
    # traced primitives, those of velocities among them; where rows of d(A u + g_t)/dq go; what the code of each reads, bodies
    # that it acts on, measures of relations; how many bodies and measures in all; size of what any of them reads and leaves
    NTRACED, NVELOCITY, W_BEND, CODE_I, MEMBER_I, PART_I, PART_F, NMEMBER, NPART, CALL_SIZE,
    # relative coordinates (tree.py): rows of the cut joints and their bodies; B, B' and M* (frame_matrices.py); links as
    # quaternions, sizes of the mechanism's own state, what corrects invariants (tree_invariants.py)
    W_U_DOT, TREE_I, TREE_F, ORDER_I, W_TREE, W_COL, CUT_I, NSIDE, SIDE_I, W_FRAME, LINK_F, NQ_BODY, NU_BODY, W_CORRECT,
    # velocity-level formulations: how positions are stabilised, 1 when the reaction at its start acts during a step, offset in
    # F of stiffness and damping per row (0 = rigid), where the state's memory begins
    STABILISE, PREDICT, SOFT_F, MEMORY_X,
    MINIMAL_I,  # what minimal coordinates need (formulations/minimal.py)
    # Lagrangian systems (compilation/lagrangian.py): holonomic rows come first among the M rows; RANK of all of them; sections
    # of W: mass matrix, its root, bias of the rows, external power with T and U, one invariant (value, gradient in q and in v,
    # gradient of A v + b), rate of A; 1 when projections weigh with the mass matrix
    M_HOLONOMIC, RANK, W_MASS, W_ROOT, W_BIAS, W_SCALARS, W_INVARIANT, W_TURN, MASS_METRIC,
    # breakpoints of motions, increasing, and where they lie in F; behind them (time, period) of those that come again
    NSTOP, STOP_F, NAGAIN,
    # redundant rows (choice.py): number of groups, their table, rows that are idle at any time, section of W; section of W that
    # watches for singular configurations (pivots.py)
    NCHOICE, CHOICE_I, NIDLE, W_CHOICE, W_PIVOT,
    # addresses of what fills the seams (slots.py); records of force elements that AT_LAWS evaluates (laws.py)
    AT_EQUATIONS, AT_PROJECTION, AT_CORRECTION, AT_FORCES, AT_CALLBACK, AT_LAWS, NLAW,
    # for numbers with derivatives: from where I, F and W begin to where those without derivatives do, in whole numbers or
    # doubles; 1 where the equations are solved there already
    VALUES_I, VALUES_F, VALUES_W, SOLVED,
    # variational steps (lagrangian/discrete.py): inputs pi, lam, h; discrete equations; momentum; derivatives for the flow on
    # the constraints; its closed form; Newton's system, its unknowns; stages of the flow. FLOW : how q_k+1 meets constraints.
    # Of bodies: number of quadrature nodes; at FLOW_F nodes and weights of the quadrature, of the mean of nonholonomic rows,
    # and per row 1 where it is nonholonomic
    W_PI, W_DISCRETE, W_MOMENTUM, W_FLOW, W_CURVE, W_SYSTEM, UNKNOWNS, W_STAGES, FLOW, FLOW_F, NODES,
    HEADER_I,  # how many
) = range(132)  # fmt: skip
# header of F; Baumgarte's stabilisation: 2 alpha g' + beta^2 g at acceleration level, g / tau at velocity level (tau in steps);
# AUGMENT : weight of A^T A added to a mass matrix that is singular by itself
(
    GRAVITY_X, _, _, TOL_POSITION, TOL_VELOCITY, TOL_INVARIANT, ENERGY_0, EPS_PIVOT, ENERGY_SCALE, ALPHA, BETA, TAU, AUGMENT,
    HEADER_F,
) = range(14)  # fmt: skip

# values of STABILISE
NO_STABILISATION, BAUMGARTE, PROJECTION = range(3)
# values of FLOW: no constraints, holonomic rows at q_k+1, flow of a tangent field, its closed form
NO_FLOW, HOLONOMIC_END, TANGENT_FLOW, CLOSED_FORM = range(4)
# kinds of bodies
RIGID, POINT, PLANAR, GROUND = 0, 1, 2, 3

# kinds of primitives; traced ones (U, V) come last
C, SO, O, D, A, U, V = 0, 1, 2, 3, 4, 5, 6
FIRST_ROWS, BEND_CODE, TURN_CODE = 2000, 1000, 3000  # numbers of their code in the callback; what is added for BENDS, TURNS

# motions, anywhere in I: kind, offset of their numbers in F, how many; FUNCTION: kind, number of its code in the callback;
# COMPOSED, a sum of products: kind, number of terms, of each term how many factors and where in I they are
CONSTANT, POLYNOMIAL, HARMONIC, SMOOTH_STEP, TABLE, PERIODIC_TABLE, FUNCTION, COMPOSED = range(8)
FIRST_MOTION = 4000  # numbers of functions of time in the callback
FIRST_INVARIANT = 1000  # numbers of invariants there; that of the energy is one less

# how a link of a tree turns; WORLD: on a ball joint, quaternion and angular velocity against the world, not the parent
NO_TURN, ONE_ANGLE, TWO_ANGLES, QUATERNION, WORLD = range(5)

# status of a kernel
OK, NEWTON_FAILED, NON_FINITE, CALLBACK_FAILED, STEP_TOO_SMALL, TOO_MANY_STEPS, MOVED, STAGES_FAILED = range(8)
WANTS_SLOPES = 8  # of an attempt that is to be repeated with the seam `slopes` of time/steps.py filled
NEAR_SINGULAR = 20
NOT_RUN = -1  # of one among many runs

# what a slot is asked to do
RATE, PROJECT, OUTPUT, STEP, CORRECT = range(5)
WRENCH, CONSERVATIVE, POTENTIAL, MOTIONS, POSITIONS, BENDS, CHOOSE, TURNS = range(8)
# what to do at a point of a step, as bits
VISIT_PROJECT, VISIT_KEEP, VISIT_RATE, VISIT_ALL = 1, 2, 4, 7

# parts of the generated code of a Lagrangian system, see lagrangian/equations.py; invariants follow as in callbacks.py
ROWS_PART, MOTION_PART, ENERGY_PART, DISCRETE_PART, MOMENTUM_PART, FLOW_PART, CURVE_PART, TURN_PART = range(8)

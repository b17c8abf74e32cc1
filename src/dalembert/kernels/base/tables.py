"""Where things lie in the three packed arrays that every kernel receives.

`I` (int64) and `F` (float64) hold the mechanism and the settings of a run; `W` (float64) is one thread's workspace. A header
entry of `I` holds a number or the offset of a section; the constants below name header entries and columns of sections.
Body 0 is the ground. Rows 0..M-1 of the constraints enter the solve; rows M..M_ALL-1 vanish in the plane, only monitored.
"""

# header of I: sizes
(NB, NQ, NU, NX, NANGLE, NPRIM, NFORCE, M, M_ALL, NINC, NNODE) = range(11)
# header of I: offsets of sections in I
(BODY_I, PRIM_I, FORCE_I, ANGLE_I, INC_I, PAIR_I, HUB_I, HUB_INC_I, TAPE_I) = range(11, 20)
# header of I: offsets of sections in F
(BODY_F, PRIM_F, FORCE_F, ANGLE_F, MASS_F, METRIC_F, PLANE_F) = range(20, 27)
# header of I: offsets of sections in W
(W_BODY, W_H, W_ACC, W_G, W_GT, W_ZETA, W_A, W_Y, W_K, W_RHS, W_LAM, W_ANGLE, W_X, W_STAT, W_CALL, W_CG) = range(27, 43)
# header of I: settings of a run
(ENERGY, MAX_NEWTON) = range(43, 45)
# header of I: more sizes and offsets
(
    NPAIR,
    NHUB,
    NHUB_INC,
    W_SIZE,
    K_SIZE,
    NODE_I,
    W_DIAG,
    W_WORK,
    W_DENSE,
    NINVARIANT,
    INVARIANT_F,
    NMOTION,
    MOTION_I,
    W_MOTION,
) = range(49, 63)
# header of I: relative coordinates (tree.py)
(W_U_DOT, TREE_I, TREE_F, ORDER_I, NCOL, W_TREE, W_COL, CUT_I) = range(63, 71)
# header of I: velocity-level formulations: how positions are stabilised, 1 when the reaction at its start acts during a step,
# offset in F of stiffness and damping per row (0 = rigid), where the state's memory begins
(STABILISE, PREDICT, SOFT_F, MEMORY_X) = range(72, 76)
# header of I: offset of what minimal coordinates need (formulations/minimal.py)
MINIMAL_I = 79
# header of I: Lagrangian systems (lagrangian/packing.py): holonomic rows come first among the M rows; RANK of all of them;
# sections of W: mass matrix, its root, bias of the rows, external power with T and U, one invariant (value, gradient in q and
# in v, gradient of A v + b); 1 when projections weigh with the mass matrix; rate of A
(M_HOLONOMIC, RANK, W_MASS, W_ROOT, W_BIAS, W_SCALARS, W_INVARIANT, MASS_METRIC) = range(80, 88)
W_TURN = 118
# header of I: B, B' and M* (frame_matrices.py); links as quaternions, sizes of the mechanism's own state, what corrects
# invariants (tree_invariants.py)
(W_FRAME, LINK_F, NQ_BODY, NU_BODY, W_CORRECT) = range(88, 93)
# header of I: breakpoints of motions, increasing, and where they lie in F; behind them (time, period) of those that come again
(NSTOP, STOP_F, NAGAIN) = (98, 99, 125)
# header of I: traced primitives, those of velocities among them; where rows of d(A u + g_t)/dq go
(NTRACED, NVELOCITY, W_BEND) = range(93, 96)
# header of I: redundant rows (choice.py): number of groups, their table, rows that are idle at any time, section of W; section
# of W that watches for singular configurations (watch_rows.py)
(NCHOICE, CHOICE_I, NIDLE, W_CHOICE) = range(100, 104)
(H_REFERENCE, H_FIRST, H_COUNT, H_IDLE) = (0, 2, 4, 5)  # in W_CHOICE
W_PIVOT = 97
# W_PIVOT: 1 once something is known; row of the smallest pivot, number of the choice, that pivot and the time of the last step;
# smallest pivot of the run and its time; steps that may have led across a singular configuration; 1 where v_i had turned over
# when rows were chosen anew since; where the last of these steps were
(V_KNOWN, V_ROW, V_CHOICE, V_LAST, V_TIME, V_LEAST, V_LEAST_TIME, V_CROSSED, V_TURNED, V_WHERE) = range(10)
V_PLACES = 16
V_GUARD = V_WHERE + 2 * V_PLACES
# header of I: addresses of what fills the seams (slots.py)
(AT_EQUATIONS, AT_PROJECTION, AT_CORRECTION, AT_FORCES, AT_CALLBACK) = (114, 115, 116, 117, 119)
REFINE = 120  # sweeps that take rounding out of accelerations and multipliers
W_FORCE = 122  # header of I: section of W: coordinate, rate and effort of every record of force elements
(NLAW, AT_LAWS) = (123, 124)  # header of I: records of force elements of laws.py, address of what evaluates them
HEADER_I = 126
# values of STABILISE
NO_STABILISATION, BAUMGARTE, PROJECTION = range(3)
# header of I: variational steps (lagrangian/discrete.py): inputs pi, lam, h; discrete equations; momentum; derivatives for the
# constraint flow; its closed form; Newton's system; stages of the flow. FLOW : how q_k+1 meets the constraints
(W_PI, W_DISCRETE, W_MOMENTUM, W_FLOW, W_CURVE, W_SYSTEM, W_STAGES, FLOW, FLOW_F) = range(104, 113)
# values of FLOW: no constraints, holonomic rows at q_k+1, flow of a tangent field, its closed form
NO_FLOW, HOLONOMIC_END, TANGENT_FLOW, CLOSED_FORM = range(4)
# header of I: variational steps of bodies: number of quadrature nodes. At FLOW_F nodes and weights of the quadrature, of the
# mean of nonholonomic rows, and per row 1 where it is nonholonomic
NODES = 113
UNKNOWNS = 121  # of Newton's method in a variational step

# header of F
(GRAVITY_X, GRAVITY_Y, GRAVITY_Z, TOL_POSITION, TOL_VELOCITY, TOL_INVARIANT, ENERGY_0, EPS_PIVOT, ENERGY_SCALE) = range(9)
# Baumgarte's stabilisation: 2 alpha g' + beta^2 g at acceleration level, g / tau at velocity level (tau in steps)
(ALPHA, BETA, TAU) = (13, 14, 15)
AUGMENT = 12  # weight of A^T A added to a mass matrix that is singular by itself
HEADER_F = 16

# BODY_I columns                                     BODY_F columns (planar: origin, rotation at beta = 0, normal in body axes)
(B_KIND, B_Q, B_U) = range(3)
BODY_I_W = 3
(BF_ORIGIN, BF_R0, BF_NORMAL) = (0, 3, 12)
BODY_F_W = 15
RIGID, POINT, PLANAR, GROUND = 0, 1, 2, 3

# PLANE_F: e1, e2, normal (world)

# MASS_F and METRIC_F columns: weight m, J (sym3), 1/m, J^-1 (sym3)
(MM, MJ, MM_INV, MJ_INV) = (0, 1, 7, 8)
METRIC_W = 14

# W_BODY columns: pose and twist of a body
(S_R, S_ROT, S_V, S_W) = (0, 3, 12, 15)
STATE_W = 18

# PRIM_I columns: kind, bodies, motion (entry of W_MOTION, 0 = none), three rows, their offsets in W_A for bodies i and j
(P_KIND, P_BI, P_BJ, P_MOTION, P_ROW, P_AI, P_AJ) = (0, 1, 2, 3, 4, 7, 10)
PRIM_I_W = 14
P_COUNTER = 5  # of A, which has one row: the counter of the angle that it drives
# PRIM_F columns
(PF_PI, PF_PJ, PF_AI, PF_AJ, PF_NI, PF_OFFSET, PF_SCALE) = (0, 3, 6, 9, 12, 15, 16)
PRIM_F_W = 17
C, SO, O, D, A, U, V = 0, 1, 2, 3, 4, 5, 6
# of traced primitives (U, V), which come last: number of their code, number of rows; size of what their code reads and leaves
(P_CALL, P_NROWS) = (3, 13)
TRACED_SIZE = 2 * STATE_W + PRIM_F_W + 81
FIRST_ROWS, BEND_CODE = 2000, 1000  # numbers of their code in the callback; what is added for BENDS

# FORCE_I columns: kind (mechanics/forces.py, laws.py), bodies, motion, angle counter, user function, frame (0 world, 1 body);
# offset in F of more numbers and how many a user function is given; records of the element, on its first one; tables of the
# length and of its rate
(F_KIND, F_BI, F_BJ, F_MOTION, F_ANGLE, F_CALL, F_FRAME, F_NUMBERS, F_COUNT, F_MEMBERS, F_CURVE, F_DAMPER) = range(12)
FORCE_I_W = 12

# ANGLE_I columns: bodies, index of its counter in the state;  ANGLE_F: x_i, y_i, z_i, x_j
(G_BI, G_BJ, G_X) = range(3)
ANGLE_I_W = 3
ANGLE_F_W = 12

# motions, anywhere in I: kind, offset of their numbers in F, how many; FUNCTION: kind, number of its code in the callback;
# COMPOSED, a sum of products: kind, number of terms, of each term how many factors and where in I they are
CONSTANT, POLYNOMIAL, HARMONIC, SMOOTH_STEP, TABLE, PERIODIC_TABLE, FUNCTION, COMPOSED = range(8)
FIRST_MOTION = 4000  # numbers of functions of time in the callback

# INC_I columns (incidence = one node of constraint rows touching one body): body, rows, offset in W_A, first row, hub
(E_BODY, E_N, E_A, E_ROW, E_HUB) = range(5)
INC_I_W = 5
# PAIR_I columns: incidences e1, e2 of one body that is eliminated at once, target offset in W_K, 1 when diagonal,
# 1 when both incidences are one coincidence each, whose translations are unit vectors
(Q_E1, Q_E2, Q_K, Q_DIAGONAL, Q_UNIT) = range(5)
PAIR_I_W = 5
# HUB_I columns: body kept as a node, offset of its diagonal block in W_K, first entry in W_RHS
(U_BODY, U_K, U_X) = range(3)
HUB_I_W = 3
# HUB_INC_I columns: incidence, offset of the hub-joint block in W_K, 1 when stored with the hub's rows first
(V_E, V_K, V_HUB_ROWS) = range(3)
HUB_INC_I_W = 3

# counters in W_STAT
(
    N_RHS,
    N_PROJECT,
    N_NEWTON,
    N_NEWTON_MAX,
    N_FACTOR,
    N_RESIDUAL,
    N_DG,
    N_D2G,
    N_DINV,
    N_DEPENDENT,
    WORST_ROW,
    WORST_VALUE,
    N_CG,
    POWER,
    KINETIC,
    POTENTIAL_ENERGY,
    INSIDE,  # 1 while a point between two steps is projected to be saved
    GAP,  # largest |coordinate - f(t)| of a driver after a step, its primitive, when
    GAP_PRIMITIVE,
    GAP_TIME,
    LEAP,  # largest projection of coordinates at the end of a step over the step's own change, its size, when
    LEAP_SIZE,
    LEAP_TIME,
) = range(23)
N_STAT = 23

# how a link of a tree turns
NO_TURN, ONE_ANGLE, TWO_ANGLES, QUATERNION = range(4)

# MINIMAL_I columns: degrees of freedom, basis (0 QR, 1 SVD, 2 eigenvalues), continuation (0 none, order of the exponential, -1
# integrated), 1 when singular configurations are passed, number of velocities in use, offset of all weights in F; in the state,
# first of s, s', basis, what carries it on, guard, marks; in W, first of columns, small matrices, dense factorisation,
# states of bridge.py; then the velocities in use
(
    Z_DOF,
    Z_KIND,
    Z_ORDER,
    Z_PASS,
    Z_NU,
    Z_WEIGHT,
    Z_S,
    Z_S_DOT,
    Z_BASIS,
    Z_CARRY,
    Z_GUARD,
    Z_MARKS,
    Z_COLUMNS,
    Z_SMALL,
    Z_DENSE,
    Z_BRIDGE,
    Z_LIST,
) = range(17)
# marks of minimal coordinates: start of the step, its smallest pivot and the row of that, largest jump of s', restarts of
# the basis, singular configurations passed, number of the choice of rows, and for the last eight passed where to look for them
(Y_TIME, Y_PIVOT, Y_ROW, Y_JUMP, Y_RESTARTS, Y_PASSED, Y_CHOICE, Y_WHERE) = range(8)
N_PASSAGES = 8
N_MARKS = Y_WHERE + 2 * N_PASSAGES

# status of a kernel
OK, NEWTON_FAILED, NON_FINITE, CALLBACK_FAILED, STEP_TOO_SMALL, TOO_MANY_STEPS, MOVED, STAGES_FAILED = range(8)
NEAR_SINGULAR = 20
NOT_RUN = -1  # of one among many runs

# what a slot is asked to do
RATE, PROJECT, OUTPUT, STEP = range(4)
WRENCH, CONSERVATIVE, POTENTIAL, MOTIONS, POSITIONS, BENDS, CHOOSE = range(7)

# parts of the generated code of a Lagrangian system, see lagrangian/equations.py; invariants follow as in callbacks.py
ROWS_PART, MOTION_PART, ENERGY_PART, DISCRETE_PART, MOMENTUM_PART, FLOW_PART, CURVE_PART, TURN_PART = range(8)

"""What others call arguments and elements, and where what they look for is."""

OF_METHODS = {"rtol": "DOP853(rtol=1e-11)", "atol": "DOP853(atol=1e-11)", "step": "RungeKutta4(step=1e-3)"}

CALLED = {  # joints, motions, what springs have, instants, by other names
    **dict.fromkeys(("sine", "sin", "cosine", "sinusoid", "oscillation"), ("harmonic",)),
    **dict.fromkeys(("hinge", "pin", "rotary", "rotational", "turning"), ("revolute",)),
    **dict.fromkeys(("slider", "slide", "sliding", "linear"), ("prismatic",)),
    **dict.fromkeys(("ball", "socket", "ball_and_socket"), ("spherical",)),
    **dict.fromkeys(("weld", "welded", "rigid"), ("fixed",)),
    **dict.fromkeys(("cardan", "hooke"), ("universal",)),
    **dict.fromkeys(("k", "spring_rate", "spring_constant"), ("stiffness",)),
    **dict.fromkeys(("c", "damper"), ("damping",)),
    **dict.fromkeys(("rest", "rest_length", "free_length", "natural_length", "length0", "l0", "l_0"), ("length", "reference")),
    **dict.fromkeys(("at", "time"), ("t", "t_end")),
    **dict.fromkeys(("duration", "seconds", "until", "end", "t_stop", "t_final", "t_max", "tf"), ("t_end",)),
    **dict.fromkeys(("weight", "m"), ("mass",)),
    **dict.fromkeys(("path", "paths", "trajectory", "track"), ("trajectories",)),
    **dict.fromkeys(("start", "state", "initial_state", "start_state"), ("initial", "at")),
    **dict.fromkeys(("angle", "angle0", "rest_angle", "free_angle", "length"), ("reference",)),
}

ELSEWHERE = {  # arguments that functions do not have
    "simulate": dict.fromkeys(
        ("rate", "rates", "velocity", "velocities"),
        'joints have rates: model.replace("A", coordinate=rest.coordinate("A"), rate=0.1), run without initial=; or push: '
        "add_motor with a short SmoothStep up and one down",
    ),
    **dict.fromkeys(
        ("add_spherical", "add_universal", "add_planar_joint", "add_fixed"),
        dict.fromkeys(("rate", "coordinate", "speed"), "give velocity= or angular_velocity= to a body (add_body, add_link)"),
    ),
    "compare": {"error": "ask the comparison: compare(...).advice(1e-6) says what is fastest for an error"},
    "Harmonic": dict.fromkeys(
        ("frequency", "freq", "f"), "give omega, 2 pi times the frequency [rad/s]: omega=2 * np.pi * 0.5"
    ),
}
NEEDED = {
    ("add_spring_damper", "second"): "give two bodies; at a joint it is add_joint_spring_damper(name, joint, ...)",
    ("add_universal", "axes"): "give two that are perpendicular, one fixed in each body: axes=((1, 0, 0), (0, 1, 0))",
}

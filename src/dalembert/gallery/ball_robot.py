"""A mobile robot on three ball wheels, each turned by a roller, as [Variational, 8] names it for compound bodies."""

from __future__ import annotations

from math import cos, pi, sin
from typing import Any

import numpy as np
import numpy.typing as npt

from dalembert.model.model import Model
from dalembert.model.shapes import cylinder, disc, sphere
from dalembert.model.validation import vector

UP = np.array([0.0, 0.0, 1.0])
BALL_RADIUS, ROLLER_RADIUS, ARM = 0.1, 0.02, 0.25  # [m]; ARM from the robot's centre to those of the balls


def roller_turns_ball(roller: Any, ball: Any) -> Any:
    """The roller, whose axis is its x, does not slip on the ball around its own axis; along it the ball slips freely."""
    aside = np.array([-roller.R[1, 0], roller.R[0, 0], 0.0])  # from the ball to the roller, level as the axis is
    contact = ball.r + BALL_RADIUS * aside
    return roller.velocity_at(contact)[2] - ball.velocity_at(contact)[2]


def ball_robot(velocity: npt.ArrayLike = (0.5, 0.0, 0.0), spin: float = 1.0, torque: float = 0.02) -> Model:
    """Robot on three ball wheels [Variational, 8]: balls in ball joints of a platform, a motor-driven roller on each; z is up.

    Bodies "platform", "ball 1".."ball 3", "roller 1".."roller 3"; joints "socket k" spherical, "axle k" revolute,
    "floor k" rolling, "contact k" between roller and ball; motors "motor k". The balls are 0.25 m from the centre, 120
    degrees apart; roller axes point outwards at the height of the balls' centres, so that motor k drives the robot around.
    Contacts hold both ways: the robot stays level. Six degrees of freedom: the platform's three, each ball's spin about z.

    velocity : of the platform, level [m/s];  spin : of the platform about z [rad/s];  torque : of each motor [N m]

    Deviation: the source names a robot with three rollers per ball and gives no data; one roller is what drives a ball.
    """
    v = vector("ball_robot", "velocity", velocity)
    model = Model((0.0, 0.0, -9.81), name="robot on three ball wheels")
    w = spin * UP
    plate = disc(5.0, 0.3).body()
    plate["shape"]["clear"] = True  # or it hides what it stands on
    model.add_body("platform", **plate, position=(0, 0, 2 * BALL_RADIUS), velocity=v, angular_velocity=w)
    for k, angle in (("1", 0.0), ("2", 2 * pi / 3), ("3", 4 * pi / 3)):
        outward, aside = np.array([cos(angle), sin(angle), 0.0]), np.array([-sin(angle), cos(angle), 0.0])
        centre = ARM * outward + BALL_RADIUS * UP
        axle = centre + (BALL_RADIUS + ROLLER_RADIUS) * aside
        v_ball = v + np.cross(w, centre)
        model.add_body(
            f"ball {k}",
            **sphere(0.8, BALL_RADIUS).body(),
            position=centre,
            velocity=v_ball,
            angular_velocity=w + np.cross(UP, v_ball) / BALL_RADIUS,
        )
        model.add_body(
            f"roller {k}",
            **cylinder(1.0, ROLLER_RADIUS, 0.04, axis="x").body(),
            position=axle,
            rotation=np.column_stack([outward, aside, UP]),
            velocity=v + np.cross(w, axle),
            angular_velocity=w + (v_ball @ aside) / ROLLER_RADIUS * outward,
        )
        model.add_spherical(f"socket {k}", "platform", f"ball {k}", point=centre)
        model.add_revolute(f"axle {k}", "platform", f"roller {k}", point=axle, axis=outward)
        model.add_rolling_sphere(f"floor {k}", f"ball {k}", radius=BALL_RADIUS)
        model.add_velocity_constraint(f"contact {k}", roller_turns_ball, (f"roller {k}", f"ball {k}"))
        model.add_motor(f"motor {k}", f"axle {k}", torque)
    return model

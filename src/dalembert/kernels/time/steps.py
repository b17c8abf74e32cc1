"""The record that all parts of an integration share (records.py) in compiled code, and its seams, by addresses in it.

attempt(steps, system)    a step of the method, from x to y; status
inside(steps, system)     what is done within a step before it is accepted, see saving.py; OK, AGAIN, or a failure
sweeps, newton, filtered  of implicit stages: both ways to solve them, the error of stiff ones; those that a run needs
slopes(steps, system)     `jacobian` <- derivatives of u', exact, see slopes.py; 0 while nobody has asked, -1 for never
"""

from numba import types

from dalembert.kernels.base.bundles import BundleType, word
from dalembert.kernels.base.slots import seam
from dalembert.kernels.base.view_types import SYSTEM
from dalembert.kernels.time.records import RUNS_RECORD, STEPS_RECORD

STEPS, RUNS = BundleType(STEPS_RECORD), BundleType(RUNS_RECORD)
SIGNATURE = types.int64(STEPS, SYSTEM)


def _seam(name):
    """At an address in the bundle."""
    label = f"at_{name}"
    o = STEPS_RECORD.fields[label][1]

    def place(builder, steps, system):
        return builder.load(word(builder, steps, o), align=8)

    return seam(name, lambda system: SIGNATURE, lambda steps, system: getattr(steps, label), place)


attempt, inside, sweeps, newton, filtered, slopes = map(_seam, ("attempt", "inside", "sweeps", "newton", "filtered", "slopes"))

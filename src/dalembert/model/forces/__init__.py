"""Force elements, one file per family: data, verb, and what the rest of the program asks of each (`elements.Force`).

To add one, write it into its family's file, and its law into kernels/mechanics/forces.py or laws.py.
"""

from dalembert.model.forces.between import BetweenVerbs
from dalembert.model.forces.loads import LoadVerbs
from dalembert.model.forces.on_joints import JointForceVerbs
from dalembert.model.forces.springs import SpringVerbs


class ForceVerbs(LoadVerbs, SpringVerbs, JointForceVerbs, BetweenVerbs):
    """The verbs of `Model` that add forces, torques, spring-dampers, bushings, motors, laws."""

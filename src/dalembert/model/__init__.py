"""The description of a mechanism: bodies, joints, drivers, forces. Nothing here knows how it will be solved."""

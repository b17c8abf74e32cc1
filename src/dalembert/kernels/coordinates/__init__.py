"""Coordinates of bodies, of trees and of Lagrangian systems: states, recursions, the solve."""

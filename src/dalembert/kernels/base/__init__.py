"""What all kernels are written with: decorators, seams, what lies where, small and dense algebra, lanes, derivatives."""

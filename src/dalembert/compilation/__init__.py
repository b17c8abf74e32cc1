"""From a model to the packed mechanism that kernels run on."""

"""Numbers that kernels and those who call them agree on; ``constants.pxd`` has them for Cython."""

LARGEST_SCORE = 2.0**1000  # exclusive: millions of scores below add up to a finite number
FAR = 1e9  # stands for infinity in messages
LARGE = 1e12  # of duals, in ties: a hundred times the largest score
MAX_COUNTED = 4  # values of a tally of beam search: none, one, two, or more before

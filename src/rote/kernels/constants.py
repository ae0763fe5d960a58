"""Numbers that kernels and those who call them agree on; ``constants.pxd`` has them for Cython."""

LARGEST_SCORE = 2.0**1000  # exclusive: millions of scores below add up to a finite number
FAR = 1e9  # stands for infinity in messages
WIDE = 16384.0  # times the loss of the best output: what is lost beyond does not count
NEAR = 1e-7  # of the largest loss: losses below may be about as small as a tie
BESIDE = 65536.0  # times the largest loss: beyond, so many scores lose the digits of a tie
MOST = 2.0**27  # of losses of all slots that are used as they are: below FAR
LARGE = 1e12  # of duals, in ties: a hundred times the largest score
MAX_COUNTED = 4  # values of a tally of beam search: none, one, two, or more before

WORD = 0xFFFFFFFFFFFFFFFF  # all bits of a word
GOLDEN = 0x9E3779B97F4A7C15  # the steps of SplitMix64
FIRST_FACTOR = 0xBF58476D1CE4E5B9
SECOND_FACTOR = 0x94D049BB133111EB

LABEL, SUM, TABLE = 0, 1, 2  # parts of rules
NO_TERM, F1, JACCARD, WRONG = 0, 1, 2, 3  # kinds of terms that look at the whole output
STATES = 5  # as many values for each kind of item: a state, or a bucket of sizes

# The numbers of `constants.py` for Cython; tests compare them.

cdef extern from *:
    """
    #define LARGEST_SCORE 0x1p1000
    #define FAR 1e9
    #define LARGE 1e12
    #define MAX_COUNTED 4LL
    """
    const double LARGEST_SCORE
    const double FAR
    const double LARGE
    const long long MAX_COUNTED

# The numbers of `constants.py` for Cython; tests compare them.

cdef extern from *:
    """
    #define LARGEST_SCORE 0x1p1000
    #define FAR 1e9
    #define WIDE 16384.0
    #define NEAR 1e-7
    #define BESIDE 65536.0
    #define MOST 0x1p27
    #define LARGE 1e12
    #define MAX_COUNTED 4LL
    #define WORD 0xFFFFFFFFFFFFFFFFULL
    #define GOLDEN 0x9E3779B97F4A7C15ULL
    #define FIRST_FACTOR 0xBF58476D1CE4E5B9ULL
    #define SECOND_FACTOR 0x94D049BB133111EBULL
    """
    const double LARGEST_SCORE
    const double FAR
    const double WIDE
    const double NEAR
    const double BESIDE
    const double MOST
    const double LARGE
    const long long MAX_COUNTED
    const unsigned long long WORD
    const unsigned long long GOLDEN
    const unsigned long long FIRST_FACTOR
    const unsigned long long SECOND_FACTOR

cdef enum:
    LABEL = 0
    SUM = 1
    TABLE = 2
    NO_TERM = 0
    F1 = 1
    JACCARD = 2
    WRONG = 3
    STATES = 5

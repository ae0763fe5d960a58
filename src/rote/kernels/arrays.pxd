# The types that annotations of kernels name, as C has them: views of contiguous arrays, read only
# unless they begin with Out. `arrays.py` has the same names for Python.

cimport cython
from libc.math cimport INFINITY as inf

cdef extern from "Python.h":
    ctypedef struct PyObject
    ctypedef int (*initproc)(object, object, PyObject*) except -1
    ctypedef struct PyTypeObject:
        initproc tp_init

ctypedef long long Int
ctypedef bint Bool
ctypedef unsigned long long Word

ctypedef const double[::1] Floats
ctypedef const double[:, ::1] Floats2
ctypedef const double[:, :, ::1] Floats3
ctypedef const long long[::1] Ints
ctypedef const long long[:, ::1] Ints2
ctypedef const long long[:, :, ::1] Ints3
ctypedef const unsigned char[::1] Flags
ctypedef const unsigned char[:, ::1] Flags2
ctypedef const unsigned long long[::1] Words
ctypedef double[::1] OutFloats
ctypedef double[:, ::1] OutFloats2
ctypedef double[:, :, ::1] OutFloats3
ctypedef long long[::1] OutInts
ctypedef long long[:, ::1] OutInts2
ctypedef long long[:, :, ::1] OutInts3
ctypedef unsigned char[::1] OutFlags
ctypedef unsigned char[:, ::1] OutFlags2
ctypedef unsigned long long[::1] OutWords

ctypedef fused Number:
    double
    long long
    unsigned char

cdef OutFloats floats(Int n)
cdef OutFloats2 floats2(Int m, Int n)
cdef OutInts ints(Int n)
cdef OutInts2 ints2(Int m, Int n)
cdef OutFlags flags(Int n)
cdef OutFlags2 flags2(Int m, Int n)

@cython.final
cdef class Pool:
    cdef OutFloats numbers
    cdef Int taken
    cdef OutFloats take(self, Int n)

@cython.final
cdef class IntPool:
    cdef OutInts numbers
    cdef Int taken
    cdef OutInts take(self, Int n)


cdef inline void fill(Number[::1] to, Number value) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(to.shape[0]):
        to[k] = value


cdef inline void copy_into(Number[::1] to, const Number[::1] source) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(source.shape[0]):
        to[k] = source[k]


cdef inline void expect(str name, str what, Int wanted, Int got) except *:
    if got != wanted:
        raise ValueError(f"{name}: expected {wanted} {what}, got {got}")


cdef inline void expect_least(str name, str what, Int least, Int got) except *:
    if got < least:
        raise ValueError(f"{name}: expected at least {least} {what}, got {got}")


cdef class Bundle:
    pass


cdef int guarded_init(object bundle, object given, PyObject* named) except -1


cdef inline int call_init(size_t init, object bundle, object given, PyObject* named) except -1:
    return (<initproc>init)(bundle, given, named)


cdef inline size_t replace_init(object bundle, initproc init):
    before = <size_t>(<PyTypeObject*>bundle).tp_init
    (<PyTypeObject*>bundle).tp_init = init
    return before

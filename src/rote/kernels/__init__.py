"""Loops over arrays, compiled with numba. Knows nothing of spaces, rules or engines.

Arrays and scalars in, arrays out; nothing random, nothing printed. Where a kernel
takes a batch, the batch is its outermost loop.
"""

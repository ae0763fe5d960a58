"""Dual ascent, dual bounds, and the certificates that follow from them."""

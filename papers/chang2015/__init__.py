"""Structural learning with amortized inference (Chang et al. 2015)."""

"""Randomized greedy search for structured prediction (Ma et al. 2019)."""

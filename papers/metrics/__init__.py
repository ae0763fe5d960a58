"""Metrics that only the papers' studies use."""

"""Efficient decomposed learning (Samdani and Roth 2012)."""

"""Exact engines, and the questions about optima that they answer."""

"""Engines around another engine."""

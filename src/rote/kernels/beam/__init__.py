"""Beam search over partial outputs, propagation, and learning its heuristic."""

"""Presolve: labels that no answer needs are closed, and what is left is made smaller."""

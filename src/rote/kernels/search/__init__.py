"""Branch and bound: the search, and what happens at its nodes."""

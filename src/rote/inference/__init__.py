"""Finding the best output of a space under scores: engines, and what they return."""

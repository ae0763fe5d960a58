"""Data sets of the papers: one reader each, which accepts nothing but the whole set."""

"""Files to values: one reader per format; a damaged file is answered with its line and a reason."""

"""Names of features, followed through a tree of texts."""

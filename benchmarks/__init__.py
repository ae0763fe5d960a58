"""rote beside its peers: every number is a median, every claim a ratio."""

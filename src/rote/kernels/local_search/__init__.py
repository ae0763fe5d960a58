"""Hill climbing: the state of a labelling, its single changes, and random restarts."""

"""Linear scores of sparse features, working sets, and the updates of learners."""

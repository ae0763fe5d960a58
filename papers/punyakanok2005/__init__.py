"""Learning and inference over constrained output (Punyakanok et al. 2005)."""

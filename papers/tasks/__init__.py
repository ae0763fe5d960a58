"""Tasks that only the papers' studies use."""

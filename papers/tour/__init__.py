"""All methods on one set of sentences, in one table."""

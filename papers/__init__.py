"""Tables and figures of the papers, run again: each becomes a record with the paper's beside it."""

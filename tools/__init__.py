"""Programs for those who work on rote; nothing of the library depends on them."""

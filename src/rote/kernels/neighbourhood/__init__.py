"""The outputs around a given one: listed, as forests, and within ranges."""

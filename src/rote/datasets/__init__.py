"""Made-up data, for when there is no corpus at hand."""

from rote.datasets.english import english_sentences

__all__ = ["english_sentences"]

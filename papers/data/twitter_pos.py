"""Parts of speech in tweets (Gimpel et al. 2011, release 0.3).

A row is a token, a tab and one of 25 coarse tags; a blank line ends a tweet:

    @ada	@
    lol	!
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from papers.data.checks import check_counts, part_sizes
from papers.data.columns import read_tagged
from papers.data.examples import DataSet, Labels, TaggedExample, Tokens
from papers.data.folder import data_folder

NAME = "twitter_pos"
LABELS = tuple("!#$&,@ADEGLMNOPRSTUVXYZ^~")
COLUMNS = 2
FILES: Mapping[str, str] = MappingProxyType(
    {
        "train": "oct27.train",
        "dev": "oct27.dev",
        "test": "oct27.test",
        "daily547": "daily547.conll",
    }
)

COUNTS: Mapping[str, int] = MappingProxyType(
    {
        "train tweets": 1000,
        "train tokens": 14_619,
        "dev tweets": 327,
        "dev tokens": 4823,
        "test tweets": 500,
        "test tokens": 7152,
        "daily547 tweets": 547,
        "daily547 tokens": 7707,
    }
)


def load_twitter_pos(folder: str | Path | None = None) -> DataSet[Tokens, Labels]:
    """Tweets of (word,), and a tag for each word; the parts are train, dev, test and daily547."""
    folder = data_folder(NAME) if folder is None else Path(folder)
    parts = {part: read_tweets(folder / file) for part, file in FILES.items()}
    check_counts(NAME, folder, COUNTS, part_sizes(parts, "tweets", "tokens"))
    return DataSet(NAME, parts)


def read_tweets(path: str | Path) -> tuple[TaggedExample, ...]:
    """The tweets of a file in this format, plain or compressed."""
    return read_tagged(Path(path), COLUMNS, LABELS)

"""The reader of tagged tweets: the format, damage, and the real files."""

from __future__ import annotations

import os

import pytest

from papers.data.twitter_pos import FILES, LABELS, load_twitter_pos, read_tweets
from rote import DataError
from tests.io.damage import damaged, refused

SAMPLE = "@ada\t@\nlöl\t!\n\n#\t#\n\n"


@pytest.fixture
def sample(tmp_path):
    for file in FILES.values():
        (tmp_path / file).write_text(SAMPLE, encoding="utf-8")
    return tmp_path


def test_a_tweet_is_words_and_a_tag_each(sample):
    assert read_tweets(sample / "oct27.dev") == (
        ((("@ada",), ("löl",)), ("@", "!")),
        ((("#",),), ("#",)),
    )


@pytest.mark.parametrize(
    ("new", "reason"),
    [("löl !", "expected 2 columns, got 1"), ("löl\tNN", "got 'NN'"), ("\t!", "column 1 is empty")],
)
def test_a_damaged_file_is_answered_with_its_line_and_a_reason(sample, new, reason):
    path = sample / "oct27.train"
    path.write_text(damaged(SAMPLE, "löl\t!", new), encoding="utf-8")
    with refused(path, 2, reason):
        read_tweets(path)


def test_other_tweets_are_not_taken_for_the_real_ones(sample):
    with pytest.raises(DataError, match="daily547 tweets: 547 expected, 2 found"):
        load_twitter_pos(sample)
    (sample / "daily547.conll").unlink()
    with pytest.raises(DataError, match=r"daily547.conll: there is no such file"):
        load_twitter_pos(sample)


def test_the_real_tweets_have_their_parts_and_every_tag():
    if not os.environ.get("ROTE_DATA"):
        pytest.skip("the real tweets are read where ROTE_DATA names the folder of twitter_pos/")
    data = load_twitter_pos()
    sizes = {part: len(examples) for part, examples in data.parts.items()}
    assert sizes == {"train": 1000, "dev": 327, "test": 500, "daily547": 547}
    for part in ("train", "daily547"):
        assert {label for example in data[part] for label in example.y} == set(LABELS)
    assert all(len(e.x) == len(e.y) for examples in data.parts.values() for e in examples)
    assert data["train"][0].x[:3] == (("I",), ("predict",), ("I",))

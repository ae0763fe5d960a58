"""Variables and their labels, in columns."""

from rote.viz.listing import SHOWN, Entry, Listing
from rote.viz.shapes import Said, Tone
from rote.viz.terminal import plain_text
from rote.viz.text import width_of

ENTRIES = (Entry("x", "a"), Entry("long", "b", "✗1"), Entry("y", "c", gold="d"))


def text(listing, columns):
    return plain_text(listing.layout(columns)).rstrip().splitlines()


def test_entries_are_read_downwards_in_as_many_columns_as_fit():
    assert text(Listing(ENTRIES), 12) == ["x    a", "long b ✗1", "y    c ≠ d"]
    assert text(Listing(ENTRIES), 30) == ["x    a       y    c ≠ d", "long b ✗1"]


def test_what_is_to_blame_has_a_tone_of_its_own():
    said = [s for s in Listing(ENTRIES).layout(40).shapes if isinstance(s, Said)]
    assert [s.text for s in said if s.tone is Tone.BROKEN] == ["b ✗1"]


def test_long_names_are_cut_to_what_there_is():
    listing = Listing((Entry("name" * 20, "label" * 20),))
    assert max(map(width_of, text(listing, 12))) <= 12


def test_of_very_many_the_marked_ones_are_shown():
    entries = [Entry(f"v{k}", "a") for k in range(SHOWN + 50)]
    entries[-1] = Entry("last", "a", "✗1")
    shown = "\n".join(text(Listing(tuple(entries)), 40))
    assert "last a ✗1" in shown
    assert "… and 50 more variables" in shown
    assert f"v{SHOWN - 2} " in shown
    assert f"v{SHOWN - 1} " not in shown

"""The benchmark of what a tagger holds: it says of each bar whether it is met."""

from benchmarks import space_memory


def test_every_bar_has_its_line(capsys):
    space_memory.main(["--first", "1", "--last", "5", "--bio", "--no-memory", "--at-most", "100"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("lengths 1 to 5: first pass ")
    assert lines[1].startswith("SPACE MEMORY: met: second pass ")
    assert len(lines) == 2
    space_memory.main(["--last", "3", "--no-memory", "--at-most", "0"])
    assert "SPACE MEMORY: NOT MET: second pass" in capsys.readouterr().out


def test_few_lengths_take_little_memory():
    assert space_memory.megabytes_held(1, 5, bio=False) < space_memory.MAX_MEGABYTES

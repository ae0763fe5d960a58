"""What several commands print."""

import io

from rich.console import Console

from rote.cli.printing import progress_bar, show_pairs


def test_pairs_stand_below_each_other_in_two_columns():
    out = io.StringIO()
    show_pairs({"examples": 12, "features": "none"}, Console(file=out, width=40))
    assert [line.split() for line in out.getvalue().splitlines()] == [
        ["examples", "12"],
        ["features", "none"],
    ]


def test_nobody_is_shown_a_bar_where_nobody_looks(capsys):
    with progress_bar() as bar:
        bar.update(bar.add_task("something", total=2), completed=1)
    assert capsys.readouterr() == ("", "")

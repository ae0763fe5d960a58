"""The first example of a page, run and compared, with kernels as they are said to be."""

import warnings

import pytest

from tools.first_example import first_example, main

PAGE = "Text.\n\n```python\n{}\n```\n\n```text\n3\n```\n\n```python\nprint(4)\n```\n"


@pytest.fixture
def page(tmp_path):
    def written(code):
        path = tmp_path / "page.md"
        path.write_text(PAGE.format(code), encoding="utf-8")
        return str(path)

    return written


@pytest.fixture
def kernels(monkeypatch):
    return lambda compiled: monkeypatch.setattr("rote.kernels.compiled", lambda: compiled)


def test_it_is_the_first_block_with_what_it_prints():
    assert first_example(PAGE.format("print(1 + 2)")) == ("print(1 + 2)\n", "3\n")
    with pytest.raises(SystemExit, match="no example"):
        first_example("```python\nprint(3)\n```\n")


def test_what_the_page_shows_is_printed(page, kernels, capsys):
    kernels(True)
    main(page("print(1 + 2)"))
    assert capsys.readouterr().out == "3\n"


def test_another_output_fails(page, kernels):
    kernels(True)
    with pytest.raises(SystemExit, match="printed '4"):
        main(page("print(4)"))


@pytest.mark.parametrize(("flags", "compiled"), [((), False), (("--plain",), True)])
def test_kernels_that_are_not_as_they_are_said_to_be_fail(page, kernels, flags, compiled):
    kernels(compiled)
    with pytest.raises(SystemExit, match="the kernels are"):
        main(page("print(3)"), *flags)


WARNS = "import warnings; warnings.warn('runs as plain Python'); print(3)"


def test_plain_kernels_warn_once(page, kernels, capsys):
    kernels(False)
    with warnings.catch_warnings():
        main(page(WARNS), "--plain")
    assert capsys.readouterr().out == "3\n"
    with pytest.raises(SystemExit, match=r"warnings about plain kernels: \[\]"):
        main(page("print(3)"), "--plain")

"""Every exception rote raises on purpose.

    RoteError
    ├── SpaceError               a space that cannot be built
    │   ├── LabelError           a label or variable there is not, or an output against a rule
    │   └── RuleError            a rule that cannot be read, or not in this space
    ├── ScoreError               scores of the wrong shape, or not finite
    ├── SettingError             an option outside what it may be
    ├── UnsupportedSpace         an engine was given a space it cannot solve
    ├── InfeasibleSpace          no output obeys the rules; carries the conflict
    ├── NoSolution               an engine found no output for an input
    ├── SolverError              a solver that crashed, does not stop, or answers wrongly
    ├── DataError                a file that is missing or damaged, or an input that cannot be read
    │   └── InputTooLarge        an input or a request beyond a limit
    ├── ModelError               a saved model or state that is damaged, foreign or of another task
    ├── StoreError               a store that cannot be opened, read or written
    ├── ServiceError             a service that cannot answer: its engine failed
    │   └── Overloaded           it has too much to do, or is closing; try again later
    └── MissingDependency        an optional package is not installed

Each message says what was expected, what came, and what to do.
"""

from __future__ import annotations

from collections.abc import Sequence


class RoteError(Exception):
    """The root of the tree: ``except RoteError`` catches what rote raises.

    ``about`` says which of many inputs or examples it is about, as in ``("example", 17)``. The
    message begins with it.
    """

    about: tuple[str, int] | None = None

    def __str__(self) -> str:
        # Said here for all: Python's own kinds print other things than the sentence.
        sentence = str(self.args[0]) if self.args else ""
        return sentence if self.about is None else f"{self.about[0]} {self.about[1]}: {sentence}"


def locate(error: Exception, what: str, number: int) -> None:
    """Say which of many an error is about; where that was said before, the new number stands.

    An error that is not ours keeps its message, and gets a note.
    """
    if not isinstance(error, RoteError):
        notes = getattr(error, "__notes__", [])
        before, after = getattr(error, "about", ("", 0)), (what, number)
        if notes[-1:] == ["in {} {}".format(*before)]:
            notes.pop()
        error.add_note("in {} {}".format(*after))
    error.about = what, number  # type: ignore[attr-defined]


def relocate(error: Exception, what: str, numbers: Sequence[int]) -> None:
    """An error about one of some is about that one of all that ``numbers`` says."""
    about: tuple[str, int] | None = getattr(error, "about", None)
    if about is not None:
        locate(error, what, int(numbers[about[1]]))


class SpaceError(RoteError, ValueError):
    """A space that cannot be built."""


class LabelError(SpaceError, KeyError):
    """A label or a variable that does not exist, or an output that breaks a rule."""


class RuleError(SpaceError, TypeError):
    """A rule that cannot be read, or that does not belong to this space."""


class ScoreError(RoteError, ValueError):
    """Scores of the wrong shape, or with a value that is not finite."""


class SettingError(RoteError, ValueError):
    """An option of an engine or a function outside what it may be."""


class UnsupportedSpace(RoteError, ValueError):
    """An engine was given a space outside what it can solve."""


class InfeasibleSpace(RoteError, ValueError):
    """No output obeys the rules.

    ``conflicting_rules`` names a minimal set: drop any one of them and the
    rest can be obeyed together.
    """

    def __init__(self, conflicting_rules: Sequence[str]) -> None:
        self.conflicting_rules = tuple(conflicting_rules)
        listed = "\n".join(f"  - {rule}" for rule in self.conflicting_rules)
        super().__init__(
            "no output obeys all rules; these conflict with each other, "
            f"relax or drop one of them:\n{listed}"
        )

    def __reduce__(self) -> tuple[type, tuple[tuple[str, ...]], dict[str, object]]:
        # Exceptions travel between processes by their arguments, here the rules.
        return type(self), (self.conflicting_rules,), vars(self)


class NoSolution(RoteError, RuntimeError):
    """An engine found no output where one is needed: its search or its limit ended before."""


class SolverError(RoteError, RuntimeError):
    """A solver that crashed, that did not stop, or whose answer breaks a rule."""


class DataError(RoteError, ValueError):
    """A file or an input that is missing or damaged; says which file, which line, and why."""


class InputTooLarge(DataError):
    """An input or a request beyond a limit."""


class ModelError(RoteError, ValueError):
    """A saved model or state that is damaged, foreign, too new, or that does not fit."""


class StoreError(RoteError, RuntimeError):
    """A store that cannot be reached, or is damaged, foreign or of another format."""


class ServiceError(RoteError, RuntimeError):
    """A service that cannot answer: its engine failed on what was asked."""


class Overloaded(ServiceError):
    """A service that has too much to do or is closing; ``seconds`` says when to try again."""

    def __init__(self, sentence: str, seconds: int = 1) -> None:
        self.seconds = seconds
        super().__init__(sentence, seconds)


class MissingDependency(RoteError, ImportError):
    """An optional package is needed and not installed."""


def was_interrupted(error: BaseException | None) -> bool:
    """Whether somebody pressed Ctrl-C, which comes out of a kernel as an error of another kind."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False

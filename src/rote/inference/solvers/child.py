"""What runs in a solver's own process: questions come by one pipe, answers go by another.

OR-Tools brings a HiGHS of its own, which clashes with some releases of highspy, and toulbar2 keeps
all of its state in global variables; both may end their process on an error. So each of them has a
process to itself (`rote.inference.solvers.worker`), whose program is this file. It imports nothing
of rote, so that it starts quickly.

A message is the length of a header, the header in JSON, and the bytes of the arrays that the header
lists. Nothing in a message is ever executed.

Costs are whole numbers of at least 0, and the least total is looked for. A question may have a
*ceiling* that the total does not exceed, an output to start from (``hint``), and an output that the
answer precedes in lexicographic order (``before``).
"""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
from contextlib import suppress
from itertools import pairwise
from typing import IO, Any, Protocol

import numpy as np
from numpy.typing import NDArray

LENGTH = struct.Struct("<Q")
MAX_HEADER = 1 << 24
FORBIDDEN = -1  # stands for an infinite cost

Header = dict[str, Any]
Arrays = dict[str, NDArray[Any]]


def write(stream: IO[bytes], header: Header, arrays: Arrays) -> None:
    """Send one message."""
    listed = [[name, array.dtype.str, array.shape] for name, array in arrays.items()]
    text = json.dumps({**header, "arrays": listed}).encode()
    stream.write(LENGTH.pack(len(text)) + text)
    stream.writelines(np.ascontiguousarray(array).tobytes() for array in arrays.values())
    stream.flush()


def read(stream: IO[bytes]) -> tuple[Header, Arrays]:
    """The next message; EOFError where there is none, ValueError where it is none of ours."""
    (length,) = LENGTH.unpack(_exactly(stream, LENGTH.size))
    if length > MAX_HEADER:
        raise ValueError(f"a header has up to {MAX_HEADER} bytes, got {length}")
    header = json.loads(_exactly(stream, length))
    arrays = {}
    for name, kind, shape in header.pop("arrays"):
        dtype = np.dtype(kind)
        if dtype.hasobject:
            raise ValueError(f"arrays hold numbers, got {kind}")
        count = int(np.prod(shape, dtype=np.int64))
        data = _exactly(stream, count * dtype.itemsize)
        arrays[name] = np.frombuffer(data, dtype).reshape(shape)
    return header, arrays


def _exactly(stream: IO[bytes], count: int) -> bytes:
    data = stream.read(count)
    if len(data) < count:
        raise EOFError("the pipe ended")
    return data


class Solver(Protocol):
    """What a process does with its questions."""

    def load(self, arrays: Arrays) -> None:
        """Take a space; the questions that follow are about it."""

    def solve(self, question: Header, arrays: Arrays) -> tuple[Header, Arrays]:
        """``proved``, a lower ``bound`` (None if no output is left), and ``labels`` if found."""


class CpSat:
    """CP-SAT on an integer program whose columns are 0 or 1."""

    def __init__(self) -> None:
        from ortools.sat.python import cp_model

        self._module = cp_model

    def load(self, arrays: Arrays) -> None:
        self._offsets = arrays["offsets"]
        self._base = self._module.CpModel()
        proto = self._base.proto
        for _ in range(int(arrays["columns"])):
            proto.variables.add().domain.extend([0, 1])
        ends = (arrays[name].tolist() for name in ("lower", "upper"))
        spans = pairwise(arrays["indptr"].tolist())
        indices, data = arrays["indices"], arrays["data"]
        for (first, last), low, high in zip(spans, *ends, strict=True):
            _add_row(proto, indices[first:last].tolist(), data[first:last].tolist(), low, high)

    def solve(self, question: Header, arrays: Arrays) -> tuple[Header, Arrays]:
        model = self._base.clone()
        proto = model.proto
        for column in np.flatnonzero(~arrays["open"]).tolist():
            proto.variables[column].domain[1] = 0
        costs = arrays["costs"]
        used = np.flatnonzero(costs)
        if len(used):
            proto.objective.vars.extend(used.tolist())
            proto.objective.coeffs.extend(costs[used].tolist())
            if question["ceiling"] is not None:
                proto.objective.domain.extend([0, question["ceiling"]])
        if "hint" in arrays:
            hint = np.zeros(int(self._offsets[-1]), np.int64)
            hint[self._offsets[:-1] + arrays["hint"]] = 1
            proto.solution_hint.vars.extend(range(len(hint)))
            proto.solution_hint.values.extend(hint.tolist())
        if "before" in arrays:
            self._precede(proto, arrays["before"].tolist())
        solver = self._module.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.linearization_level = 2
        solver.parameters.stop_after_first_solution = "before" in arrays
        if question["seconds"] is not None:
            solver.parameters.max_time_in_seconds = question["seconds"]
        status = solver.solve(model)
        if status == self._module.INFEASIBLE:
            return {"proved": True, "bound": None}, {}
        if status == self._module.MODEL_INVALID:
            raise ValueError(f"CP-SAT refused the model: {model.validate()}")
        response = solver.response_proto
        header = {
            "proved": status == self._module.OPTIMAL,
            "bound": max(0, int(response.inner_objective_lower_bound)) if len(used) else 0,
        }
        if status == self._module.UNKNOWN:
            return header, {}
        shares = np.array(list(response.solution)[: self._offsets[-1]])
        return header, {"labels": np.flatnonzero(shares) - self._offsets[:-1]}

    def _precede(self, proto: Any, labels: list[int]) -> None:
        """Demand labels that come before these: one is smaller, and those before it are equal."""
        equal: list[int] = []  # the literal "not all labels so far are equal", if any
        for (first, last), label in zip(pairwise(self._offsets.tolist()), labels, strict=True):
            for larger in range(first + label + 1, last):
                proto.constraints.add().bool_or.literals.extend([*equal, -larger - 1])
            so_far = len(proto.variables)
            proto.variables.add().domain.extend([0, 1])
            proto.constraints.add().bool_or.literals.extend([*equal, -(first + label) - 1, so_far])
            equal = [-so_far - 1]
        proto.constraints.add().bool_or.literals.extend(equal)


def _add_row(proto: Any, columns: list[int], weights: list[int], low: int, high: int) -> None:
    """A row, as a clause where it is one: with q weights of -1, Σ >= 1 - q."""
    if {abs(weight) for weight in weights} == {1} and low == 1 - weights.count(-1):
        pairs = zip(columns, weights, strict=True)
        literals = [column if weight > 0 else -column - 1 for column, weight in pairs]
        if high == low:
            proto.constraints.add().exactly_one.literals.extend(literals)
            return
        if high >= weights.count(1):
            proto.constraints.add().bool_or.literals.extend(literals)
            return
    linear = proto.constraints.add().linear
    linear.vars.extend(columns)
    linear.coeffs.extend(weights)
    linear.domain.extend([low, high])


class Toulbar2:
    """toulbar2 on cost functions that are made here, one by one."""

    def __init__(self) -> None:
        import pytoulbar2

        self._module = pytoulbar2

    def load(self, arrays: Arrays) -> None:
        self._space = arrays

    def solve(self, question: Header, arrays: Arrays) -> tuple[Header, Arrays]:
        network = self._module.CFN(resolution=0, verbose=-1)
        try:
            self._build(network, arrays)
            if question["ceiling"] is not None:
                network.CFN.wcsp.updateDUb(float(question["ceiling"] + 1))
                network.CFN.wcsp.enforceUb()
            network.CFN.wcsp.sortConstraints()
            if question["seconds"] is not None:
                network.CFN.timer(max(1, int(np.ceil(question["seconds"]))))
                with suppress(AttributeError):  # where there is no such timer, whole seconds
                    signal.setitimer(signal.ITIMER_VIRTUAL, question["seconds"])
            network.CFN.solve()
        except network.Contradiction:
            network.CFN.wcsp.whenContradiction()
            return {"proved": True, "bound": None}, {}
        finally:
            network.CFN.timerStop()
            _ignore_timer()
        proved = not network.Option.limited
        if not network.CFN.solutions():
            bound = None if proved else int(network.CFN.getDDualBound())
            return {"proved": proved, "bound": bound}, {}
        labels = np.array(network.CFN.solution()[: int(self._space["own"])], np.int64)
        # When a search ends, its bound is not brought up to what that has proved.
        bound = int(network.CFN.wcsp.getDPrimalBound() if proved else network.CFN.getDDualBound())
        return {"proved": proved, "bound": bound}, {"labels": labels}

    def _build(self, network: Any, arrays: Arrays) -> None:
        space, costs = self._space, arrays["costs"].astype(np.float64)
        costs[costs == FORBIDDEN] = np.inf
        sizes, offsets = space["sizes"].tolist(), space["offsets"].tolist()
        wcsp = network.CFN.wcsp
        for j, size in enumerate(sizes):
            wcsp.makeEnumeratedVariable(f"x{j}", 0, size - 1)
            if "hint" in arrays and j < len(arrays["hint"]):
                wcsp.setBestValue(j, int(arrays["hint"][j]))
        for j in range(len(sizes)):
            network.AddFunction([j], costs[offsets[j] : offsets[j + 1]].tolist())
        scope_ptr, table_ptr = space["scope_ptr"].tolist(), space["table_ptr"].tolist()
        for b in range(len(table_ptr) - 1):
            scope = space["scope"][scope_ptr[b] : scope_ptr[b + 1]].tolist()
            network.AddFunction(scope, costs[table_ptr[b] : table_ptr[b + 1]].tolist())
        row_ptr = space["row_ptr"].tolist()
        for r, (low, high) in enumerate(space["row_ends"].tolist()):
            span = slice(row_ptr[r], row_ptr[r + 1])
            terms = [
                space[name][span].tolist() for name in ("row_variable", "row_label", "row_data")
            ]
            for sign, end in ((1, low), (-1, high)):
                if end != sign * FREE:
                    self._add_row(wcsp, list(zip(*terms, strict=True)), sign, sign * end)
        if "before" in arrays:
            self._precede(network, arrays["before"].tolist())

    @staticmethod
    def _add_row(wcsp: Any, terms: list[tuple[int, int, int]], sign: int, least: int) -> None:
        """Σ sign · weight >= least, over the labels of some variables."""
        groups: dict[int, list[str]] = {}
        for variable, label, weight in terms:
            groups.setdefault(variable, []).append(f"{label} {sign * weight}")
        said = [f"{len(group)} {' '.join(group)}" for group in groups.values()]
        wcsp.postKnapsackConstraint(list(groups), f"{least} {' '.join(said)}", kp=True)

    def _precede(self, network: Any, labels: list[int]) -> None:
        """Demand labels that come before these; an added variable says: all so far are equal."""
        before = None
        for j, label in enumerate(labels):
            size = int(self._space["sizes"][j])
            added = network.CFN.wcsp.makeEnumeratedVariable(f"equal{j}", 0, 1)
            table = np.full((2, size, 2), np.inf)
            table[0, :, 0] = 0.0
            table[1, :label, 0] = 0.0
            table[1, label, 1] = 0.0
            if before is None:
                network.AddFunction([j, added], table[1].ravel().tolist())
            else:
                network.AddFunction([before, j, added], table.ravel().tolist())
            before = added
        network.AddFunction([before], [0.0, np.inf])


FREE = -(1 << 62)  # a row's end that is not there: this below, and its negative above
SOLVERS: dict[str, type[Solver]] = {"cpsat": CpSat, "toulbar2": Toulbar2}


def _ignore_timer() -> None:
    """The signal that time is over may come early or late; outside a search it means nothing."""
    with suppress(AttributeError):  # where there is no such signal
        signal.signal(signal.SIGVTALRM, signal.SIG_IGN)


def main() -> None:
    """Answer questions until nobody asks any more."""
    # What a library prints may not mix with answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _ignore_timer()
    solver = SOLVERS[sys.argv[1]]()
    write(answers, {"ready": True}, {})
    while True:
        try:
            header, arrays = read(sys.stdin.buffer)
        except EOFError:
            return
        try:
            if header["load"]:
                names = [name for name in arrays if name.startswith("/")]
                solver.load({name[1:]: arrays.pop(name) for name in names})
            answer, found = solver.solve(header, arrays)
        except Exception as error:  # noqa: BLE001  # whatever it is, the asker should hear of it
            answer, found = {"error": f"{type(error).__name__}: {error}"}, {}
        write(answers, answer, found)


if __name__ == "__main__":
    main()

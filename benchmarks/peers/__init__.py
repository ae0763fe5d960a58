"""The solvers that rote is compared with, each fed through its own Python interface.

Every peer gets the same space and scores, one thread, no output, and time to prepare what it
can reuse from one problem to the next. Its clock runs from being given the scores of a
problem until it has labels: setting the objective, solving, reading the answer.
"""

from __future__ import annotations

from benchmarks.peers.base import Answer, Peer, PeerFailed, Session, Unfit
from benchmarks.peers.child import Apart
from benchmarks.peers.cp_sat import CpSat
from benchmarks.peers.gurobi import Gurobi
from benchmarks.peers.highs import Highs
from benchmarks.peers.toulbar2 import Toulbar2

__all__ = ["Answer", "Apart", "Peer", "PeerFailed", "Session", "Unfit", "all_peers"]


def all_peers() -> list[Peer]:
    """One of each; close them when done.

    OR-Tools brings a HiGHS of its own that may clash with highspy's, and toulbar2 keeps its
    whole state in global variables: these two live in processes of their own.
    """
    return [
        Gurobi(),
        Highs(reuse=False),
        Highs(reuse=True),
        Apart(Toulbar2(reuse=False)),
        Apart(Toulbar2(reuse=True)),
        Apart(CpSat()),
    ]

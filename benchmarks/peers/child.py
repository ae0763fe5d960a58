"""A peer in a process of its own, which keeps its own time, so that talking costs it nothing."""

from __future__ import annotations

import multiprocessing
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.peers.base import Answer, Peer, PeerFailed, Session, Unfit
from rote import Space
from rote.types import FloatArray

SPARE_SECONDS = 60.0  # beyond the limit of a problem, before a silent process is given up


class Apart:
    """A `Peer` around another; its process starts with the first space and ends with `close`."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._process: Any = None
        self._line: Connection | None = None

    @property
    def name(self) -> str:
        return self._peer.name

    @property
    def package(self) -> str:
        return self._peer.package

    def open(self, space: Space) -> Session:
        self.ask("open", space)
        return _Remote(self)

    def ask(self, what: str, *about: object, wait: float = 0.0) -> Any:
        """Send one question and wait for its answer."""
        if self._process is None:
            # A forked process would inherit every library that is loaded here.
            context = multiprocessing.get_context("spawn")
            self._line, other = context.Pipe()
            self._process = context.Process(target=_serve, args=(self._peer, other), daemon=True)
            self._process.start()
            other.close()
        assert self._line is not None
        try:
            self._line.send((what, *about))
            answered = self._line.poll(SPARE_SECONDS + wait)
            answer = self._line.recv() if answered else PeerFailed("did not answer")
        except (EOFError, OSError) as error:
            self.close()
            raise PeerFailed("its process ended") from error
        if not answered:
            self.close()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        if self._process is None:
            return
        assert self._line is not None
        self._line.close()
        self._process.terminate()
        self._process.join()
        self._process = self._line = None


class _Remote:
    def __init__(self, owner: Apart) -> None:
        self._owner = owner

    def solve(self, scores: FloatArray, limit: float) -> Answer:
        answer = self._owner.ask("solve", scores, limit, wait=limit)
        assert isinstance(answer, Answer)
        return answer

    def close(self) -> None:
        self._owner.ask("close")


def _serve(peer: Peer, line: Connection) -> None:
    """Answer until nobody asks any more; one session is open at a time."""
    session: Session | None = None
    while True:
        try:
            what, *about = line.recv()
        except EOFError:
            return
        answer: object = None
        try:
            if what == "open":
                session = peer.open(*about)
            elif session is not None and what == "solve":
                answer = session.solve(*about)
            elif session is not None:
                session.close()
        except Unfit as unfit:
            answer = unfit
        except Exception as error:  # noqa: BLE001  # whatever it is, the asker should hear of it
            answer = PeerFailed(f"{type(error).__name__}: {error}")
        line.send(answer)

"""All experiments, one after the other, so that a run can be stopped and go on later.

An experiment on several cases is run case by case, and each leaves a record of its own. A record is
kept, and its run not made again, when it was asked for the same with the same version of rote; and
a quick run never takes the place of a whole one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

from papers.base import Experiment, Progress, Settings
from papers.records import Record, environment, read_record
from papers.registry import EXPERIMENTS, asked, name_of, reproduce
from rote import DataError, RoteError
from rote.errors import was_interrupted


class Job(NamedTuple):
    """A run that leaves one record."""

    experiment: Experiment
    settings: Settings

    @property
    def name(self) -> str:
        return name_of(self.experiment, self.settings)


class Finished(NamedTuple):
    """What became of a job: a record, kept or new, or else why there is none."""

    name: str
    record: Record | None
    kept: bool = False
    failure: str = ""


Watch: TypeAlias = Callable[[int, Job], Progress]  # the job that begins, by its number


def jobs(settings: Settings) -> list[Job]:
    """What there is to do, in the order of the registry."""
    found = []
    for one in EXPERIMENTS.values():
        if one.cases is None:
            found.append(Job(one, settings))
        else:
            cases = one.cases(one.plan(settings))
            found += [Job(one, replace(settings, cases=(case,))) for case in cases]
    return found


def reproduce_all(todo: list[Job], folder: str | Path, watch: Watch) -> Iterator[Finished]:
    """Do all jobs, and say of each what became of it; one that fails does not stop the others."""
    for number, job in enumerate(todo):
        progress = watch(number, job)
        there = kept_record(job, folder)
        if there is not None:
            yield Finished(job.name, there, kept=True)
            continue
        try:
            settings = replace(job.settings, progress=progress)
            written = reproduce(job.experiment.name, settings, folder)
        except RoteError as error:
            yield Finished(job.name, None, failure=str(error))
        except Exception as error:  # hours of other experiments may be still to come
            if was_interrupted(error):
                raise KeyboardInterrupt from error
            yield Finished(job.name, None, failure=f"{type(error).__name__}: {error}")
        else:
            yield Finished(job.name, written.record)


def kept_record(job: Job, folder: str | Path) -> Record | None:
    """The record of an earlier run that does for this one, if there is one."""
    try:
        record = read_record(Path(folder) / f"{job.name}.json")
    except DataError:
        return None
    if job.settings.quick and record.settings.get("quick") is False:
        return record
    same = record.settings.get("asked") == asked(job.experiment, job.settings)
    return record if same and record.environment.get("rote") == environment()["rote"] else None

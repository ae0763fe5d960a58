"""The experiments there are, by name, and the one way to run them.

A run writes FOLDER/NAME.json, the record, and FOLDER/NAME.png if the experiment has a figure. That
of some cases has their names behind its own, so that it does not stand in for the whole. Among a
record's settings, "asked" says all that a run was asked for, and for how large a plan, as a digest:
a run that is asked for the same need not be made again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from types import MappingProxyType
from typing import Any, NamedTuple

from papers.base import Experiment, Settings
from papers.chang2015 import cv as chang_cv
from papers.chang2015 import entity_relation as chang_entity_relation
from papers.chang2015 import figure1 as chang_figure1
from papers.chang2015 import perceptron as chang_perceptron
from papers.chang2015 import scene as chang_scene
from papers.data.folder import VARIABLE
from papers.ma2019 import accuracy as ma_accuracy
from papers.ma2019 import alpha as ma_alpha
from papers.ma2019 import testtime as ma_testtime
from papers.ma2019 import training as ma_training
from papers.pan2018 import speedup as pan_speedup
from papers.plots import save_figure
from papers.punyakanok2005 import conll04_learners
from papers.punyakanok2005 import features as punyakanok_features
from papers.punyakanok2005 import synthetic as punyakanok_synthetic
from papers.records import Record, environment, read_record, write_record
from papers.samdani2012 import extraction as samdani_extraction
from papers.samdani2012 import multilabel as samdani_multilabel
from papers.samdani2012 import synthetic as samdani_synthetic
from papers.tour import tour
from rote import DataError, MissingDependency, SettingError

EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(
    {
        experiment.name: experiment
        for experiment in (
            tour.EXPERIMENT,
            punyakanok_synthetic.EXPERIMENT,
            punyakanok_features.EXPERIMENT,
            conll04_learners.EXPERIMENT,
            chang_entity_relation.EXPERIMENT,
            chang_perceptron.EXPERIMENT,
            chang_scene.EXPERIMENT,
            chang_figure1.EXPERIMENT,
            chang_cv.EXPERIMENT,
            samdani_synthetic.EXPERIMENT,
            samdani_multilabel.EXPERIMENT,
            samdani_extraction.EXPERIMENT,
            ma_accuracy.EXPERIMENT,
            ma_alpha.EXPERIMENT,
            ma_testtime.EXPERIMENT,
            ma_training.EXPERIMENT,
            pan_speedup.EXPERIMENT,
        )
    }
)


class Written(NamedTuple):
    """A record, its file, and its figure; ``missing`` says why there is none, if it is so."""

    record: Record
    file: Path
    figure: Path | None
    missing: str | None


def experiment(name: str) -> Experiment:
    """The experiment of a name."""
    try:
        return EXPERIMENTS[name]
    except KeyError:
        known = ", ".join(EXPERIMENTS)
        raise SettingError(f"the experiments are {known}; got {name!r}") from None


def experiment_of(record: str) -> tuple[Experiment, str] | None:
    """Whose record this is, by its name, and of which case; without one for all of them."""
    for one in EXPERIMENTS.values():
        if record == one.name:
            return one, ""
        if one.cases is not None and record.startswith(f"{one.name}-"):
            return one, record.removeprefix(f"{one.name}-")
    return None


def name_of(chosen: Experiment, settings: Settings) -> str:
    """The name of a record, and of its file."""
    return "-".join((chosen.name, *settings.cases))


def asked(chosen: Experiment, settings: Settings) -> dict[str, Any]:
    """All that a run is asked for."""
    plan = json.dumps(chosen.plan(settings), default=_plain, sort_keys=True, ensure_ascii=False)
    return {
        "quick": settings.quick,
        "seed": settings.seed,
        "trials": settings.trials,
        "cases": list(settings.cases),
        "plan": sha256(plan.encode()).hexdigest()[:16],
        "data sets": bool(os.environ.get(VARIABLE)),
    }


def run_experiment(chosen: Experiment, settings: Settings) -> Record:
    """Run an experiment, and say with what and for how long it ran."""
    if settings.cases and chosen.cases is None:
        raise SettingError(f"{chosen.name} has no cases to choose from; leave them out")
    if settings.trials is not None and chosen.one_trial:
        raise SettingError(
            f"{chosen.name} has one trial; leave trials out, and choose another seed"
        )
    start = perf_counter()
    outcome = chosen.run(chosen.plan(settings), settings)
    return Record(
        name_of(chosen, settings),
        chosen.paper,
        {**outcome.settings, "asked": asked(chosen, settings)},
        outcome.rows,
        outcome.claims,
        environment(),
        round(perf_counter() - start, 3),
    )


def reproduce(name: str, settings: Settings, folder: str | Path) -> Written:
    """Run the experiment of this name, and write its record and its figure into a folder.

    The record is written first: it stays, should the figure fail for want of a package. A quick run
    does not take the place of a whole one.
    """
    chosen = experiment(name)
    _check_place(Path(folder), f"{name_of(chosen, settings)}.json", quick=settings.quick)
    record = run_experiment(chosen, settings)
    file = write_record(record, folder)
    if chosen.draw is None:
        return Written(record, file, None, None)
    try:
        figure = save_figure(chosen.draw(record), file.with_suffix(".png"))
    except MissingDependency as error:
        return Written(record, file, None, str(error))
    return Written(record, file, figure, None)


def _check_place(folder: Path, name: str, *, quick: bool) -> None:
    """Refuse, before hours of work, where the record could not be written or is worth more."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder / name} cannot be written: {error.strerror}") from None
    if not quick or not (folder / name).is_file():
        return
    with suppress(DataError):  # what is no record is none of a whole run
        if read_record(folder / name).settings.get("quick") is False:
            raise SettingError(
                f"{folder / name} is of a whole run, which a quick one does not replace; "
                "name another folder, or run it without quick"
            )


def _plain(value: Any) -> dict[str, Any]:
    """A part of a plan that JSON does not know."""
    if is_dataclass(value):
        return {one.name: getattr(value, one.name) for one in fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    raise SettingError(f"a plan is made of values that JSON knows, got {value!r:.80}")

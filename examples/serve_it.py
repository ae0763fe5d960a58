"""How do I let others ask my model? Over HTTP, where an input asked again costs next to nothing.

From a shell: `rote serve FOLDER --store answers.sqlite`. Here a program does the same and asks.
"""

import json
import re
import sys
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import urlopen

from rote import EntityRelation, EntityRelationOutput, StructuredSVM, train
from rote.datasets import english_sentences

xs = english_sentences(200, seed=0)
ys = [EntityRelationOutput.of(x) for x in xs]
model = train(EntityRelation(), xs, ys, learner=StructuredSVM(0.1, iterations=10))
question = {"input": "[Maria Lincoln] lives in [New Boston] ."}


def ask(address: str, body: dict[str, str] | None = None) -> dict[str, Any]:
    with urlopen(address, body and json.dumps(body).encode(), timeout=60) as reply:  # noqa: S310
        return json.load(reply)


with TemporaryDirectory() as folder:
    model.save(folder)
    store = str(Path(folder) / "answers.sqlite")
    command = [sys.executable, "-m", "rote", "serve", folder, "--port", "0", "--store", store]
    with Popen(command, stdout=PIPE, text=True) as service:  # noqa: S603
        try:
            said = re.search(r"http://\S+/", service.stdout.readline())
            if said is None:
                sys.exit(service.wait())  # it has said why
            address = said[0]
            for time in ("first", "second"):
                (answer,) = ask(f"{address}predict", question)["answers"]
                output = answer["output"]
                labels = [one["label"] for one in output["entities"] + output["relations"]]
                print(f"the {time} time: {', '.join(labels)}; {answer['status']}", end=", ")
                print(f"by {answer['source']}")
            stats = ask(f"{address}stats")
            print(f"{stats['asked']} asked, {stats['solved']} solved by the engine")
        finally:
            service.terminate()

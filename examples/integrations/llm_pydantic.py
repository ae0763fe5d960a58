"""A language model's answers, field by field, as a valid pydantic instance of 140 variables.

The log-probabilities are drawn at random, in place of those that a model gives of its next tokens.
"""

import random
import time
from typing import Literal

import pydantic

from rote.adapters.llm import RuledAnswers

states, took = ("new", "sent", "lost", "back"), []
fields = {f"parcel{k}": (Literal[states], ...) for k in range(70)}
Form = pydantic.create_model("Form", **fields, **{f"paid{k}": (bool, ...) for k in range(70)})
rules = [f"if parcel{k} is sent|back then paid{k} is true" for k in range(70)]
rules += [f"if parcel{k} is lost then not parcel{k + 1} is lost" for k in range(69)]
for count in range(5):  # as many forms, each with a rule more than the one before
    rules.append(f"parcel{count} is new|sent")
    answers = RuledAnswers(Form, "\n".join(rules))  # reads schema and rules, once for all tables
    table = {name: {a: -9 * random.random() for a in states} for name in fields}  # noqa: S311
    table |= {name.replace("parcel", "paid"): {"true": -0.7, "false": -0.2} for name in fields}
    start = time.process_time()
    (form,) = answers.predict([table])  # builds the space, solves it and makes an instance
    took.append(1e3 * (time.process_time() - start))
ms = sorted(took)[2]
print(repr(form)[:70], "...")
print(f"LLM: {'met' if ms <= 10 else 'NOT MET'}: {ms:.1f} ms for 140 variables, at most 10")

"""How do I put rules on scores in a DataFrame? Tokens by name of column, in pandas and polars."""

from time import process_time

import numpy as np
import pandas as pd
import polars as pl

from rote.tasks import label_sequences

LABELS = ["O", *(f"{place}-{kind}" for kind in ("PER", "LOC") for place in "BI")]
sentence = np.repeat(np.arange(10_000), np.arange(10_000) % 20 + 1)  # 1 to 20 tokens each
scores = np.random.default_rng(0).normal(size=(len(sentence), len(LABELS)))  # of your own model
tokens = pd.DataFrame(scores, columns=LABELS).assign(sentence=sentence)
for frame in (tokens, pl.DataFrame(tokens)):
    start = process_time()
    tags = label_sequences(frame, LABELS, group="sentence", encoding="BIO")
    milliseconds = (process_time() - start) * 1000 / 10_000
    print(f"{type(tags).__module__}: {len(tags)} tokens, {milliseconds:.3f} ms a sentence")
    print(f"FRAMES: {'met' if milliseconds <= 0.1 else 'NOT MET'}: at most 0.1 ms a sentence")

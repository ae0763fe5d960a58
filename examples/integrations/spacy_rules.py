"""Rules on the categories and the spans of a spaCy pipeline, whose models are untrained."""

import time

import numpy as np
import spacy
from spacy.tokens import Span, SpanGroup

nlp = spacy.blank("en")
textcat = nlp.add_pipe("textcat_multilabel")
for label in ("animal", "dog", "car"):
    textcat.add_label(label)
nlp.initialize()
nlp.add_pipe("rote_cats", config={"rules": "if dog then animal\nnot (animal and car)"})
nlp.add_pipe("rote_spans", config={"rules": "at most 2 spans are PER", "ents": True})
docs = list(nlp.pipe([f"{k} dogs and {k} cars met the man from York ." for k in range(200)]))
rng = np.random.default_rng(0)
for doc in docs:  # twenty candidates each, as a span categorizer would leave them
    places = [(int(k), int(k) + 1 + int(k) % 2) for k in rng.integers(0, 9, size=20)]
    spans = [Span(doc, a, b, label=str(rng.choice(["PER", "LOC"]))) for a, b in places]
    doc.spans["sc"] = SpanGroup(doc, name="sc", spans=spans, attrs={"scores": rng.random(20)})
for name in ("rote_cats", "rote_spans"):
    start = time.process_time()
    docs = list(nlp.get_pipe(name).pipe(docs))
    ms = 1e3 * (time.process_time() - start) / len(docs)
    met = "met" if ms <= 1 else "NOT MET"
    print(f"SPACY {name.upper()}: {met}: {ms:.3f} ms a document, at most 1")
print(docs[0].cats, [(entity.text, entity.label_) for entity in docs[0].ents])

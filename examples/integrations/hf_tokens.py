"""Valid BILOU labels and a rule of one's own, on a Hugging Face token classifier.

The model is configured and untrained: what it says is noise, which takes inference the longest.
"""

import time

import torch
from transformers import BertConfig, BertForTokenClassification

from rote.adapters.huggingface import RuledTokens

labels = ["O", *(f"{letter}-{kind}" for kind in ("PER", "LOC", "ORG", "MISC") for letter in "BILU")]
size = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "vocab_size": 500}
model = BertForTokenClassification(BertConfig(**size, id2label=dict(enumerate(labels)))).eval()
words = torch.randint(500, (512, 40))
mask = (torch.arange(40) < torch.randint(5, 41, (512, 1))).long()
with torch.no_grad():
    logits = model(input_ids=words, attention_mask=mask).logits

rule = "if token i is U-PER then not token i+1 is U-PER"
ruled = RuledTokens(model.config.id2label, "BILOU", rule)
ruled.predict(logits, mask)  # the spaces of all lengths are made once
start = time.process_time()
ids = ruled.predict(logits, mask)
ms = 1e3 * (time.process_time() - start) / len(logits)
print("alone:", *(labels[k] for k in logits[0].argmax(1)[:8]))
print("ruled:", *(labels[k] for k in ids[0][ids[0] != -100][:8]))
print(f"HF TOKENS: {'met' if ms <= 0.1 else 'NOT MET'}: {ms:.3f} ms a sentence, at most 0.1")

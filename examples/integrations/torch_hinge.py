"""A PyTorch layer that learns under rules, a fifth of its gold labels unknown."""

import time

import numpy as np
import torch

from rote import Tagging
from rote.torch import StructuredHinge

torch.manual_seed(0)
labels = ("O", "B-X", "I-X")
space = Tagging(labels, list, order=0, bio=True).frame(range(6)).space  # one for all sentences
gold = torch.tensor([[1, 2, 0, 1, 2, 2], [0, 1, 2, 2, 0, 0], [1, 1, 2, 0, 1, 2]]).repeat(100, 1)
x = torch.nn.functional.one_hot(gold, 3) + 0.7 * torch.randn(300, 6, 3)
seen = gold.masked_fill(torch.rand(gold.shape) < 0.2, -100)
layer, hinge = torch.nn.Linear(3, 3), StructuredHinge()
optimizer = torch.optim.Adam(layer.parameters(), lr=0.1)
start = time.process_time()
for _ in range(30):
    optimizer.zero_grad()
    loss = hinge(layer(x), space, seen)
    loss.backward()
    optimizer.step()
ms = (time.process_time() - start) / (30 * 300) * 1e3
right = (np.stack(hinge.predict(layer(x), space)) == gold.numpy()).mean()
print(f"loss {loss.item():.2f}; {right:.1%} of the labels right")
print(f"TORCH: {'met' if ms <= 1 else 'NOT MET'}: {ms:.3f} ms a sentence and step, at most 1")

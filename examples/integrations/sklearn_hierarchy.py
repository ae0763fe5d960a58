"""A hierarchy of labels on a classifier of scikit-learn, with a tenth of the labels unknown."""

import time

import numpy as np
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from rote.sklearn import RuledClassifier

X, Y = make_multilabel_classification(2000, 30, n_classes=20, n_labels=2, random_state=0)
parents = {child: (child - 1) // 2 for child in range(1, 20)}  # a tree
for child in range(19, 0, -1):
    Y[:, parents[child]] |= Y[:, child]
known = np.where(np.random.default_rng(0).random(Y.shape) < 0.1, -1, Y)
ruled = RuledClassifier(LogisticRegression(max_iter=1000), parents=parents)
search = GridSearchCV(ruled, {"estimator__C": [0.01, 1.0]}, cv=2).fit(X[:1000], known[:1000])
free = RuledClassifier(search.best_estimator_.estimator).fit(X[:1000], known[:1000])
start = time.process_time()
found = search.predict(X[1000:])
ms = (time.process_time() - start) / 1000 * 1e3
for name, labels in {"no rules": free.predict(X[1000:]), "rules": found}.items():
    broken = sum((labels[:, c] > labels[:, p]).sum() for c, p in parents.items())
    print(f"{name}: {(labels == Y[1000:]).mean():.1%} right, {broken} labels without their parent")
print(f"SKLEARN: {'met' if ms <= 1 else 'NOT MET'}: {ms:.3f} ms a row, at most 1")

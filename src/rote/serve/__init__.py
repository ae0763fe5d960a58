"""A saved model behind HTTP, whose answers get cheaper as it serves, and a page that shows it.

`Service` answers requests in batches and knows nothing of HTTP; `rote.serve.app` puts it behind
FastAPI, and `rote.serve.run` behind a port. Only these two need `rote-predict[serve]`.
"""

from rote.serve.engines import open_service
from rote.serve.predictor import Answer
from rote.serve.service import Limits, Service

__all__ = ["Answer", "Limits", "Service", "open_service"]

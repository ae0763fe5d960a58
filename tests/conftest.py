"""What every test shares: one deterministic Hypothesis profile, and no run of typed usage."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

collect_ignore = ["typing"]  # only type-checked, by `make check`

settings.register_profile(
    "rote",
    derandomize=True,
    deadline=None,  # the first call of a kernel compiles it
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("rote")

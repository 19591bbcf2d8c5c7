"""Settings of all tests; made before nonzero is imported."""

import os
import tempfile

os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="nonzero-tests-")
os.environ.setdefault("MPLBACKEND", "Agg")

from hypothesis import HealthCheck, settings

# In CI every run takes the same examples; new ones are met where a person looks at what they find.
settings.register_profile(
    "nonzero",
    max_examples=40,
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("nonzero")

"""Verification that is made late."""

import subprocess
import sys

# What a worker without signed claims loads.
_LOADED = (
    "import gateway.serve.worker, sys; print([name for name in ('jwt', 'cryptography.hazmat') if name in sys.modules])"
)


def test_a_worker_loads_no_cryptography_before_a_policy_takes_claims() -> None:
    """It would cost each of them ten megabytes."""
    loaded = subprocess.run([sys.executable, "-c", _LOADED], capture_output=True, text=True, check=True)

    assert loaded.stdout == "[]\n"

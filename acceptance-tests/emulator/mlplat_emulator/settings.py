"""What a test can turn: how long things take, what fails next. Per account, with defaults from the environment.

`MLPLAT_EMULATOR_POLLS` is how many times a node group, cluster or update is seen in transition (default 1).
"""

import os
from dataclasses import dataclass, field

from .patching import store


@dataclass
class Settings:
    """The knobs of one account in one region."""

    polls: int = field(default_factory=lambda: int(os.environ.get("MLPLAT_EMULATOR_POLLS", "1")))
    failures: list = field(default_factory=list)
    quotas: dict = field(default_factory=dict)
    stranger_buckets: set = field(default_factory=set)
    capacity_blocks: list = field(default_factory=list)
    kubernetes: dict = field(default_factory=dict)

    def next_failure(self, cluster, nodegroup):
        """The failure ordered for this node group's creation; handed out once."""
        for failure in self.failures:
            if failure.get("cluster") in (None, cluster) and failure.get("nodegroup") in (None, nodegroup):
                self.failures.remove(failure)
                return failure
        return None


SETTINGS = store(Settings)

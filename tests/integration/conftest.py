"""The repositories that several of these tests begin with."""

from taken_out import log_with_a_secret  # noqa: F401
from travelling import a_hub, clones_that_share, hub_and_clones, two_clones  # noqa: F401

"""The spaces of actions and observations, as Gymnasium has them."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from gin_sim.env.actions import n_actions
from gin_sim.env.encode import highest


def action_space(layoff: str) -> spaces.Discrete:
    """Return the space of the actions."""
    return spaces.Discrete(n_actions(layoff))


def observation_space(form: str, layoff: str) -> spaces.Dict:
    """Return the space of what is observed, with the mask of legal actions."""
    top: Any = highest(form, layoff)
    return spaces.Dict(
        {
            "observation": spaces.Box(np.zeros_like(top), top, dtype=np.uint8),
            "action_mask": spaces.Box(0, 1, (n_actions(layoff),), dtype=np.int8),
        }
    )

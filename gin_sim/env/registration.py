"""How Gymnasium finds the environment by its name."""

from __future__ import annotations

ENV_ID = "gin_sim/GinRummy-v0"


def register_envs() -> None:
    """Tell Gymnasium of the environment, where it is installed; a second time does nothing."""
    try:
        from gymnasium.envs.registration import register, registry  # noqa: PLC0415
    except ModuleNotFoundError:
        return  # the environment of many hands needs numpy alone
    if ENV_ID not in registry:
        register(ENV_ID, entry_point="gin_sim.env.against:GinRummyAgainstEnv")

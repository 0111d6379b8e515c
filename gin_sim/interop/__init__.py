"""Hands in the notation of other engines; each module needs that engine only to play in it."""

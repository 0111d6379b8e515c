"""The agents of gin-sim: one file each, a small readable strategy with its source."""

"""The tests of gin-sim; a package, so that test modules can share `tests.oracle`."""

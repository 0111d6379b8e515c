"""A slow, readable Gin Rummy, written apart from the kernels, to hold them against.

Cards are numbers 0..51 in plain Python sets, every search is by brute force, and a hand is
a generator that yields views and is sent answers.  Of `gin_sim` it uses the rules, the
view as a named tuple and nothing that computes.
"""

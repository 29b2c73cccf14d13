"""Matrices of rows without a meaning yet: randomness, content hashes, samples, canonical forms, tiles."""

"""Rows before they mean anything: randomness, content hashes, canonical forms, tiles."""

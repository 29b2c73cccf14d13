"""Benchmarks. A regular package, because some competitors install a package of the same name."""

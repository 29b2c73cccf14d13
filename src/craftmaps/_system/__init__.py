"""The machine: threads, memory, progress, whole files, and values of untrusted headers."""

"""Fences around the buffers of loops, which do not check bounds."""

import pytest

from craftmaps._loops import lanes

FENCE = 1234.5


@pytest.fixture
def fences(monkeypatch):
    """Put numbers around every buffer of a loop; the fixture tells how many were overwritten."""
    aligned_empty, fenced = lanes.aligned_empty, []

    def with_fences(size, dtype):
        room = aligned_empty(size + 2 * 2**14, dtype)
        room[:] = FENCE
        fenced.append((room[: 2**14], room[2**14 + size :]))
        return room[2**14 : 2**14 + size]

    monkeypatch.setattr(lanes, "aligned_empty", with_fences)
    return lambda: sum(int((part != FENCE).sum()) for pair in fenced for part in pair)

"""Progress of a long pass, on standard error."""

import sys
import time


class Progress:
    """A line that says how many rows are done, how fast, and how long it will take."""

    def __init__(self, verbose: int, n_blocks: int | None):
        self.verbose = verbose
        self.n_blocks = n_blocks
        self.started = self.shown = time.monotonic()

    def show(self, blocks_done: int, rows_done: int) -> None:
        """Update the line, a few times a second at the most."""
        now = time.monotonic()
        if not self.verbose or now - self.shown < 0.2:
            return
        self.shown = now
        elapsed = now - self.started
        text = f"{rows_done:,} rows, {rows_done / elapsed:,.0f} rows/s"
        if self.n_blocks:
            left = elapsed / blocks_done * (self.n_blocks - blocks_done)
            text += f", {blocks_done / self.n_blocks:.0%}, {left:.0f} s left"
        print(f"\r{text:<70}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """End the line."""
        if self.verbose and self.shown > self.started:
            print(file=sys.stderr)

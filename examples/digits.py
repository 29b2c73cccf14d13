"""Compare feature maps with the exact kernel on handwritten digits: what `craftmaps demo` does.

The measuring itself is in `craftmaps.report.comparison`. The data is what scikit-learn ships; nothing is downloaded.
"""

import sys

from craftmaps.cli import main

if __name__ == "__main__":
    main(["demo", *sys.argv[1:]])

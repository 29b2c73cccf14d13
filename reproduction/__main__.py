"""Run all experiments: `python -m reproduction --level hour`."""

from reproduction import exact, figure2, figure4, figure5, figure6, figure7, support, table1, variations
from reproduction.running import main

if __name__ == "__main__":
    main(figure2, figure5, figure4, table1, figure7, figure6, exact, variations, support)

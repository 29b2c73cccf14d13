"""Candidates of `support` compared: the best on left-out rows, and what these cannot tell from it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from reproduction.claims import Pair
from reproduction.classification import SIZES
from reproduction.methods import OURS
from reproduction.running import settings_of
from reproduction.support import POOLED, has_given_penalty
from reproduction.text import paper_number, paper_numbers

SCORES = {"errors": "left_out_error", "squared losses": "left_out_loss"}
_FAR = 2.0  # standard errors


class Support(NamedTuple):
    """What one score of left-out training rows says of the candidates of a part."""

    pairs: list[Pair]
    score: str
    best: int
    is_equal: NDArray[np.bool_]  # that left-out rows cannot tell from the best

    @property
    def chosen(self) -> list[Pair]:
        """The candidates with the best score: errors are counts, and may be equal."""
        name = SCORES[self.score]
        return [pair for pair in self.pairs if pair[1][name] == self.pairs[self.best][1][name]]

    @property
    def errors(self) -> NDArray[np.float64]:
        """Test errors of all candidates."""
        return self.of_all("error")

    def of_all(self, name: str) -> NDArray[np.float64]:
        """Return a value of all candidates."""
        return np.array([values[name] for _, values in self.pairs])

    def correlation(self, name: str, kept: NDArray[np.bool_] | slice = slice(None)) -> float | None:
        """Return Spearman's rank correlation of scores and a value on test rows, None where one of them is constant."""
        scores, values = self.of_all(SCORES[self.score])[kept], self.of_all(name)[kept]
        if min(np.unique(scores).size, np.unique(values).size) < 2:
            return None
        return float(stats.spearmanr(scores, values).statistic)


def support_of(pairs: list[Pair], part: str, score: str) -> Support:
    """Return the support of a part, one of `parts_of`, by a score."""
    own = [pair for pair in pairs if pair[0]["part"] == part and is_candidate(pair[0])]
    best = int(np.argmin([values[SCORES[score]] for _, values in own]))
    differences = [_difference(pair, own[best], score) for pair in own]
    return Support(own, score, best, np.array([value <= _FAR * error for value, error in differences]))


def fewest_errors(pairs: list[Pair]) -> list[Pair]:
    """Return the cells with the fewest errors on left-out rows."""
    fewest = min(values["left_out_error"] for _, values in pairs)
    return [pair for pair in pairs if pair[1]["left_out_error"] == fewest]


def paper_bests(part: str) -> dict[int, float]:
    """Return the paper's best errors at the widths where ours is above them."""
    paper = paper_numbers()["table1"][part]
    return {width: paper_number(paper, OURS, width) for width in settings_of("support")["parts"][part]["widths"]}


def parts_of(pairs: list[Pair]) -> list[str]:
    """Return the parts with results."""
    return sorted({cell["part"] for cell, _ in pairs if is_candidate(cell)})


def is_candidate(cell: dict[str, Any]) -> bool:
    """Tell whether a cell is one of those that are compared: on the given split, with a penalty that is chosen."""
    return cell["split"] != POOLED and not has_given_penalty(cell)


def _difference(pair: Pair, best_pair: Pair, score: str) -> tuple[float, float]:
    """Return by how much a score is above the best, and the paired standard error of that."""
    (cell, values), (_, best) = pair, best_pair
    difference = values[SCORES[score]] - best[SCORES[score]]
    if score == "errors":
        wrong, best_wrong = set(values["left_out_wrong"]), set(best["left_out_wrong"])
        if not wrong ^ best_wrong:
            return 0.0, 0.0
        n_rows = min(SIZES[cell["dataset"], "customary"][0], cell.get("max_rows", np.inf))
        share = (len(wrong) - len(best_wrong)) / n_rows
        return difference, 100 * float(np.sqrt((len(wrong ^ best_wrong) / n_rows - share**2) / n_rows))
    groups = np.subtract(values["left_out_losses"], best["left_out_losses"])
    return difference, float(groups.std(ddof=1) / np.sqrt(groups.size))

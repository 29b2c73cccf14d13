"""Axes to draw on, and what plots have in common."""

from typing import TYPE_CHECKING, Any

from sklearn.base import is_classifier

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, MUTED, ACCENT = "#333333", "#8a8f94", "#175ca8"


def axes_or_new(ax: "Axes | None", size: tuple[float, float] | None = None) -> "Axes":
    """Return the axes given, or those of a new figure, whose size is in inches."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Plots need Matplotlib: pip install craftmaps[plots].") from error
    return plt.subplots(figsize=size, layout="constrained")[1]


def as_percent(axis: Any) -> None:
    """Write the ticks of an axis in percent."""
    axis.set_major_formatter(lambda value, _: f"{100 * value:.10g} %")


def error_name(model: Any) -> str:
    """Return what the errors of a model are."""
    return "error" if is_classifier(model) else "mean squared error"


def finish_axes(ax: "Axes", title: str, x_label: str, y_label: str) -> "Axes":
    """Label axes, and draw only the spines that carry ticks."""
    ax.set(title=title, xlabel=x_label, ylabel=y_label)
    ax.spines[["top", "right"]].set_visible(False)
    return ax

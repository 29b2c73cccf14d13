"""Charts as inline SVG, and the figures of the page."""

"""A page read back: whether its elements are closed in order, and what it says."""

from html.parser import HTMLParser

_VOID = {"meta", "link", "img", "br"}


class Page(HTMLParser):
    """The elements and the text of a page; an element that is not closed where it should be is an error."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.pieces, self.tables = [], [], [], []
        self.feed(html)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    @property
    def text(self):
        """All text but the style sheet, with single spaces."""
        return " ".join(" ".join(self.pieces).split())

    def all(self, name):
        """Return the attributes of all elements of a name."""
        return [attributes for element, attributes in self.elements if element == name]

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), f"{tag} has an attribute twice: {names}"
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        assert self.open[-1:] == [tag], f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data):
        if "style" not in self.open:
            self.pieces.append(data)
        if "td" in self.open or "th" in self.open:
            self.tables[-1][-1][-1] += data

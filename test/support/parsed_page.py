"""An HTML page for tests to look into: parsing it checks that each tag is closed in turn."""

from html.parser import HTMLParser

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """Fails on tags that are not closed in turn; `elements` are (tag, attributes, text inside)."""

    def __init__(self, text: str):
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, dict, list[str]]] = []
        self.elements: list[tuple[str, dict, list[str]]] = []
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open[-1][:2]}"

    def handle_starttag(self, tag: str, attributes: list) -> None:
        assert len(dict(attributes)) == len(attributes), f"<{tag}> has an attribute twice: {attributes}"
        element: tuple[str, dict, list[str]] = (tag, dict(attributes), [])
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attributes: list) -> None:
        self.elements.append((tag, dict(attributes), []))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1][0] == tag, f"</{tag}> closes <{self.open[-1][0]}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for _, _, text in self.open:
            text.append(data)

    def all(self, tag: str, class_: str = "") -> list[tuple[dict, str]]:
        """Attributes and text of each `tag`, of one class where given."""
        found = [(attributes, "".join(text)) for name, attributes, text in self.elements if name == tag]
        return [each for each in found if not class_ or class_ in (each[0].get("class") or "").split()]

    def rows(self, class_: str) -> list[list[str]]:
        """The cells of the rows of the tables of a class, without their headings."""
        found, inside = [], False
        for tag, attributes, text in self.elements:
            if tag == "table":
                inside = class_ in (attributes.get("class") or "").split()
            if inside and tag == "tr":
                found.append([])
            if inside and (tag == "td" or (tag == "th" and attributes.get("scope") == "row")):
                found[-1].append("".join(text).strip())
        return [row for row in found if row]

"""Shared by the tests of pages: checks of the file itself, and headless Chromium."""

import base64
import collections
import hashlib
import html.parser
import os
import pathlib
import re
import shutil
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "PyPI"))
import pypi

LIMIT_MS = 60000
VOID = {"meta", "input"}


def check(condition, what):
    if not condition:
        raise SystemExit(f"{os.path.basename(sys.argv[0])}: {what}")


# MARK: - The file


class Page(html.parser.HTMLParser):
    """Check the file itself: it is balanced, labelled, and never uses the network."""

    def __init__(self, text, has_navigation=True, others=()):
        """others: names of other pages of the same folder."""
        super().__init__()
        self.open, self.ids, self.links, self.levels, self.labels, self.seen = [], [], [], [], set(), collections.Counter()
        self.inputs, self.attributes = [], []
        self.feed(text)
        self.close()
        check(not self.open, f"elements without an end: {self.open}")
        check(len(self.ids) == len(set(self.ids)), "an id is there twice")
        check(all(link[1:] in self.ids if link.startswith("#") else link in others for link in self.links), f"links: {self.links}")
        check(self.levels[0] == 1 and self.levels.count(1) == 1, "one first heading, before all others")
        check(all(new <= old + 1 for old, new in zip(self.levels, self.levels[1:])), f"headings leave out a level: {self.levels}")
        for tag in "header", "main", "footer", "title":
            check(self.seen[tag] == 1, f"{self.seen[tag]} times <{tag}>")
        check(self.seen["nav"] == has_navigation, f"{self.seen['nav']} times <nav>")
        check(("html", "lang", "en") in self.attributes, "the page names no language")
        check(not [name for _, name, _ in self.attributes if name in ("src", "style", "srcset", "action") or name.startswith("on")], "an attribute that loads or runs")

    def handle_starttag(self, tag, attrs):
        if "svg" not in self.open:
            self.seen[tag] += 1
        self.attributes += [(tag, name, value) for name, value in attrs]
        values = dict(attrs)
        if "id" in values:
            self.ids.append(values["id"])
        if "href" in values:
            self.links.append(values["href"])
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        if tag == "input":
            self.inputs.append((values["id"], "label" in self.open))
        if tag == "label" and "for" in values:
            self.labels.add(values["for"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        check(tag in ("line", "rect", "path"), f"<{tag}/>")
        check("svg" in self.open, f"<{tag}/> outside of a drawing")

    def handle_endtag(self, tag):
        check(self.open and self.open.pop() == tag, f"</{tag}> ends nothing")


def check_digests(text, **files):
    """The policy of a page names what is in the page, `tag="Swift file"`."""
    for tag, name in files.items():
        parts = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.S)
        check(len(parts) == 1, f"{len(parts)} times <{tag}>")
        digest = "sha256-" + base64.b64encode(hashlib.sha256(parts[0].encode()).digest()).decode()
        check(digest in text.replace("&#39;", "'"), f"the digest of {name}.swift must be {digest}")


def check_characters(text):
    check(not [c for c in text if (ord(c) < 32 and c != "\n") or c in "\u202e\u2028"], "a control character")


# MARK: - The browser


def become(folder):
    """Why there is no browser; None: there is one, and this Python drives it."""
    return pypi.run_again(folder, "playwright") if shutil.which("chromium") else "no chromium (Debian: chromium)"


# Texts whose contrast to their background is below that of WCAG 2, level AA.
FAINT = """least => {
  const parts = text => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const background = node => {
    for (; node; node = node.parentElement) {
      const color = parts(getComputedStyle(node).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const faint = [];
  let seen = 0;
  for (const node of document.querySelectorAll("body *:not(script)")) {
    if (![...node.childNodes].some(part => part.nodeType === 3 && part.data.trim()) || !node.checkVisibility()) continue;
    const style = getComputedStyle(node), color = parts(node.closest("svg") ? style.fill : style.color);
    const [a, b] = [light(color), light(background(node))].sort((x, y) => y - x), contrast = (a + .05) / (b + .05);
    seen += 1;
    if (contrast < 4.5) faint.push(`${node.tagName}.${node.getAttribute("class")} ${contrast.toFixed(2)} ${node.textContent.slice(0, 40)}`);
  }
  return seen > least ? [...new Set(faint)].slice(0, 10) : [`only ${seen} texts`];
}"""

# Parts that a screen reader could only call by their kind: their own text is no name.
UNNAMED = """() => [...document.querySelectorAll("svg[role=img], [role=region], nav, aside, section, ol[tabindex]")].filter(node => {
  const by = node.getAttribute("aria-labelledby");
  return !(node.getAttribute("aria-label") || (by && document.getElementById(by)?.textContent));
}).map(node => node.outerHTML.slice(0, 80))"""


class Browser:
    def __init__(self, playwright):
        self.chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"], timeout=LIMIT_MS)

    def open(self, path, width=1280, scheme="light", scripts=True, forced=False):
        """The page, and what the browser said of it and asked for."""
        colours = {"forced_colors": "active", "reduced_motion": "reduce"} if forced else {}
        context = self.chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, java_script_enabled=scripts, **colours)
        context.set_default_timeout(LIMIT_MS)
        page = context.new_page()
        said = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url))
        page.goto(path.as_uri())
        own = said.pop(0) if said else ""
        check(own == path.as_uri(), f"the first request is for {own}")
        return page, said

    def open_looks(self, path, least):
        """The page in each width and scheme, readable in each."""
        for width in 360, 1280:
            for scheme in "light", "dark":
                page, said = self.open(path, width, scheme)
                where = f"{path.name} at {width} px, {scheme}"
                page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
                check(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{where}: the page is wider than the screen")
                faint = page.evaluate(FAINT, least)
                check(not faint, f"{where}: texts too faint: {faint}")
                check(not page.evaluate(UNNAMED), f"{where}: parts without a name: {page.evaluate(UNNAMED)}")
                page.evaluate("document.querySelectorAll('details').forEach(part => part.open = false)")
                yield page, width, scheme
                check(not said, f"{where}: the browser said or asked for {said}")
                page.context.close()

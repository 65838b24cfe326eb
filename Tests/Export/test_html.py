"""The page of a run, in a browser: test_html.py --tool T --victim V --browser FOLDER

A program crashes, the tool makes the page, and headless Chromium opens it: dark and light, on a
phone and on a desktop, with and without scripts, on paper. FOLDER gets Playwright from PyPI once.
Without Chromium or Playwright the file alone is checked, and the reason is printed. --pictures DIR
keeps screenshots for a person to look at.
"""

import argparse
import base64
import collections
import hashlib
import html.parser
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile

PLAYWRIGHT = "playwright==1.65.2"
LIMIT_MS = 60000
HOSTILE = "<script>alert(1)</script>"
VOID = {"meta", "input"}


def check(condition, what):
    if not condition:
        raise SystemExit(f"test_html.py: {what}")


# MARK: - The file


class Page(html.parser.HTMLParser):
    """What the file itself must be: balanced, labelled, and without a word to the network."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.levels, self.labels, self.seen = [], [], [], [], set(), collections.Counter()
        self.inputs, self.attributes = [], []
        self.feed(text)
        self.close()
        check(not self.open, f"elements without an end: {self.open}")
        check(len(self.ids) == len(set(self.ids)), "an id is there twice")
        check(all(link.startswith("#") and link[1:] in self.ids for link in self.links), f"links: {self.links}")
        check(self.levels[0] == 1 and self.levels.count(1) == 1, "one first heading, before all others")
        check(all(new <= old + 1 for old, new in zip(self.levels, self.levels[1:])), f"headings leave out a level: {self.levels}")
        for tag in "header", "nav", "main", "footer", "title":
            check(self.seen[tag] == 1, f"{self.seen[tag]} times <{tag}>")
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


def check_file(text):
    page = Page(text)
    check(page.inputs and all(labelled or name in page.labels for name, labelled in page.inputs), f"inputs without labels: {page.inputs}")
    check(len(re.findall('<code class="fingerprint">[0-9a-f]{32}</code>', text)) == 1, "the fingerprint is no fact of the run")
    check(HOSTILE not in text and "onerror=alert(1)>" not in text, "an annotation became markup")
    check(not [c for c in text if (ord(c) < 32 and c != "\n") or c in "\u202e\u2028"], "a control character")
    for tag, name in ("style", "HTMLStyle"), ("script", "HTMLScript"):
        parts = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.S)
        check(len(parts) == 1, f"{len(parts)} times <{tag}>")
        digest = "sha256-" + base64.b64encode(hashlib.sha256(parts[0].encode()).digest()).decode()
        check(digest in text.replace("&#39;", "'"), f"the digest of {name}.swift must be {digest}")


# MARK: - The browser


def install(folder):
    """Why there is no browser; None: there is one."""
    if not shutil.which("chromium"):
        return "no chromium (Debian: chromium)"
    if not os.path.exists(os.path.join(folder, PLAYWRIGHT)):
        pip = [os.path.join(folder, "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "--retries", "1",
               "--timeout", "20", PLAYWRIGHT]
        for step in [sys.executable, "-m", "venv", folder], pip:
            try:
                result = subprocess.run(step, capture_output=True, text=True, timeout=300, check=False)
            except (OSError, subprocess.TimeoutExpired) as error:
                return str(error)
            if result.returncode != 0:
                return (result.stderr.strip().splitlines() or ["pip fails"])[-1]
        open(os.path.join(folder, PLAYWRIGHT), "w", encoding="utf-8").close()
    return None


# Texts whose contrast to what is behind them is below that of WCAG 2, level AA.
FAINT = """() => {
  const parts = text => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const behind = node => {
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
    const [a, b] = [light(color), light(behind(node))].sort((x, y) => y - x), contrast = (a + .05) / (b + .05);
    seen += 1;
    if (contrast < 4.5) faint.push(`${node.tagName}.${node.getAttribute("class")} ${contrast.toFixed(2)} ${node.textContent.slice(0, 40)}`);
  }
  return seen > 100 ? [...new Set(faint)].slice(0, 10) : [`only ${seen} texts`];
}"""

# Parts that a screen reader could only call by their kind: their own text is no name.
UNNAMED = """() => [...document.querySelectorAll("svg[role=img], [role=region], nav, aside, section, ol[tabindex]")].filter(node => {
  const by = node.getAttribute("aria-labelledby");
  return !(node.getAttribute("aria-label") || (by && document.getElementById(by)?.textContent));
}).map(node => node.outerHTML.slice(0, 80))"""


class Browser:
    def __init__(self, playwright):
        self.chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"], timeout=LIMIT_MS)

    def open(self, path, width=1280, scheme="light", scripts=True):
        """The page, and what the browser said of it and asked for."""
        context = self.chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, java_script_enabled=scripts)
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


def check_looks(browser, path, pictures):
    for width in 360, 1280:
        for scheme in "light", "dark":
            page, said = browser.open(path, width, scheme)
            where = f"at {width} px, {scheme}"
            page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
            check(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{where}: the page is wider than the screen")
            faint = page.evaluate(FAINT)
            check(not faint, f"{where}: texts too faint: {faint}")
            check(not page.evaluate(UNNAMED), f"{where}: parts without a name: {page.evaluate(UNNAMED)}")
            page.evaluate("document.querySelectorAll('details').forEach(part => part.open = false)")
            if pictures:
                page.screenshot(path=pictures / f"page-{width}-{scheme}.png", full_page=True)
            check(not said, f"{where}: the browser said or asked for {said}")
            page.context.close()


def check_filters(browser, path, counts, scripts):
    page, said = browser.open(path, scripts=scripts)
    where = "with scripts" if scripts else "without scripts"
    visible = lambda: page.evaluate("[...document.querySelectorAll('.log li:not(.end)')].filter(row => row.checkVisibility()).length")
    check(visible() == sum(counts.values()), f"{where}: {visible()} breadcrumbs are shown")
    page.locator("label", has_text="warning and above").click()
    check(visible() == counts["warning"] + counts["error"], f"{where}: {visible()} warnings and above")
    page.keyboard.press("ArrowRight")
    check(visible() == counts["error"], f"{where}: the key leads to the errors, and {visible()} are shown")
    page.locator("label", has_text="all").first.click()
    page.locator("#facts .fingerprint").click()
    check(re.fullmatch("[0-9a-f]{32}", page.evaluate("getSelection().toString()")), f"{where}: a click selects {page.evaluate('getSelection().toString()')}")
    fold = page.locator("#threads details").first
    check(fold.locator(".frames").is_visible() is False, f"{where}: a thread is open at first")
    fold.locator("summary").focus()
    page.keyboard.press("Enter")
    check(fold.locator(".frames").is_visible(), f"{where}: the key opens no thread")
    check("threads" in fold.locator("summary").inner_text().lower() and "(6)" in fold.locator("summary").inner_text(), f"{where}: six threads with one stack are one")
    if scripts:
        page.fill("#search", "DISK took")
        check(visible() == counts["warning"] and page.inner_text("#found").startswith(f"{counts['warning']} of "), "the search")
        page.fill("#search", "")
        check(visible() == sum(counts.values()), "an empty search shows all")
        page.get_by_role("button", name="Open all threads").click()
        check(page.locator("#threads details:not([open])").count() == 0, "all threads open")
        page.get_by_role("button", name="Close all threads").click()
        check(page.locator("#threads details[open]").count() == 0, "all threads close")
    else:
        check(page.locator("#search").is_visible() is False, "a search that cannot search")
    page.reload()
    said.pop(0)
    page.keyboard.press("Tab")
    check(page.locator(".skip").bounding_box()["x"] >= 0, f"{where}: the first key leads to the content")
    page.emulate_media(media="print")
    check(page.locator("#memory details pre").is_visible(), f"{where}: the map is folded on paper")
    check(page.locator("nav").is_visible() is False, f"{where}: links on paper")
    check(page.pdf().startswith(b"%PDF"), f"{where}: no paper")
    check(not said, f"{where}: the browser said or asked for {said}")
    page.context.close()


def check_policy(browser, path):
    """What an attacker who got past the escapes could do: nothing. And what is said is heard."""
    changed = path.with_name("changed.html")
    with socket.create_server(("127.0.0.1", 0)) as server:
        evil = f"<script>document.title = 'owned'</script><img src='http://127.0.0.1:{server.getsockname()[1]}/'><p style='position:fixed'>p</p>"
        changed.write_text(path.read_text("utf-8").replace("<footer>", evil + "<footer>"), "utf-8")
        page, said = browser.open(changed)
        check(page.title() != "owned", "a script that is not the page's runs")
        check(len([text for text in said if "Content Security Policy" in text]) >= 3, f"the browser said {said}")
        page.context.close()
        server.setblocking(False)
        try:
            server.accept()
        except BlockingIOError:
            return
    raise SystemExit("test_html.py: the browser connected to a server")


def check_in_browser(path, pictures):
    from playwright.sync_api import sync_playwright

    counts = collections.Counter(re.findall(r'<li class="(detail|info|notice|warning|error)"><span class="when"', path.read_text("utf-8")))
    check(counts["warning"] == 6 and counts["error"] == 1 and sum(counts.values()) > 240, f"breadcrumbs: {counts}")
    with sync_playwright() as playwright:
        browser = Browser(playwright)
        try:
            check_looks(browser, path, pictures)
            check_filters(browser, path, counts, scripts=True)
            check_filters(browser, path, counts, scripts=False)
            check_policy(browser, path)
        finally:
            browser.chromium.close()


# MARK: - The run


def crash(victim, state):
    for action, status in ("fine", 0), ("crash", -11), ("fine", 0), ("crash", -11), ("crash", -11):
        result = subprocess.run([victim, state, action], capture_output=True, timeout=120, check=False)
        check(result.returncode == status, f"{victim} {action}: {result.returncode}: {result.stderr}")


def main():
    parser = argparse.ArgumentParser()
    for name in "--tool", "--victim", "--browser":
        parser.add_argument(name, required=True, type=os.path.abspath)
    parser.add_argument("--pictures", type=pathlib.Path)
    arguments = parser.parse_args()
    missing = install(arguments.browser)
    python = os.path.join(arguments.browser, "bin/python")
    if not missing and os.path.realpath(sys.prefix) != os.path.realpath(arguments.browser):
        return subprocess.run([python, "-B", os.path.abspath(__file__)] + sys.argv[1:], check=False, timeout=900).returncode
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "page.html"
        crash(arguments.victim, folder + "/state")
        subprocess.run([arguments.tool, "export", "--format", "html", "-o", path, folder + "/state"], check=True, timeout=300)
        check_file(path.read_text("utf-8"))
        if missing:
            print(f"test_html.py: the page is right as a file; left out: the browser: {missing}")
            return 0
        if arguments.pictures:
            arguments.pictures.mkdir(parents=True, exist_ok=True)
        check_in_browser(path, arguments.pictures)
    print("test_html.py: the page of a crash is right, as a file and in Chromium")
    return 0


sys.exit(main())

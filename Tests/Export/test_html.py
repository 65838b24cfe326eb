"""The page of a run, in a browser: test_html.py --tool T --victim V --browser FOLDER

A program crashes, the tool makes the page, and headless Chromium opens it: dark and light, on a
phone and on a desktop, with and without scripts, on paper. FOLDER gets Playwright from PyPI once.
Without Chromium or Playwright the file alone is checked, and the reason is printed. --pictures DIR
keeps screenshots for a person to look at.
"""

import argparse
import collections
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile

from pages import Browser, Page, become, check, check_characters, check_digests

HOSTILE = "<script>alert(1)</script>"


# MARK: - The file


def check_file(text):
    page = Page(text)
    check(page.inputs and all(labelled or name in page.labels for name, labelled in page.inputs), f"inputs without labels: {page.inputs}")
    check(len(re.findall('<code class="fingerprint">[0-9a-f]{32}</code>', text)) == 1, "the fingerprint is no fact of the run")
    check(HOSTILE not in text and "onerror=alert(1)>" not in text, "an annotation became markup")
    check_characters(text)
    check_digests(text, style="HTMLStyle", script="HTMLScript")


def check_looks(browser, path, pictures):
    for page, width, scheme in browser.open_looks(path, least=100):
        if pictures:
            page.screenshot(path=pictures / f"page-{width}-{scheme}.png", full_page=True)


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
    check(fold.locator("> .frames").is_visible() is False, f"{where}: a thread is open at first")
    fold.locator("> summary").focus()
    page.keyboard.press("Enter")
    check(fold.locator("> .frames").is_visible(), f"{where}: the key opens no thread")
    check("threads" in fold.locator("> summary").inner_text().lower() and "(6)" in fold.locator("> summary").inner_text(), f"{where}: six threads with one stack are one")
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


def check_choice_in_forced_colours(browser, path):
    """Where the reader's own colours replace those of the page, what is chosen still looks so."""
    page, said = browser.open(path, forced=True)
    # The computed style is not what the browser draws.
    level = page.locator("#level-info + span")
    before = level.screenshot()
    page.evaluate("document.querySelector('#level-info').checked = true")
    check(level.screenshot() != before, "with forced colours a chosen level looks as the others do")
    check(page.evaluate("parseFloat(getComputedStyle(document.querySelector('h1 .end')).borderTopWidth) > 0"), "the end has no frame with forced colours")
    check(page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto", "links glide although motion is reduced")
    check(not said, f"the browser said or asked for {said}")
    page.context.close()


def check_phone(browser, path):
    """On a phone the axis is scrolled to the crash, with the names of the levels beside it."""
    page, said = browser.open(path, width=360)
    names = page.evaluate("""[...document.querySelectorAll(".axis text.label")].filter(text => {
      const { left, right } = text.getBoundingClientRect(), box = text.closest(".scroll").getBoundingClientRect();
      return text.checkVisibility() && left >= box.left && right <= box.right;
    }).map(text => text.textContent)""")
    check({"error", "warning", "notice", "info", "debug", "the crash"} <= set(names), f"on a phone the axis shows {names}")
    check(not said, f"the browser said or asked for {said}")
    page.context.close()


def check_policy(browser, path):
    """An attacker who got past the escapes can do nothing, and the browser reports the attempt."""
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
            check_choice_in_forced_colours(browser, path)
            check_phone(browser, path)
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
    missing = become(arguments.browser)
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

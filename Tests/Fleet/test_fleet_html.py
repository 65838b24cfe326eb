"""The pages of a fleet: test_fleet_html.py --tool T --victim V --copies C --browser FOLDER

Three versions run on four devices, the last one with a crash that is new. Headless Chromium opens
`top --html`, `top --version --html` and `show --html`: dark and light, on a phone and on a desktop,
without scripts, by keyboard, on paper. FOLDER is that of Tests/Export/test_html.py; where there is
no browser, the files alone are checked, and the reason is printed. --pictures DIR keeps
screenshots.
"""

import argparse
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("Export", "Support")]

import blanks
from pages import Browser, Page, become, check, check_characters, check_digests
from waiting import wait_until

LIMIT_S = 300
DAY_S = 86400
START_S = 1_760_000_000 // DAY_S * DAY_S
# A sheet of A4 without its margins, in pixels of CSS.
PAPER = 718


# MARK: - The fleet


def make_fleet(arguments, folder):
    """The pages, by name, and the rows that the first one has to show."""
    files, lines = {}, []
    for end in "clean", "write", "divide", "abort", "kill":
        subprocess.run([arguments.victim, folder / "sources" / end, "1.0", end], capture_output=True, timeout=LIMIT_S, check=False)
        (files[end],) = (folder / "sources" / end / "runs").glob("*.lgrun")
    for device in range(4):
        state = folder / "devices" / f"kiosk-{device}"
        (state / "runs").mkdir(parents=True)
        for number in range(1, 25):
            version = 1 + number // 9
            end = ["clean", "abort", "clean", "divide", "kill" if device else "clean"][number % 5]
            if version == 3 and number % 2:
                end = "write"
            start = START_S + number * DAY_S // 2
            lines.append(f"{files[end]} {state} {number} {start} 1.{version} {device + 1:032x} org.example.{'fleet' if device < 3 else 'other'}\n")
    subprocess.run([arguments.copies], input="".join(sorted(lines)), text=True, check=True, timeout=LIMIT_S)

    def tool(*words):
        return subprocess.run([arguments.tool, *words], capture_output=True, text=True, check=True, timeout=LIMIT_S).stdout

    database = folder / "fleet.db"
    tool("collect", "--into", database, folder / "devices")
    with sqlite3.connect(database) as connection:
        # As of a template, or of a hostile file: nowhere to break the line.
        connection.execute("UPDATE bug SET headline = ? WHERE ending = 'crash' AND headline LIKE '%division%'", ("integer division by zero in " + "x" * 1000,))
    connection.close()
    groups = [json.loads(line) for line in tool("top", "--json", database).splitlines()]
    new = [json.loads(line) for line in tool("top", "--json", "--version", "1.2..1.3", database).splitlines()][0]
    check(new["change"]["kind"] == "new" and new["place"] == "in fleet_victim_write", f"the first of the comparison: {new}")
    pages = {"top": ["top", "--html"], "versions": ["top", "--html", "--version", "1.2..1.3"], "show": ["show", "--html", new["bug"]]}
    for name, words in pages.items():
        (folder / f"{name}.html").write_text(tool(*words, database), encoding="utf-8")
    found = {name: folder / f"{name}.html" for name in pages}
    tool("mute", groups[-1]["bug"], database)
    tool("resolve", new["bug"], "--in", "1.3", database)
    tool("top", "--all", "--pages", folder / "pages", database)
    for path in (folder / "pages").iterdir():
        found[path.stem] = path
    return found, groups, new


def check_file(name, text, others=()):
    page = Page(text, others=others)
    others = {link for link in page.links if not link.startswith("#")}
    check(bool(others) == name.startswith(("index", "bug", "run")), f"{name}: links to {others}")
    if name.startswith("run"):
        check("script-src" in text, f"{name}: no filter of its breadcrumbs")
        check_characters(text)
        return
    check("<script" not in text and "script-src" not in text, f"{name}: a script")
    check_characters(text)
    check_digests(text, style="HTMLStyle")


# MARK: - The browser


def check_ranking(browser, path, groups):
    """The page as a person sees and copies it, without a script, by mouse and by keys."""
    page, said = browser.open(path, scripts=False)
    rows = page.locator("#ranking tbody tr")
    check(rows.count() == len(groups), f"{rows.count()} rows")
    for index, group in enumerate(groups):
        cells = rows.nth(index).locator("td").all_inner_texts()
        check((cells[0], cells[1], cells[-1]) == (str(group["devices"]), str(group["runs"]), group["bug"]), f"row {index}: {cells}")
        share = 100 * group["runs"] / group["total"]
        check(abs(float(cells[2].removesuffix("\u00a0%")) - share) <= 0.05, f"row {index}: {cells}")
        check(group["headline"] in cells[3], f"row {index}: {cells}")
        bars = rows.nth(index).locator("svg").get_attribute("aria-label")
        check(bars == ", ".join(map(str, group["trend"])), f"row {index}: the bars are {bars}")
    rows.nth(1).locator(".fingerprint").click()
    check(page.evaluate("getSelection().toString()") == groups[1]["bug"], "a click selects the fingerprint")
    page.reload()
    page.keyboard.press("Tab")
    check(page.locator(".skip").bounding_box()["x"] >= 0, "the first key leads to the figures")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    check(page.evaluate("document.activeElement.getAttribute('role')") == "region", "the next key leads to the table")
    check(all(text.startswith("file:") for text in said), f"the browser said or asked for {said}")
    page.context.close()


def check_example(browser, path):
    """The parts are reached by the links, and threads unfold, without a script."""
    page, said = browser.open(path, scripts=False)

    def check_reached(link):
        target = link.get_attribute("href")
        wait_until(lambda: page.evaluate("location.hash") == target, f"{target} is reached")
        check(page.locator(target).is_visible(), f"{target} is not shown")

    page.locator("nav a").first.click()
    check_reached(page.locator("nav a").first)
    for link in page.locator("nav a").all():
        link.focus()
        page.keyboard.press("Enter")
        check_reached(link)
    fold = page.locator("details").first
    fold.locator("summary").focus()
    page.keyboard.press("Enter")
    check(fold.get_attribute("open") is not None, "the key unfolds nothing")
    check(all(text.startswith("file:") for text in said), f"the browser said or asked for {said}")
    page.context.close()


def check_ways(browser, pages, groups, new):
    """From a fingerprint to its bug, to its run, and back, without a script; whole labels."""
    page, said = browser.open(pages["index"], scripts=False)
    for group in groups:
        for link in page.locator("#ranking a").filter(has_text=group["bug"][:12]), page.locator("#fingerprints tr").filter(has_text=group["fingerprints"][0]).locator("a"):
            check(link.first.get_attribute("href") in {f"bug-{other['bug']}.html" for other in groups}, f"the link of {group['bug']}")
    row = page.locator("#fingerprints tr").filter(has_text=new["fingerprints"][0]).filter(has_text=new["headline"])
    row.locator("a").click()
    check(page.url.endswith(f"bug-{new['bug']}.html"), f"a fingerprint leads to {page.url}")
    check("resolved in 1.3, seen again in 1.3" in page.locator("#figures").inner_text(), "what was decided")
    page.locator("#runs a").click()
    check("/run-" in page.url, f"a bug leads to {page.url}")
    seen = page.locator("header a").first
    check(seen.inner_text() == f"Seen {new['runs']} times on {new['devices']} devices", f"the run says {seen.inner_text()}")
    # Frames of libraries and of LaunchGuard are folded.
    shown = page.locator("#thread ol.frames > li:visible").all_inner_texts()
    check(len(shown) == 3 and "fleet_victim_write" in shown[0] and "main" in shown[1] and "frames of libc" in shown[2], f"the frames are {shown}")
    seen.click()
    check(page.url.endswith(f"bug-{new['bug']}.html"), f"a run leads back to {page.url}")
    page.get_by_text("All bugs").click()
    check(page.url.endswith("index.html"), f"a bug leads back to {page.url}")
    check(all(text.startswith("file:") for text in said), f"the browser said or asked for {said}")
    page.context.close()


# Texts that their own box cuts.
CUT = """() => [...document.querySelectorAll("a, td, th, dt, dd, summary, h1, h2, code")].filter(part => part.checkVisibility() &&
  getComputedStyle(part).display !== "inline" && part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).overflowX !== "visible")
  .map(part => part.outerHTML.slice(0, 80))"""

# Texts that are outside of the screen, and that nobody can scroll to.
OUTSIDE = """() => [...document.querySelectorAll("td, th, dt, dd, summary, h1, h2, code, a")].filter(part => part.checkVisibility() &&
  !part.closest(".scroll, .skip") && part.getBoundingClientRect().right > innerWidth + 1).map(part => part.outerHTML.slice(0, 80))"""

# Labels of drawings that are outside of their drawing.
CLIPPED = """() => [...document.querySelectorAll("svg text")].filter(text => text.checkVisibility()).filter(text => {
  const [own, all] = [text.getBoundingClientRect(), text.closest("svg").getBoundingClientRect()];
  return own.left < all.left - 0.5 || own.right > all.right + 0.5 || own.bottom > all.bottom + 0.5;
}).map(text => text.textContent)"""

# Words that were broken in the middle because their column is narrow.
BROKEN = """() => [...document.querySelectorAll(".figures td, .figures th")].filter(part => part.checkVisibility()).flatMap(part => {
  const walk = document.createTreeWalker(part, NodeFilter.SHOW_TEXT), found = [];
  while (walk.nextNode()) for (const word of walk.currentNode.data.matchAll(/(?<![^\\s-])[^\\s-]{2,24}(?![^\\s-])/g)) {
    const range = document.createRange();
    range.setStart(walk.currentNode, word.index); range.setEnd(walk.currentNode, word.index + word[0].length);
    if (new Set([...range.getClientRects()].map(r => Math.round(r.top))).size > 1) found.push(word[0]);
  }
  return found;
})"""


def check_labels(browser, path, pictures):
    for width in 390, 1200:
        page, _ = browser.open(path, width=width)
        for what, script in (("cut", CUT), ("outside", OUTSIDE), ("clipped", CLIPPED), ("broken", BROKEN)):
            found = page.evaluate(script)
            check(not found, f"{path.name} at {width} px: {what}: {found[:5]}")
        if pictures:
            page.screenshot(path=pictures / f"{path.stem[:12]}-{width}.png", full_page=True)
        page.context.close()


def check_paper(browser, path):
    page, _ = browser.open(path, width=PAPER)
    page.emulate_media(media="print")
    wide = page.evaluate("""() => [...document.querySelectorAll("table, pre, svg, dl")].filter(part => part.checkVisibility() &&
        part.getBoundingClientRect().right > innerWidth + 1).map(part => part.outerHTML.slice(0, 60))""")
    check(not wide, f"{path.name}: wider than the paper: {wide}")
    check(page.locator("nav").is_visible() is False, f"{path.name}: links on paper")
    check(page.pdf().startswith(b"%PDF"), f"{path.name}: no paper")
    page.context.close()


def check_in_browser(pages, groups, new, pictures):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = Browser(playwright)
        try:
            for name, path in pages.items():
                check_labels(browser, path, pictures)
                if name.startswith("run"):
                    continue  # as those of Tests/Export/test_html.py
                for page, width, scheme in browser.open_looks(path, least=20):
                    if name != "show":
                        hidden = page.evaluate("[...document.querySelectorAll('.fingerprint')].filter(part => part.getBoundingClientRect().right > innerWidth).length")
                        check(hidden == 0, f"{name} at {width} px: {hidden} fingerprints are outside of the screen")
                    if pictures:
                        page.screenshot(path=pictures / f"{name}-{width}-{scheme}.png", full_page=True)
                check_paper(browser, path)
            check_ranking(browser, pages["top"], groups)
            page, _ = browser.open(pages["versions"])
            first = page.locator("#ranking tbody tr").first
            check(first.locator("b.bad").inner_text() == "new" and new["bug"] in first.inner_text(), f"the new crash comes first: {first.inner_text()}")
            page.context.close()
            check_example(browser, pages["show"])
            check_ways(browser, pages, groups, new)
        finally:
            browser.chromium.close()


def main():
    parser = argparse.ArgumentParser()
    for name in "--tool", "--victim", "--copies", "--browser":
        parser.add_argument(name, required=True, type=os.path.abspath)
    parser.add_argument("--pictures", type=pathlib.Path)
    arguments = parser.parse_args()
    missing = become(arguments.browser)
    with tempfile.TemporaryDirectory() as folder:
        pages, groups, new = make_fleet(arguments, pathlib.Path(folder))
        for name, path in pages.items():
            check_file(name, path.read_text("utf-8"), {other.name for other in pages.values() if other.parent == path.parent})
        if missing:
            print(f"test_fleet_html.py: the pages are right as files; left out: the browser: {missing}")
            return 0
        if arguments.pictures:
            arguments.pictures.mkdir(parents=True, exist_ok=True)
        check_in_browser(pages, groups, new, arguments.pictures)
    print("test_fleet_html.py: the pages of a fleet are right, as files and in Chromium")
    return 0


sys.exit(main())

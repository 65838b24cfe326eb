/// Additions to a page where scripts run: a search in the breadcrumbs, buttons that fold all
/// threads, and open folds on paper in browsers older than the style. The page is complete without
/// scripts.
enum HTMLScript {
    /// SHA-256 of the text, as the policy of the page names it. `Tests/Export/test_html.py` says
    /// which it must be.
    static let digest = "sha256-XtZJsX32hYX0rOvLAHyAVADI065/EQQaggwpftJUzY4="

    static let text: StaticString = #"""

        "use strict";
        for (const part of document.querySelectorAll("[data-script]")) part.hidden = false;
        for (const part of document.querySelectorAll(".axis")) part.parentElement.scrollLeft = part.parentElement.scrollWidth;

        for (const part of document.querySelectorAll("svg .this")) {
          const box = part.closest(".scroll"), left = part.getBoundingClientRect().left - box.getBoundingClientRect().left;
          if (left > box.clientWidth / 2) box.scrollLeft += left - box.clientWidth / 2;
        }

        const log = document.querySelector(".log");
        if (log) log.scrollTop = log.scrollHeight;
        const search = document.querySelector("#search");
        if (search) {
          const rows = [...log.querySelectorAll("li:not(.end)")], texts = rows.map(row => row.textContent.toLowerCase());
          search.addEventListener("input", () => {
            const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
            let found = 0;
            rows.forEach((row, index) => {
              row.hidden = !words.every(word => texts[index].includes(word));
              if (!row.hidden) found += 1;
            });
            document.querySelector("#found").textContent = words.length ? `${found} of ${rows.length} breadcrumbs` : "";
          });
        }

        for (const button of document.querySelectorAll("button[data-fold]")) {
          button.addEventListener("click", () => {
            for (const part of button.closest("section").querySelectorAll("details")) part.open = button.dataset.fold === "open";
          });
        }

        let folded = [];
        addEventListener("beforeprint", () => {
          folded = [...document.querySelectorAll("details:not([open])")];
          for (const part of folded) part.open = true;
        });
        addEventListener("afterprint", () => { for (const part of folded) part.open = false; });

        """#

    /// Shown by the script.
    static let search: StaticString = """
        <p class="search" hidden data-script><label for="search">Search</label><input type="search" id="search">\
        <output id="found" for="search" aria-live="polite"></output></p>
        """

    /// Shown by the script.
    static let foldButtons: StaticString = """
        <p class="buttons" hidden data-script><button type="button" data-fold="open">Open all threads</button>\
        <button type="button" data-fold="close">Close all threads</button></p>
        """
}

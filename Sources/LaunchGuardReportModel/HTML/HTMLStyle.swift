/// The style of a page: dark and light, phone, desktop and paper.
enum HTMLStyle {
    /// SHA-256 of the text, as the policy of the page names it. `Tests/Export/test_html.py` says
    /// which it must be.
    static let digest = "sha256-HgvYbL1coSOLK0HJLCKeL3lDdMj29iA9OvenSWJmDUI="

    static let text: StaticString = #"""

        :root { color-scheme: light dark; --page: #f4f5f8; --card: #fff; --sunk: #f1f3f6; --text: #1b1f26; --dim: #555d69; --line: #d9dee5;
          --bad: #b3261e; --doubtful: #855300; --good: #1a6f3c; --neutral: #444c59; --accent: #1f55c4; --on: #fff;
          --code: #7a4fd0; --data: #2f7fd6; --constants: #8a94a3; --reserved: #cfd5de; --own: #eaf1ff; }
        @media screen and (prefers-color-scheme: dark) { :root { --page: #0e1116; --card: #161b22; --sunk: #0f141a; --text: #e6eaf0;
          --dim: #a0aab8; --line: #2b333e; --bad: #ff8f84; --doubtful: #f2bd52; --good: #74d394; --neutral: #c3cad5; --accent: #8cb4ff;
          --on: #14181d; --code: #b697ff; --data: #5ea5f5; --constants: #77818f; --reserved: #343d49; --own: #182438; } }
        * { box-sizing: border-box; }
        [hidden] { display: none !important; }
        html { scroll-behavior: smooth; scroll-padding-top: 5rem; }
        body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; }
        body > * { max-width: 82rem; margin-inline: auto; padding-inline: 1.25rem; }
        code, pre, .registers dd, .when, .frames { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
        code, pre, .registers dd, .frames { font-size: 13px; }
        .fingerprint { user-select: all; }
        dl { font-size: 14px; }
        p, pre, dl, ol, ul, figure, h1, h2, h3 { margin: 0; padding: 0; }
        a { color: var(--accent); }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
        .skip { position: absolute; left: -100rem; }
        .skip:focus { left: .5rem; top: .5rem; padding: .4rem .8rem; background: var(--card); z-index: 2; }
        .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }

        header { padding-block: 1.75rem 1rem; display: grid; gap: .75rem; justify-items: start; }
        .program { display: flex; flex-wrap: wrap; gap: .1rem 1rem; color: var(--dim); overflow-wrap: anywhere; }
        .program strong { color: var(--text); }
        h1 { font-size: clamp(1.15rem, 1rem + 1.2vw, 1.7rem); line-height: 1.3; font-weight: 650; overflow-wrap: anywhere; text-wrap: pretty; }
        h1 .end { display: inline-block; padding: .05em .6em; margin-right: .5em; border-radius: .35em; background: var(--neutral); color: var(--on); }
        h1 .end.bad { background: var(--bad); } h1 .end.doubtful { background: var(--doubtful); } h1 .end.good { background: var(--good); }
        .message { width: 100%; display: flex; gap: .9rem; border-left: 4px solid var(--bad); background: var(--card); padding: .6rem .9rem; border-radius: 0 .4rem .4rem 0; }
        .message figcaption, .evidence, .note, figcaption { color: var(--dim); }
        .message pre { margin: 0; font-size: 14px; align-self: center; unicode-bidi: plaintext; }
        .warning { color: var(--doubtful); padding-left: 1.3em; text-indent: -1.3em; overflow-wrap: anywhere; }
        .warning::before { content: "⚠ "; }
        .bad { color: var(--bad); } .doubtful { color: var(--doubtful); } .good { color: var(--good); }

        nav { position: sticky; top: 0; z-index: 1; background: var(--page); border-bottom: 1px solid var(--line); }
        nav ul { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; list-style: none; white-space: nowrap; padding-block: .55rem; }
        nav a { text-decoration: none; } nav a:hover { text-decoration: underline; }

        main { padding-block: 1.25rem; display: grid; gap: 1.25rem; grid-template-columns: minmax(0, 1fr); }
        .columns, .story, aside { display: grid; gap: 1.25rem; align-content: start; grid-template-columns: minmax(0, 1fr); }
        @media (min-width: 64rem) { .columns { grid-template-columns: minmax(0, 1fr) 25rem; } }
        section { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: 1rem 1.15rem 1.15rem; display: grid; gap: .8rem;
          grid-template-columns: minmax(0, 1fr); align-content: start; }
        h2 { font-size: 1.08rem; overflow-wrap: anywhere; } h3 { font-size: 1rem; padding-top: .6rem; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
        pre { white-space: pre-wrap; overflow-wrap: anywhere; }
        .badge { font-size: .8rem; border: 1px solid currentColor; border-radius: 1rem; padding: 0 .6em; font-weight: 500; }

        dl { display: grid; grid-template-columns: fit-content(9rem) minmax(0, 1fr); gap: .3rem .9rem; }
        dt { color: var(--dim); grid-column: 1; overflow-wrap: anywhere; } dd { margin: 0; grid-column: 2; overflow-wrap: anywhere; padding-top: .1em; white-space: pre-wrap; unicode-bidi: plaintext; }
        .registers { grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); } .registers div { display: grid; grid-template-columns: 4.5rem 1fr; }

        .frames { list-style: none; border: 1px solid var(--line); border-radius: .4rem; overflow: hidden; }
        .frames li { display: grid; grid-template-columns: minmax(3.1rem, max-content) 10rem minmax(0, 1fr); gap: .1rem .7rem; padding: .32rem .7rem; border-top: 1px solid var(--line); }
        .frames li:first-child { border-top: 0; }
        .frames li > span, .frames li > code, .frames li > p, .gap { color: var(--dim); }
        .frames p { overflow-wrap: anywhere; } .frames b { color: var(--text); font-weight: 500; }
        .frames .own { background: var(--own); box-shadow: inset 3px 0 var(--accent); } .frames .own b { font-weight: 700; }
        .frames .gap { display: block; text-align: center; } .frames .others { display: block; }
        .frames details { grid-column: 3; border: 0; background: none; } .frames summary { padding: 0; color: var(--accent); } .frames details > p { margin: 0; }

        details { border: 1px solid var(--line); border-radius: .4rem; background: var(--card); }
        summary { cursor: pointer; padding: .5rem .8rem; overflow-wrap: anywhere; }
        summary:hover { background: var(--sunk); }
        summary code { display: block; color: var(--dim); padding-left: 1.1rem; }
        details > :not(summary) { margin: .2rem .8rem .8rem; }
        .buttons { display: flex; gap: .6rem; }
        button { font: inherit; color: var(--accent); background: var(--card); border: 1px solid var(--line); border-radius: .4rem; padding: .2rem .8rem; cursor: pointer; }
        button:hover { background: var(--sunk); }

        .drawing { display: grid; gap: .5rem; grid-template-columns: minmax(0, 1fr); } .scroll { overflow-x: auto; }
        svg { display: block; } svg text { font: 11px system-ui, "DejaVu Sans", sans-serif; fill: var(--dim); text-anchor: middle; }
        svg .lane, svg .tick { stroke: var(--line); stroke-width: 1; } svg .tick { stroke-dasharray: 2 4; }
        .axis { width: 100%; min-width: 44rem; } .axis text { font-size: 15px; } .axis .start { text-anchor: end; } .axis .far { display: none; } .axis text.end { text-anchor: end; fill: var(--bad); }
        .axis line.end { stroke: var(--bad); stroke-width: 3; }
        .axis .error { fill: var(--bad); } .axis .warning { fill: var(--doubtful); } .axis .notice { fill: var(--good); } .axis .info { fill: var(--accent); } .axis .detail { fill: var(--constants); }
        svg .left { text-anchor: start; } svg .bar, svg .symbol { fill: var(--neutral); } svg .symbol { font-size: 12px; font-weight: 600; }
        svg .bad { fill: var(--bad); } svg .doubtful { fill: var(--doubtful); } svg .good { fill: var(--good); }
        svg .this { fill: var(--own); stroke: var(--accent); stroke-width: 1.5; } svg .version { stroke: var(--dim); stroke-dasharray: 3 3; }
        .legend { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; color: var(--dim); font-size: 13px; } .legend li { overflow-wrap: anywhere; min-width: 0; }
        .key { display: inline-block; width: .8em; height: .8em; margin-right: .45em; border-radius: 2px; background: currentColor; }
        .memory { width: 100%; height: 60px; background: var(--sunk); border-radius: .3rem; } .memory .mark { stroke-width: 2.5; vector-effect: non-scaling-stroke; }
        .memory .code { fill: var(--code); } .memory .data { fill: var(--data); } .memory .constants { fill: var(--constants); } .memory .reserved { fill: var(--reserved); }
        .key.code { background: var(--code); } .key.data { background: var(--data); } .key.constants { background: var(--constants); } .key.reserved { background: var(--reserved); }
        .memory .mark.fault { stroke: var(--bad); } .memory .mark.counter { stroke: var(--text); } .memory .mark.pointer { stroke: var(--good); stroke-dasharray: 4 3; }
        .key.fault { background: var(--bad); } .key.counter { background: var(--text); } .key.pointer { background: var(--good); }
        .key.fault, .key.counter, .key.pointer { width: .3em; height: 1.1em; vertical-align: -.15em; }

        .ladder { list-style: none; border: solid var(--line); border-width: 0; }
        .ladder li { display: grid; grid-template-columns: 56px minmax(0, 1fr); gap: .8rem; padding-block: .3rem; align-items: center;
          background: linear-gradient(var(--constants), var(--constants)) 18px 0 / 3px 100% no-repeat, linear-gradient(var(--constants), var(--constants)) 47px 0 / 3px 100% no-repeat; }
        .ladder .none { padding-left: 72px; display: block; } .ladder b, .ladder span { overflow-wrap: anywhere; }
        .ladder span { display: block; color: var(--dim); font-size: 13px; } .ladder .rung { stroke: var(--constants); stroke-width: 4; stroke-linecap: round; }
        .ladder .next .rung { stroke: var(--doubtful); } .ladder .marker { fill: var(--doubtful); }
        table { border-collapse: collapse; font-size: 13px; } th, td { text-align: left; vertical-align: top; padding: .3rem .7rem; border-top: 1px solid var(--line); }
        td { min-width: 6rem; } .figures td { min-width: 0; } .figures td[data-label=Cause], #fingerprints td[data-label=Bug] { min-width: 12rem; overflow-wrap: anywhere; } .figures :is(td[data-label=Change], td[data-label=Versions]) { min-width: 8.5rem; } .figures code { font-size: 12px; } thead th { border: 0; color: var(--dim); font-weight: 500; } tr[aria-current] { background: var(--own); }

        .filters { display: flex; flex-wrap: wrap; gap: .6rem 1.5rem; align-items: end; }
        fieldset { border: 0; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: .4rem; } legend, .search label { color: var(--dim); padding: 0 0 .25rem; }
        fieldset label { position: relative; } fieldset input { position: absolute; opacity: 0; inset: 0; margin: 0; cursor: pointer; width: 100%; height: 100%; }
        fieldset span { display: block; border: 1px solid var(--line); border-radius: 1rem; padding: .1rem .8rem; }
        fieldset input:checked + span { background: var(--accent); border-color: var(--accent); color: var(--on); }
        fieldset input:focus-visible + span { outline: 3px solid var(--accent); outline-offset: 2px; }
        .search { flex: 1 1 14rem; } .search input { font: inherit; display: block; width: 100%; color: inherit; background: var(--sunk); border: 1px solid var(--dim); border-radius: .4rem; padding: .15rem .6rem; }
        output { color: var(--dim); font-size: 13px; }
        .log { list-style: none; max-height: 34rem; overflow: auto; border: 1px solid var(--line); border-radius: .4rem; font-size: 13.5px; }
        .log li { display: grid; grid-template-columns: 7.5rem 4.5rem minmax(0, 1fr); gap: .7rem; padding: .22rem .7rem; overflow-wrap: anywhere; border-left: 3px solid transparent; }
        .log li:nth-child(even) { background: var(--sunk); }
        .log .when { color: var(--dim); text-align: right; font-size: 12.5px; } .log .level { color: var(--dim); } .log code { color: var(--dim); } code { unicode-bidi: isolate; } .log bdi { white-space: pre-wrap; }
        .log .error { border-color: var(--bad); } .log .error .level { color: var(--bad); font-weight: 600; }
        .log .warning { border-color: var(--doubtful); color: inherit; text-indent: 0; } .log .warning::before { content: none; } .log .warning .level { color: var(--doubtful); font-weight: 600; }
        .log .end { border-color: var(--bad); border-top: 2px solid var(--bad); grid-template-columns: 7.5rem 1fr; font-weight: 600; }
        section:has(#level-info:checked) .log .detail, section:has(#level-notice:checked) .log :is(.detail, .info),
        section:has(#level-warning:checked) .log :is(.detail, .info, .notice), section:has(#level-error:checked) .log :is(.detail, .info, .notice, .warning) { display: none; }
        footer { color: var(--dim); padding-block: .5rem 2rem; font-size: 13px; }

        /* The axis scrolls here, and its begin is out of sight. */
        @media (max-width: 48rem) { .axis .far { display: block; } }
        @media (max-width: 40rem) {
          nav { position: static; }
          body > * { padding-inline: .8rem; } section { padding: .8rem .8rem 1rem; }
          .frames li { grid-template-columns: minmax(2.4rem, max-content) minmax(0, 1fr); gap: 0 .5rem; } .frames li > p, .frames li > details { grid-column: 2; }
          .log li { grid-template-columns: 7rem minmax(0, 1fr); gap: 0 .7rem; } .log li > :last-child { grid-column: 1 / -1; } .log .end { display: flex; }
          .log .when { text-align: left; }
          .message { flex-direction: column; gap: 0; } .message pre { align-self: start; }
          .figures, .figures tbody, .figures tr { display: block; } .figures thead { position: absolute; left: -100rem; }
          .figures tr { padding-block: .6rem; border-top: 1px solid var(--line); } .figures tr:first-child { border: 0; }
          .figures td { display: grid; grid-template-columns: 6rem minmax(0, 1fr); gap: 0 .6rem; border: 0; padding: .1rem 0; overflow-wrap: anywhere; }
          .figures td::before { content: attr(data-label); color: var(--dim); }
          dl { grid-template-columns: minmax(0, 1fr); gap: 0; } dd { grid-column: 1; margin-bottom: .45rem; } dd + dd { margin-top: -.4rem; }
        }
        @media print {
          :root { --page: #fff; --sunk: #fff; } body { font-size: 10pt; } nav, .filters, .buttons, .skip { display: none; }
          section { border: 0; border-top: 1px solid var(--line); border-radius: 0; padding-inline: 0; } main, .columns, .story, aside, section { display: block; } section > * + * { margin-top: .6rem; }
          .log { max-height: none; overflow: visible; border: 0; } .scroll { overflow: visible; } .axis { min-width: 0; } .axis .far { display: none; }
          .figures td, .figures code { overflow-wrap: anywhere; } .figures td[data-label] { min-width: 0; font-size: 8pt; padding-inline: .3rem; }
          details::details-content { content-visibility: visible; display: block; block-size: auto; } li, tr, svg, dt, dd { break-inside: avoid; } h2, h3 { break-after: avoid; }
          * { print-color-adjust: exact; }
        }
        @media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
        @media (forced-colors: active) { .key, svg rect { forced-color-adjust: none; } svg text { fill: CanvasText; } h1 .end { border: 2px solid; }
          fieldset input:checked + span { forced-color-adjust: none; color: HighlightText; background: Highlight; border-color: Highlight; }
          .frames .own { border-left: 3px solid; } .log li { border-left-color: Canvas; } .log :is(.error, .warning, .end) { border-left-color: CanvasText; } tr[aria-current] { outline: 2px solid; } }

        """#
}

"""The report as one HTML page without anything to load: failures open, the rest folded, a filter that works without a server."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from harness.reports.summary import Summary
from harness.scenario.running.verdicts import CaseReport, Verdict

__all__ = ["render"]

_STYLE = """
:root{color-scheme:light dark}
body{font:14px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#1b1f24;background:#fff}
body{overflow-wrap:anywhere}h1{font-size:1.3rem}code,pre{font:12px/1.5 ui-monospace,monospace}
details{border-left:4px solid #2da44e;margin:.3rem 0;padding:.1rem .8rem}summary{cursor:pointer}
.failed,.error,.xpassed{border-color:#cf222e}.skipped,.xfailed{border-color:#bf8700}
.expected{color:#116329;white-space:pre-wrap}.found{color:#a40e26;white-space:pre-wrap}.note{color:#57606a;white-space:pre-wrap}
ul{margin:.2rem 0;padding-left:1.2rem}li.holds{color:#57606a;list-style:"✓  "}li.fails{list-style:"✗  "}
input{width:100%;box-sizing:border-box;padding:.4rem;margin:.8rem 0;font:inherit}
@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}.expected{color:#56d364}.found{color:#ff7b72}
.note,li.holds{color:#9198a1}}
"""
_SCRIPT = """
const box=document.querySelector('input');box.addEventListener('input',()=>{const q=box.value.toLowerCase();
for(const d of document.querySelectorAll('details'))d.hidden=!d.textContent.toLowerCase().includes(q)});
"""


def render(summary: Summary) -> str:
    """The page."""
    counted = ", ".join(f"{count} {outcome}" for outcome, count in summary.counts.items()) or "no scenarios"
    body = "\n".join(_case(case) for case in (*summary.bad, *(one for one in summary.cases if one not in summary.bad)))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>Scenarios: {escape(counted)}</title>"
        f"<style>{_STYLE}</style></head><body>\n<h1>{escape(counted)}</h1>\n"
        f"<p>{summary.verdicts} expectations in {summary.seconds:.2f} s</p>\n"
        f'<input type="search" placeholder="filter" aria-label="filter">\n{body}\n<script>{_SCRIPT}</script></body></html>\n'
    )


def _case(case: CaseReport) -> str:
    opened = " open" if case.failures or case.error else ""
    lines = "\n".join(_verdicts(case))
    reason = f" <span class=note>{escape(case.reason)}</span>" if case.reason else ""
    return (
        f"<details class={case.outcome}{opened}><summary>{case.outcome} <code>{escape(case.id)}</code> "
        f"<span class=note>{case.seconds * 1000:.0f} ms</span>{reason}</summary>\n<ul>\n{lines}\n</ul></details>"
    )


def _verdicts(case: CaseReport) -> Iterator[str]:
    if case.error:
        yield f'<li class="fails found">{escape(case.error)}</li>'
    for verdict in case.verdicts:
        yield _verdict(verdict)


def _verdict(verdict: Verdict) -> str:
    if verdict.holds:
        return f"<li class=holds>{escape(verdict.label)}</li>"
    parts = [f"<li class=fails><b>{escape(verdict.label)}</b> <code>{escape(str(verdict.mark))}</code>"]
    for one in verdict.differences:
        path = f"{escape(one.path)}: " if one.path else ""
        parts.append(f"<div class=expected>expected {path}{escape(one.expected)}</div>")
        parts.append(f"<div class=found>found {path}{escape(one.actual)}</div>")
        if one.note:
            parts.append(f"<div class=note>{escape(one.note)}</div>")
    return "".join(parts) + "</li>"

"""The style of a comparison's page, light and dark."""

CSS = """
:root {
  color-scheme: light dark;
  --ground: #ffffff; --raised: #f6f7f9; --line: #dfe2e7; --text: #1d2127; --dim: #626b78;
  --a: #b3261e; --b: #1a7f37; --a-ground: #ffe3e0; --b-ground: #d8f5df; --change: #9a6700; --move: #0a66c2;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171b; --raised: #1c2026; --line: #333a44; --text: #e4e7eb; --dim: #98a2b0;
    --a: #ff8f87; --b: #6fd78b; --a-ground: #56201c; --b-ground: #173f24; --change: #e3b341; --move: #79b8ff;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 90rem; background: var(--ground); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.3rem; margin: 0 0 .75rem; }
h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
code, .text, .numbers, .label { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  font-size: 13px; }
.side-a { color: var(--a); } .side-b { color: var(--b); }
.dim, .who { color: var(--dim); }
table { border-collapse: collapse; }
th, td { padding: .2rem 1.2rem .2rem 0; text-align: right; font-variant-numeric: tabular-nums;
  overflow-wrap: anywhere; }
th { font-weight: normal; vertical-align: bottom; }
td:first-child { text-align: left; color: var(--dim); }
td:first-child, td:last-child { white-space: nowrap; }
.parting { border: 1px solid var(--a); border-left-width: 5px; border-radius: 6px; padding: .6rem 1rem;
  margin: 1.2rem 0; }
.parting strong { color: var(--a); }
.here { color: var(--a); font-weight: 600; border-top: 2px solid var(--a); margin-top: 1.2rem; padding-top: .2rem; }
.pair { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; overflow: hidden; }
.pair > header { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: baseline; background: var(--raised);
  padding: .3rem .8rem; }
.numbers { min-width: 6.5rem; color: var(--dim); }
.label { font-weight: 600; overflow-wrap: anywhere; }
.kind { font-size: 13px; }
.changed .kind { color: var(--change); } .moved .kind { color: var(--move); }
.deleted .kind { color: var(--a); } .inserted .kind { color: var(--b); }
.took { margin-left: auto; color: var(--dim); font-size: 13px; }
.path { padding: .4rem .8rem 0; font-size: 13px; }
.path code { font-weight: 600; }
.both { display: grid; grid-template-columns: 1fr 1fr; gap: 0 .8rem; padding: .2rem .8rem .6rem; }
a { color: inherit; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; padding: .4rem .6rem;
  border-left: 3px solid var(--line); max-height: 32rem; overflow: auto; }
.both > .text:first-child { border-color: var(--a); } .both > .text:last-child { border-color: var(--b); }
.one { padding: .4rem .8rem .6rem; }
del, ins { text-decoration: none; border-radius: 3px; padding: 0 1px; }
del { background: var(--a-ground); color: var(--a); } ins { background: var(--b-ground); color: var(--b); }
.absent { color: var(--dim); font-style: italic; }
details.equal { margin: .5rem 0; color: var(--dim); }
details.equal > .row { display: flex; gap: 1rem; padding: .1rem .8rem; color: var(--text); }
details.equal > .row .gist { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--dim); }
.row .numbers, .row .label { flex: none; } .row .label { font-weight: normal; }
summary { cursor: pointer; }
.fold { display: inline; } .fold > summary { display: inline; color: var(--dim); list-style: none; }
.fold[open] > summary { display: none; }
.note { color: var(--dim); font-style: italic; padding: 0 .8rem .5rem; }
@media (max-width: 46rem) {
  body { padding: .8rem; }
  .both { grid-template-columns: 1fr; gap: .3rem; }
  .took { margin-left: 0; }
}
"""

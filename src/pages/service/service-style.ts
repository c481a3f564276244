/** Rules of the service's pages beside those of all pages. */
export const SERVICE_STYLE = `
main { max-width: 60rem; min-height: 0; align-content: start; gap: 1.25rem; padding-top: 1rem; }
main > *, .grid > *, .card > * { min-width: 0; }
.skip { position: absolute; left: -999rem; } .skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .5rem 1rem; }
.top { max-width: 60rem; margin: 0 auto; padding: 1rem; display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1.5rem; }
.top .brand { display: flex; align-items: center; gap: .6rem; font-weight: 700; color: inherit; text-decoration: none; margin-right: auto; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; margin: 0; padding: 0; }
nav a { color: var(--soft); text-decoration: none; padding: .4rem 0; display: inline-block; }
nav a:hover, nav a[aria-current] { color: var(--ink); }
nav a[aria-current] { border-bottom: 2px solid var(--accent); }
footer { max-width: 60rem; margin: 0 auto; padding: 0 1rem 2rem; color: var(--soft); font-size: .9rem; }
h1 { font-size: 1.75rem; margin: 0; } h2 { font-size: 1.2rem; margin: 0 0 .75rem; } h3 { font-size: 1rem; margin: 1.25rem 0 .5rem; }
dl { grid-template-columns: minmax(7rem, auto) 1fr; } dd { text-align: left; overflow-wrap: anywhere; }
.grid { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr)); }
.grid .card { padding: 1.25rem; display: flex; flex-direction: column; gap: .35rem; }
.card > h2:last-child, .card > p:last-child, .card > dl:last-child, .card > pre:last-child { margin-bottom: 0; }
.grid h2 { margin: 0; font-size: 1.05rem; } .grid p { margin: 0; } .grid .foot { margin-top: auto; padding-top: .5rem; }
ul.plain { list-style: none; margin: 0; padding: 0; display: grid; gap: .5rem; }
.row { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .25rem 1rem; }
.tag { display: inline-block; border: 1px solid var(--line); border-radius: 99px; padding: .05rem .6rem; font-size: .85rem; color: var(--soft); margin: 0 .3rem .3rem 0; text-decoration: none; }
.dot { display: inline-block; width: .65rem; height: .65rem; border-radius: 50%; margin-right: .5rem; background: #2e9e5b; }
.dot.degraded { background: #d99a1c; } .dot.down { background: var(--bad); }
.price { font-size: 1.35rem; }
code, .mono { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; }
pre { margin: .5rem 0; background: var(--paper); }
input, select, textarea { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: 8px; padding: .5rem .65rem; width: 100%; min-height: 2.75rem; }
label { display: grid; gap: .2rem; font-size: .9rem; color: var(--soft); } label input, label select, label textarea { color: var(--ink); font-size: 1rem; }
form.filter { display: grid; gap: .75rem; grid-template-columns: 1fr; align-items: end; }
@media (min-width: 40rem) { form.filter { grid-template-columns: 1fr 1fr 1fr; } form.filter button { width: auto; } }
@media (min-width: 60rem) { form.filter { grid-template-columns: 2fr 1fr 1fr 1fr max-content auto; } }
@media (max-width: 17rem) { .top { padding: .5rem; } h1 { font-size: 1.35rem; } dl { grid-template-columns: minmax(0, 1fr); } .grid .card { padding: .75rem; } }
@media print { .top nav, .skip, footer, .no-print { display: none; } body { background: #fff; color: #000; } .card { border: 0; padding: 0; } }
`;

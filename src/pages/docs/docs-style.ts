/** Rules of the API document beside those of the service's pages. */
export const DOCS_STYLE = `
ul.tags { gap: .25rem; } ul.tags a { padding: .1rem .7rem; color: var(--ink); }
.fields { display: grid; gap: .75rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 14rem), 1fr)); }
.operation { border-top: 1px solid var(--line); }
.operation summary { padding: .6rem 0; display: flex; flex-wrap: wrap; gap: .25rem .6rem; align-items: baseline; }
.method { font: 700 .75rem ui-monospace, monospace; border: 1px solid var(--line); border-radius: 6px; padding: .1rem .4rem; min-width: 3.6rem; text-align: center; }
.method.post, .method.patch { border-color: var(--accent); color: var(--accent); } .method.delete { border-color: var(--bad); color: var(--bad); }
.inside { padding: 0 0 1.25rem; }
.inside dl { grid-template-columns: minmax(0, 1fr); } @media (min-width: 40rem) { .inside dl { grid-template-columns: minmax(8rem, 14rem) 1fr; } }
.inside pre { max-height: 26rem; overflow: auto; white-space: pre; }
form.try { border: 1px solid var(--line); border-radius: 10px; padding: 0 1rem 1rem; margin-top: 1.25rem; }
form.try:not([hidden]) { display: grid; gap: .75rem; }
form.try button { width: auto; justify-self: start; padding: .6rem 2rem; }
textarea { font-family: ui-monospace, monospace; font-size: .9rem; }
.answer pre { white-space: pre-wrap; overflow-wrap: anywhere; }
`;

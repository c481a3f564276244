/**
 * Rules of texts, facts and buttons wherever they stand. Their colours are the custom properties of a page. A screen is narrower than 17rem
 * where a reader has set large letters on a phone, or zooms.
 */
export const CONTROL_STYLE = `*, ::before, ::after { box-sizing: border-box; }
h1 { font-size: 1.4rem; line-height: 1.25; margin: 0 0 .75rem; text-wrap: balance; }
p { margin: .5rem 0; }
h1, h2, h3, p, dd, li, pre { unicode-bidi: plaintext; }
a { color: var(--accent); }
.soft { color: var(--soft); }
.small { font-size: .9rem; }
.problem { border-left: 4px solid var(--bad); padding-left: .75rem; }
button, .button { font: inherit; font-weight: 600; display: flex; align-items: center; justify-content: center; gap: .6rem; width: 100%;
  min-height: 3rem; padding: .6rem 1rem; border: 1px solid transparent; border-radius: 10px; background: var(--accent); color: var(--on-accent);
  text-decoration: none; cursor: pointer; text-align: center; }
button.plain, .button.plain { background: none; color: var(--ink); border-color: var(--line); }
button:hover, .button:hover { filter: brightness(1.08); }
button:disabled { opacity: .6; cursor: default; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .25rem 1rem; margin: 1rem 0; font-size: .9rem; }
dt { color: var(--soft); }
dd { margin: 0; text-align: right; }
pre { padding: .75rem; border: 1px solid var(--line); border-radius: 8px; overflow-x: auto; font-size: .8rem; white-space: pre-wrap; }
summary { cursor: pointer; }
@media (max-width: 17rem) {
  h1 { font-size: 1.2rem; }
  dl { grid-template-columns: minmax(0, 1fr); gap: 0; } dd { text-align: start; margin-bottom: .5rem; }
  button, .button { flex-direction: column; gap: .25rem; padding: .5rem; }
}
`;

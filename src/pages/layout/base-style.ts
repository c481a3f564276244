import { CONTROL_STYLE } from './control-style.js';
import type { PageColours } from './page-colours.js';

/** Rules of all pages, in the colours of a brand. */
export function baseStyle(light: PageColours, dark: PageColours): string {
  return `:root{color-scheme:light dark;${properties(light)}}
@media (prefers-color-scheme:dark){:root{${properties(dark)}}}
${CONTROL_STYLE}${RULES}`;
}

function properties(colours: PageColours): string {
  return Object.entries(colours)
    .map(([name, value]) => `--${name}:${value};`)
    .join('');
}

const RULES = `body { font: 1.0625rem/1.5 system-ui, sans-serif; margin: 0; background: var(--paper); color: var(--ink); overflow-wrap: anywhere; }
main { max-width: 32rem; margin: 0 auto; padding: 2rem 1rem 3rem; min-height: 100vh; display: grid; align-content: center; gap: 1rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: 1.75rem; }
@media (max-width: 30rem) { main { padding: 1rem .75rem; } .card { padding: 1.25rem; } }
@media (max-width: 17rem) { main { padding: .5rem .35rem 1rem; } .card { padding: .75rem; } }
`;

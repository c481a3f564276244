import { CONTROL_STYLE } from '../../layout/control-style.js';
import { PAYWALL_STYLE } from '../../paywall/paywall-style.js';

/** The colours and the letters are those of the site; custom properties of it say more. */
const HOST_STYLE = `
:host { display: block;
  --accent: var(--tollhouse-accent, light-dark(#4a32c9, #a99bff));
  --on-accent: var(--tollhouse-on-accent, light-dark(#fff, #14101f));
  --ink: currentColor;
  --soft: var(--tollhouse-soft, color-mix(in srgb, currentColor 76%, transparent));
  --line: var(--tollhouse-line, color-mix(in srgb, currentColor 24%, transparent));
  --bad: var(--tollhouse-bad, light-dark(#a31621, #ff9c9c)); }
:host([hidden]) { display: none; }
.card { border: 1px solid var(--line); border-radius: var(--tollhouse-radius, 14px); padding: 1.25rem; margin: 1rem 0; overflow-wrap: anywhere; }
.heading { font-weight: 600; margin-top: 0; }
dl { margin: .75rem 0; }
button.retry { width: auto; margin: 1rem auto; }
`;

let sheet: CSSStyleSheet | undefined;

/** The rules of an element's shadow tree. A sheet that is made so needs no leave of the site's policy. */
export function elementSheet(): CSSStyleSheet {
  if (sheet === undefined) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(CONTROL_STYLE + PAYWALL_STYLE + HOST_STYLE);
  }
  return sheet;
}

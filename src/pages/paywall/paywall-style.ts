/** Rules of paywall pages beside those of all pages. */
export const PAYWALL_STYLE = `
.brand { display: flex; align-items: center; gap: .6rem; font-weight: 600; padding: 0 .25rem; }
.price { font-size: 1.9rem; line-height: 1.2; margin-right: .35rem; }
fieldset { border: 0; padding: 0; margin: 0; display: grid; gap: .5rem; }
legend { padding: 0; margin-bottom: .5rem; color: var(--soft); font-size: .9rem; }
.offer { display: flex; align-items: center; gap: .75rem; border: 1px solid var(--line); border-radius: 10px; padding: .6rem .9rem; cursor: pointer; }
.offer:has(:checked) { border-color: var(--accent); outline: 1px solid var(--accent); }
.offer input { accent-color: var(--accent); width: 1.15rem; height: 1.15rem; margin: 0; flex: none; }
.offer .price { font-size: 1.15rem; }
#action { display: grid; gap: .6rem; margin-top: 1.25rem; }
#action:empty { margin: 0; }
#action img.icon { width: 1.5rem; height: 1.5rem; border-radius: 6px; }
#action :is(img, audio, video).answer { max-width: 100%; }
#forget { margin-top: .9rem; border: 0; color: var(--soft); font-weight: 400; min-height: 2rem; }
#forget[hidden] { display: none; }
#status { min-height: 1.5em; margin: 1.25rem 0 0; }
#status:empty { margin: 0; min-height: 0; }
#status:not(:empty) + #action { margin-top: .9rem; }
details { padding: 0 .25rem; }
@media (max-width: 17rem) { .price { font-size: 1.5rem; } .offer { gap: .5rem; padding: .5rem; } }
`;

import type { DocsData } from '../docs/docs-data.js';
import { showResponse, textElement } from './show-response.js';
import { requestOf } from './wire/docs-request.js';

const { base, texts }: DocsData = JSON.parse(document.getElementById('data')?.textContent ?? '');
const underWay = new WeakMap<HTMLFormElement, AbortController>();

async function send(form: HTMLFormElement): Promise<void> {
  const place = form.querySelector('.answer');
  if (place === null) return;
  underWay.get(form)?.abort();
  const controller = new AbortController();
  underWay.set(form, controller);
  place.replaceChildren(textElement('p', texts.sending));
  try {
    const { url, init } = requestOf(form, base);
    await showResponse(await fetch(url, { ...init, signal: controller.signal }), place, texts);
  } catch (error) {
    if (!controller.signal.aborted) place.replaceChildren(textElement('p', `${texts.noAnswer} ${String(error)}`));
  }
}

/** Opens the operation that the address names. */
function openNamed(): void {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (named instanceof HTMLDetailsElement) named.open = true;
}

for (const form of document.querySelectorAll<HTMLFormElement>('form.try')) {
  const { server } = form.dataset;
  // What others serve is theirs to show: nothing is sent there from here.
  form.hidden = server !== undefined && new URL(server).origin !== location.origin;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send(form);
  });
}
document.getElementById('credentials')?.removeAttribute('hidden');
window.addEventListener('hashchange', openNamed);
openNamed();

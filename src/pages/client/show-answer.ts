import type { PaywallStateTexts } from '../texts/page-texts.js';
import type { View } from './view.js';

/**
 * Shows all of an answer in this page that cannot be had by going to it: what it is of decides how.
 * @param place - what shows it already. Default: what its type is shown in
 */
export async function showWhole(
  view: View,
  texts: PaywallStateTexts,
  answer: Response,
  blob: Blob,
  place?: HTMLElement,
): Promise<void> {
  const address = URL.createObjectURL(blob);
  const shown = place ?? (await mediaOf(answer, blob, address));
  const save = document.createElement('a');
  save.className = 'button';
  save.href = address;
  save.download = nameOf(answer);
  save.textContent = texts.save;
  view.say(texts.paidHere);
  view.offer(...(shown === undefined ? [] : [shown]), save);
  save.focus();
}

/** An element that shows an image, a sound, a film or a text; undefined for anything else. */
export async function mediaOf(answer: Response, blob: Blob, address: string): Promise<HTMLElement | undefined> {
  const type = answer.headers.get('Content-Type') ?? '';
  const [kind = ''] = type.split('/');
  if (kind === 'image' || kind === 'audio' || kind === 'video') {
    const element = document.createElement(kind === 'image' ? 'img' : kind);
    if (element instanceof HTMLMediaElement) element.controls = true;
    else element.alt = nameOf(answer);
    element.src = address;
    element.className = 'answer';
    return element;
  }
  if (!/^text\/(?!html)|json/.test(type)) return undefined;
  const element = document.createElement('pre');
  element.textContent = await blob.text();
  return element;
}

/** The name of an answer as a file. */
export function nameOf({ headers, url }: Response): string {
  const told = /filename="?([^";]+)/i.exec(headers.get('Content-Disposition') ?? '')?.[1];
  return told ?? new URL(url || location.href).pathname.split('/').findLast((it) => it !== '') ?? 'answer';
}

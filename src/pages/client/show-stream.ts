import type { PaywallStateTexts } from '../texts/page-texts.js';
import { nameOf, showWhole } from './show-answer.js';
import { button, type View } from './view.js';
import { blobOf } from './wire/read-answer.js';

/** What came first leaves the page for what comes: some answers go on for days. */
const MOST_TEXTS = 5_000;

/** Shows an answer as it comes, as text where it is text; what has come can be saved. At its end it stands as any other. */
export async function showStream(
  view: View,
  texts: PaywallStateTexts,
  answer: Response,
  retry: HTMLElement,
): Promise<void> {
  const parts: BlobPart[] = [];
  const place = textPlace(answer);
  const save = button(texts.save, () => saveAs(nameOf(answer), blobOf(parts, answer)));
  const shown = place === undefined ? [save] : [place, save];
  view.offer(...shown);
  if (place !== undefined) view.say(texts.paidHere);
  try {
    await readInto(answer, parts, place);
  } catch {
    // The line is gone: what has come stays, and may be had again.
    view.offer(...shown, retry);
    return;
  }
  if (save.isConnected) await showWhole(view, texts, answer, blobOf(parts, answer), place);
}

/** An element for the text of an answer as it comes; undefined where it has none. */
function textPlace({ headers }: Response): HTMLElement | undefined {
  if (!/^text\/|json|xml/i.test(headers.get('Content-Type') ?? '')) return undefined;
  const place = document.createElement('pre');
  place.className = 'answer';
  place.tabIndex = 0;
  return place;
}

/** Reads an answer to its end, if it has one. */
async function readInto(answer: Response, parts: BlobPart[], place: HTMLElement | undefined): Promise<void> {
  const reader = answer.body?.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) return;
    parts.push(value);
    place?.append(decoder.decode(value, { stream: true }));
    if (place !== undefined && place.childNodes.length > MOST_TEXTS) place.firstChild?.remove();
  }
}

function saveAs(name: string, blob: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
}

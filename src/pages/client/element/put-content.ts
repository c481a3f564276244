import { mediaOf, nameOf } from '../show-answer.js';
import type { ElementRequest } from './element-request.js';

interface MarkupPolicy {
  createHTML(html: string): string;
}

interface MarkupPolicies {
  createPolicy(name: string, rules: MarkupPolicy): MarkupPolicy;
}

/** Where Trusted Types are enforced, the site's policy has to name this one: `trusted-types tollhouse`. */
const POLICY = 'tollhouse';

let policy: MarkupPolicy | undefined;

/**
 * What is put into the page for an answer: the markup of the site's own server, an image, a sound, a film or a text, and a link to anything
 * else. Script elements in markup do not run, as in all that a parser makes without a page; handlers in it do, where the site's policy lets them.
 */
export async function contentOf(answer: Response, request: ElementRequest): Promise<readonly Node[]> {
  if (answer.type === 'opaqueredirect') return [link(request.url, request.url)];
  const blob = await answer.blob();
  const made = isForPage(answer, request) ? markupOf(await blob.text(), request.select) : undefined;
  if (made !== undefined) return made;
  const address = URL.createObjectURL(blob);
  const media = await mediaOf(answer, blob, address);
  if (media !== undefined) return [media];
  // Whoever opens a page of others as a tab must not open it in the name of this site.
  const file = link(URL.createObjectURL(new Blob([blob], { type: 'application/octet-stream' })), nameOf(answer));
  file.download = nameOf(answer);
  return [file];
}

/** A page of its own server that is to be saved, or has rules of its own for what may run in it, is no part of another page. */
function isForPage({ headers }: Response, { isForeign }: ElementRequest): boolean {
  const isHtml = /^text\/html/i.test(headers.get('Content-Type') ?? '');
  const isFile = /^attachment/i.test(headers.get('Content-Disposition') ?? '');
  return isHtml && !isFile && !isForeign && !headers.has('Content-Security-Policy');
}

function markupOf(html: string, select: string | null): readonly Node[] | undefined {
  const trusted = trustedMarkup(html);
  if (trusted === undefined) return undefined;
  const { body } = new DOMParser().parseFromString(trusted, 'text/html');
  const part = select === null ? null : body.querySelector(select);
  return part === null ? [...body.childNodes] : [part];
}

/** Undefined where the site's policy lets nobody, or not this script, make markup. */
function trustedMarkup(html: string): string | undefined {
  const policies: MarkupPolicies | undefined = Reflect.get(window, 'trustedTypes');
  if (policies === undefined) return html;
  try {
    policy ??= policies.createPolicy(POLICY, { createHTML: (it) => it });
    return policy.createHTML(html);
  } catch {
    // The browser has said so in its console.
    return undefined;
  }
}

function link(href: string, text: string): HTMLAnchorElement {
  const element = document.createElement('a');
  element.href = href;
  element.textContent = text;
  return element;
}

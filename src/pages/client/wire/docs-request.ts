import { credentialsIn } from './credentials.js';

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** A request as somebody has put it together. */
export interface TriedRequest {
  readonly url: string;
  readonly init: RequestInit;
}

/**
 * The request that a form of the API document describes.
 * @param base - path of the service on this site
 */
export function requestOf(form: HTMLFormElement, base: string): TriedRequest {
  const { method = 'GET', path = '/', server } = form.dataset;
  const fields = [...form.querySelectorAll<Field>('[data-in]')];
  const of = (place: string) => fields.filter((it) => it.dataset['in'] === place && it.value !== '');
  const filled = path.replace(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(of('path').find((it) => it.name === name)?.value ?? ''),
  );
  const query = new URLSearchParams(of('query').map(({ name, value }) => [name, value]));
  const headers = new Headers({ Accept: 'application/json' });
  for (const { name, value } of of('header')) headers.set(name, value);
  if (server === undefined) for (const [name, value] of credentialsIn(document)) headers.set(name, value);
  const [body] = of('body');
  if (body !== undefined) headers.set('Content-Type', body.dataset['type'] ?? 'application/json');
  const url = new URL(location.origin);
  url.pathname = (server === undefined ? base : '') + filled;
  url.search = query.toString();
  const sent = body === undefined ? {} : { body: body.value };
  return { url: url.href, init: { method, headers, ...sent, redirect: 'manual', cache: 'no-store' } };
}

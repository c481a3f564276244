import { PaywallElement, type Unlocked } from './element/paywall-element.js';

const NAME = 'tollhouse-paywall';

// A page may have the script under two addresses.
if (customElements.get(NAME) === undefined) customElements.define(NAME, PaywallElement);

/**
 * Puts a paywall into an element of the page: what stands in that is the preview, below it come the terms, and what is bought takes the
 * place of both.
 * @param place - element that holds the preview
 * @param src - address behind a gate
 * @param attributes - further attributes of `<tollhouse-paywall>`. Default: none
 * @returns what was opened, once it is; a promise that rejects where the attributes are wrong
 */
export function unlock(
  place: Element,
  src: string,
  attributes: Readonly<Record<string, string>> = {},
): Promise<Unlocked> {
  const element = document.createElement(NAME);
  for (const [name, value] of Object.entries({ ...attributes, src })) element.setAttribute(name, value);
  const opened = new Promise<Unlocked>((resolve, reject) => {
    element.addEventListener('tollhouse-unlocked', (event) => resolve(Reflect.get(event, 'detail')), { once: true });
    element.addEventListener('error', (event) => reject(event.error), { once: true });
  });
  element.append(...place.childNodes);
  place.append(element);
  return opened;
}

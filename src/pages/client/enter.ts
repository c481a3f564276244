import type { PageRequest } from '../paywall/paywall-data.js';
import { fromBase64 } from './wire/bytes.js';

const COOKIE = 'payment-signature';
/** Long enough for a navigation, short enough that no other one brings it. */
export const COOKIE_SECONDS = 20;
const MAX_COOKIE_LENGTH = 3_900;

/** Whether a payment can be brought by going to what it has bought. */
export function canEnterWith({ method, body }: PageRequest, header: string): boolean {
  const isForm = method === 'POST' && (body === undefined || isUrlEncoded(body.type));
  return navigator.cookieEnabled && header.length <= MAX_COOKIE_LENGTH && (method === 'GET' || isForm);
}

/**
 * Goes to what was bought: the browser itself asks for it, at the same address, and shows it as if it had never had a price. A payment
 * comes with that once, in a cookie.
 */
export function enter(request: PageRequest, header?: string): void {
  if (header !== undefined) setCookie(header, COOKIE_SECONDS);
  if (request.method === 'POST') postAgain(request);
  else location.reload();
}

/** Takes back what an earlier visit may have left. */
export function clearPaymentCookie(): void {
  setCookie('', 0);
}

function setCookie(value: string, seconds: number): void {
  const path = location.pathname.includes(';') ? '/' : location.pathname;
  const secure = location.protocol === 'https:' ? '; Secure' : '';
  document.cookie = `${COOKIE}=${value}; Path=${path}; Max-Age=${seconds}; SameSite=Strict${secure}`;
}

function isUrlEncoded(type: string): boolean {
  return type.split(';')[0]?.trim().toLowerCase() === 'application/x-www-form-urlencoded';
}

/** Sends the form that met the gate, field by field. */
function postAgain({ body }: PageRequest): void {
  const form = document.createElement('form');
  form.method = 'post';
  form.action = location.href;
  const text = body === undefined ? '' : new TextDecoder().decode(fromBase64(body.base64));
  for (const [name, value] of new URLSearchParams(text)) {
    const field = document.createElement('input');
    field.type = 'hidden';
    field.name = name;
    field.value = value;
    form.append(field);
  }
  document.body.append(form);
  // A field may be called "submit".
  HTMLFormElement.prototype.submit.call(form);
}

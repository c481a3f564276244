import type { PageRequest } from '../paywall/paywall-data.js';
import { fromBase64 } from './wire/bytes.js';
import { pause } from './wire/send-request.js';

const COOKIE = 'payment-signature';
/** Long enough for a navigation, short enough that no other one brings it. */
const COOKIE_SECONDS = 20;
const MAX_COOKIE_LENGTH = 3_900;

/** Whether a payment can be brought by going to what it has bought. Browsers that keep no cookies do not all say so: it is tried. */
export function canEnterWith({ method, body }: PageRequest, header: string): boolean {
  const isForm = method === 'POST' && (body === undefined || isReadableForm(body));
  if (header.length > MAX_COOKIE_LENGTH || !(method === 'GET' || isForm)) return false;
  try {
    setCookie(header, COOKIE_SECONDS);
    const kept = paymentCookies();
    setCookie('', 0);
    // Beside one of another page of this host the server could not tell which is meant.
    return kept.length === 1 && kept[0] === header;
  } catch {
    return false;
  }
}

/** Whether this browser keeps cookies of this site. */
export function keepsCookies(): boolean {
  try {
    setCookie('-', COOKIE_SECONDS);
    const isKept = paymentCookies().includes('-');
    setCookie('', 0);
    return isKept;
  } catch {
    return false;
  }
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

/**
 * Waits beside a browser that goes with a payment to what it buys, for as long as it may bring it. Answers whether it has come there and
 * this page stands all the same, as it does beside a file or where there is nothing to show: the answer took the payment's cookie back.
 */
export async function hasComeBeside(header: string): Promise<boolean> {
  for (let second = 1; second < COOKIE_SECONDS; second += 1) {
    await pause(1);
    if (paymentCookies().includes(header)) continue;
    // A page that is shown takes this one's place now.
    await pause(1);
    return true;
  }
  return false;
}

/** Takes back what an earlier visit may have left. */
export function clearPaymentCookie(): void {
  try {
    setCookie('', 0);
  } catch {
    // A browser that lets no script at its cookies has none.
  }
}

function paymentCookies(): readonly string[] {
  const pairs = document.cookie.split(';').map((pair) => pair.trim());
  return pairs.filter((pair) => pair.startsWith(`${COOKIE}=`)).map((pair) => pair.slice(COOKIE.length + 1));
}

function setCookie(value: string, seconds: number): void {
  const path = location.pathname.includes(';') ? '/' : location.pathname;
  const secure = location.protocol === 'https:' ? '; Secure' : '';
  document.cookie = `${COOKIE}=${value}; Path=${path}; Max-Age=${seconds}; SameSite=Strict${secure}`;
}

/** Whether a form can be sent again field by field: a page in another encoding than UTF-8 has sent other bytes than this one would. */
function isReadableForm({ type, base64 }: NonNullable<PageRequest['body']>): boolean {
  if (type.split(';')[0]?.trim().toLowerCase() !== 'application/x-www-form-urlencoded') return false;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(fromBase64(base64));
    decodeURIComponent(text.replaceAll('+', ' '));
    return true;
  } catch {
    return false;
  }
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

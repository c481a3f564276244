import type { PaywallData } from '../paywall/paywall-data.js';
import { COOKIE_SECONDS, canEnterWith, clearPaymentCookie, enter } from './enter.js';
import { savedPayment, savePayment } from './payment/saved-payment.js';
import { Paywall } from './paywall.js';
import { showAnswer } from './show-answer.js';
import { offerSignOut } from './sign-out.js';
import { button, chosenIn, pageView } from './view.js';
import { pause } from './wire/send-request.js';

/** What is longer may not be kept by the server for the one who comes for it. */
const MAX_KEPT_BYTES = 1_000_000;
/** Who is back here so often has a browser that does not bring what it is given, or brings something else. */
const MOST_ENTRIES = 20;
const USED = 'payment_already_used';
const ASKED_AGAIN = 'tollhouse asked again ';

const data: PaywallData = JSON.parse(document.getElementById('data')?.textContent ?? '');
const { request, texts } = data;
const view = pageView();
/** Whether what was bought may be gone to; else it is shown here. */
let mayEnter = true;
const paywall = new Paywall(data, {
  view,
  chosen: () => chosenIn(document),
  open,
  async enterPaid(header) {
    enterPaid(header, false);
    // This page is left with the money: nobody else pays for the same until it is where it goes.
    await pause(COOKIE_SECONDS);
  },
  resumePaid({ header, entries = 0 }) {
    if (data.isOutage) {
      paywall.say('away');
      return view.offer(button(texts.tryAgain, () => enterPaid(header)));
    }
    // A visit without a payment has no problem: one was brought, and opened nothing.
    if (data.problem !== undefined || entries > MOST_ENTRIES) {
      mayEnter = false;
      return paywall.goOn(header, true);
    }
    paywall.say('alreadyPaid');
    view.offer(button(texts.comeIn, () => enterPaid(header)));
    enterPaid(header);
  },
  enter: () => enter(request),
  reload: () => location.reload(),
});

/** What is paid stands in the place of this page, where the browser can go to it. */
async function open(answer: Response, header: string | undefined): Promise<void> {
  paywall.say('opening');
  // The browser stays where it is.
  if (answer.status === 204 || answer.status === 205) return paywall.say('paidDone');
  const isForPage = answer.type === 'opaqueredirect' || (await isSmall(answer.clone()));
  const isDownload = /^attachment/i.test(answer.headers.get('Content-Disposition') ?? '');
  if (header === undefined) return request.method === 'GET' ? enter(request) : showAnswer(view, texts, answer);
  if (mayEnter && isForPage && !isDownload && canEnterWith(request, header)) return enterPaid(header);
  // A pass that came as a cookie lets the browser in as well.
  if (request.method === 'GET' && !isDownload && answer.headers.has('Access-Pass-Remaining')) return enter(request);
  await showAnswer(view, texts, answer);
}

async function isSmall(answer: Response): Promise<boolean> {
  return (await answer.blob()).size <= MAX_KEPT_BYTES;
}

function enterPaid(header: string, isPaid = true): void {
  const entries = (savedPayment(request.key)?.entries ?? 0) + 1;
  savePayment(request.key, { header, isPaid, entries });
  enter(request, header);
}

/**
 * Whether this visit came with a payment of another tab that had just gone to the same path: without it a pass may open this. Once for
 * each request: a cookie that cannot be taken back comes again.
 */
function mustAskAgain(): boolean {
  if (data.problem !== USED || savedPayment(request.key) !== undefined) return false;
  try {
    const hasAsked = sessionStorage.getItem(ASKED_AGAIN + request.key) !== null;
    sessionStorage.setItem(ASKED_AGAIN + request.key, '');
    return !hasAsked;
  } catch {
    return false;
  }
}

clearPaymentCookie();
if (mustAskAgain()) enter(request);
else {
  offerSignOut(request, () => enter(request));
  document.addEventListener('change', () => paywall.showWallets());
  paywall.start();
}

import type { PaywallData } from '../paywall/paywall-data.js';
import { canEnterWith, clearPaymentCookie, enter, hasComeBeside } from './enter.js';
import { ALREADY_USED } from './payment/bring-payment.js';
import { savedPayment, savePayment } from './payment/saved-payment.js';
import { Paywall } from './paywall.js';
import { showWhole } from './show-answer.js';
import { showStream } from './show-stream.js';
import { offerSignOut } from './sign-out.js';
import { button, chosenIn, pageView } from './view.js';
import { tellsLength, wholeOf } from './wire/read-answer.js';

/** What is longer may not be kept by the server for the one who comes for it. */
const MAX_KEPT_BYTES = 1_000_000;
/** How long the end is waited for of an answer that may be a stream, and of one that most often is whole but for the line. */
const STREAM_SECONDS = 3;
const SLOW_SECONDS = 15;
/** Who is back here so often has a browser that does not bring what it is given, or brings something else. */
const MOST_ENTRIES = 20;
const ASKED_AGAIN = 'tollhouse asked again ';

const data: PaywallData = JSON.parse(document.getElementById('data')?.textContent ?? '');
const { request, texts } = data;
const view = pageView();
/** How often this page was left with a payment of which it is not known that it has opened anything. */
const entriesBefore = savedPayment(request.key)?.entries ?? 0;
/** Whether what was bought may be gone to; else it is shown here. */
let mayEnter = entriesBefore <= MOST_ENTRIES;
const paywall = new Paywall(data, {
  view,
  chosen: () => chosenIn(document),
  open,
  async enterPaid(header) {
    enterPaid(header, false);
    // This page is left with the money: nobody else pays for the same until it is where it goes.
    if (!(await hasComeBeside(header))) return view.offer(button(texts.tryAgain, () => paywall.goOn(header)));
    savePayment(request.key, { header, isPaid: true });
    paywall.say('paidDone');
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
  canEnter(header) {
    // One that was sent upfront before is had by going there, on pages as well that do not know how it is paid.
    const isUpfront = data.isUpfront || entriesBefore > 0;
    return isUpfront && mayEnter && data.problem === undefined && canEnterWith(request, header);
  },
  enter: () => enter(request),
  reload: () => location.reload(),
});

/** What is paid stands in the place of this page, where the browser can go to it. */
async function open(answer: Response, header: string | undefined): Promise<void> {
  paywall.say('opening');
  // The browser stays where it is.
  if (answer.status === 204 || answer.status === 205) return paywall.say('paidDone');
  if (header === undefined && request.method === 'GET') return enter(request);
  const whole = await wholeOf(answer, MAX_KEPT_BYTES, data.isUpfront ? STREAM_SECONDS : SLOW_SECONDS);
  const isDownload = /^attachment/i.test(answer.headers.get('Content-Disposition') ?? '');
  if (header !== undefined && !isDownload) {
    if (mayEnter && whole !== undefined && canEnterWith(request, header)) return enterPaid(header);
    // A pass that came as a cookie lets the browser in as well.
    if (request.method === 'GET' && answer.headers.has('Access-Pass-Remaining')) return enter(request);
  }
  const again = () => (header === undefined ? enter(request) : paywall.goOn(header, true));
  if (whole !== undefined) return showWhole(view, texts, answer, whole);
  if (tellsLength(answer)) return showWhole(view, texts, answer, await answer.blob());
  // Nobody waits for its end: other tabs have their turn meanwhile.
  showStream(view, texts, answer, button(texts.tryAgain, again));
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
  if (data.problem !== ALREADY_USED || savedPayment(request.key) !== undefined) return false;
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
  offerSignOut(
    request,
    () => enter(request),
    () => paywall.say('notSignedOut', { reason: data.reasons.away }),
  );
  document.addEventListener('change', () => paywall.showWallets());
  paywall.start();
}

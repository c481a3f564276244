import type { PaywallData } from '../paywall/paywall-data.js';
import { chosenOffer } from './chosen-offer.js';
import { COOKIE_SECONDS, canEnterWith, clearPaymentCookie, enter } from './enter.js';
import { bring, type Paid, payOffer, type Say } from './pay-offer.js';
import { forgetPayment, type SavedPayment, savedPayment, savePayment } from './saved-payment.js';
import { showAnswer } from './show-answer.js';
import { signIn } from './sign-in.js';
import { offerSignOut } from './sign-out.js';
import { inTurn, keepTurn } from './take-turns.js';
import { button, filled, linkButton, pageView } from './view.js';
import { isPhone, walletLinks } from './wallet-links.js';
import { findWallets, type Wallet } from './wallets.js';
import { pause } from './wire/send-request.js';

/** What is longer may not be kept by the server for the one who comes for it. */
const MAX_KEPT_BYTES = 1_000_000;
/** Who is back here so often has a browser that does not bring what it is given. */
const MOST_ENTRIES = 20;

const data: PaywallData = JSON.parse(document.getElementById('data')?.textContent ?? '');
const { request, offers, texts } = data;
const view = pageView();
const say: Say = (text, words = {}) => view.say(filled(texts[text], words));
const wallets: Wallet[] = [];
let isBusy = false;

/** Does something during which nothing else can be begun. */
async function alone(work: () => Promise<void>): Promise<void> {
  if (isBusy) return;
  isBusy = true;
  view.offer();
  try {
    await work();
  } finally {
    isBusy = false;
  }
}

function showWallets(): void {
  if (isBusy) return;
  const actions = [...payButtons(), ...signInButtons()];
  if (actions.length === 0) showLinks();
  else view.offer(...actions);
}

function payButtons(): readonly HTMLElement[] {
  const offer = chosenOffer(offers);
  if (offer === undefined) return [];
  return withFeature('solana:signTransaction').map((wallet) => {
    const text = filled(texts.payWith, { price: offer.price, wallet: wallet.name });
    return button(text, () => payWith(wallet), { icon: wallet.icon });
  });
}

function signInButtons(): readonly HTMLElement[] {
  if (data.signIn === undefined) return [];
  return withFeature('solana:signMessage').map((wallet) => {
    const text = filled(texts.signInWith, { wallet: wallet.name });
    return button(text, () => signInWith(wallet), { icon: wallet.icon, isPlain: offers.length > 0 });
  });
}

function withFeature(name: keyof Wallet['features']): readonly Wallet[] {
  return wallets.filter(({ features }) => name in features);
}

function signInWith(wallet: Wallet): void {
  alone(async () => {
    if (await signIn(data, wallet, say)) return enter(request);
    view.offer(button(texts.tryAgain, showAll));
  });
}

/** For somebody whose browser has no wallet. */
function showLinks(): void {
  const opens = isPhone() && request.method === 'GET';
  const text = opens ? texts.openIn : texts.getWallet;
  say('noWallet');
  view.offer(...walletLinks(opens).map(({ name, href }) => linkButton(filled(text, { wallet: name }), href)));
}

function payWith(wallet: Wallet): void {
  alone(async () => {
    const offer = chosenOffer(offers);
    if (offer === undefined) return;
    const wait = () => say('otherTab');
    await inTurn(offer.turn, wait, async (hasWaited) => {
      const paid = await payOffer(data, offer, wallet, say, hasWaited);
      await follow(paid, wallet);
      // This page is left with the money: the turn ends with it.
      if (paid.status === 'entering') await pause(COOKIE_SECONDS);
    });
  });
}

/** Goes on after an attempt to pay. */
async function follow(paid: Paid, wallet?: Wallet): Promise<void> {
  if (paid.status === 'in') return open(paid.answer, paid.header);
  if (paid.status === 'entering') return enterPaid(paid.header, false);
  if (paid.status === 'kept') return view.offer(button(texts.tryAgain, () => goOn(paid.header)));
  const again = wallet === undefined ? showAll : () => payWith(wallet);
  const other = wallets.length > 1 ? [button(texts.otherWallet, showAll, { isPlain: true })] : [];
  view.offer(button(texts.tryAgain, paid.next === 'reload' ? () => location.reload() : again), ...other);
}

function showAll(): void {
  view.say('');
  showWallets();
}

/** What is paid stands in the place of this page, where the browser can go to it. */
async function open(answer: Response, header: string | undefined): Promise<void> {
  say('opening');
  const isForPage = answer.type === 'opaqueredirect' || (await isSmall(answer.clone()));
  const isDownload = /^attachment/i.test(answer.headers.get('Content-Disposition') ?? '');
  if (header === undefined) return request.method === 'GET' ? enter(request) : showAnswer(view, texts, answer);
  if (isForPage && !isDownload && canEnterWith(request, header)) return enterPaid(header);
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

/** Brings a payment that was signed before, here or before a reload. */
function goOn(header: string, turn = savedPayment(request.key)?.turn): void {
  alone(() =>
    keepTurn(turn, async () => {
      const brought = await bring(data, header, say, turn);
      if (brought.status === 'in') return open(brought.answer, header);
      if (brought.status === 'failed') return follow({ status: 'kept', header });
      say('refused', { reason: brought.reason });
      await follow({ status: 'stopped', next: 'again' });
    }),
  );
}

function resume({ header, isPaid, entries = 0 }: SavedPayment): void {
  if (!isPaid) return goOn(header);
  if (data.isOutage) {
    say('away');
    return view.offer(button(texts.tryAgain, () => enterPaid(header)));
  }
  // A visit without a payment has no problem: this one was brought, and opened nothing.
  if (data.problem !== undefined || entries > MOST_ENTRIES) {
    forgetPayment(request.key);
    say('lost');
    return showWallets();
  }
  say('alreadyPaid');
  view.offer(button(texts.comeIn, () => enterPaid(header)));
  enterPaid(header);
}

/** Somebody else's payment is being decided about, or one of another page: it is asked again by itself. */
async function waitAndAsk(): Promise<void> {
  say('pending');
  await pause(2);
  enter(request);
}

clearPaymentCookie();
offerSignOut(request, () => enter(request));
document.addEventListener('change', () => showWallets());
const saved = savedPayment(request.key);
if (saved !== undefined) resume(saved);
else if (data.isOutage) view.offer(button(texts.tryAgain, () => enter(request)));
else if (data.isWaiting) waitAndAsk();
else showWallets();
findWallets((wallet) => {
  wallets.push(wallet);
  if (isBusy || data.isWaiting || data.isOutage) return;
  view.say('');
  showWallets();
});

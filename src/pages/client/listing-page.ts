import type { TryData } from '../market/try-data.js';
import { bring, type Paid, payOffer, refusedPayment } from './payment/pay-offer.js';
import { findWallets, type Wallet } from './payment/wallets.js';
import { showResponse } from './show-response.js';
import { button, chosenIn, filled, linkButton, pageView } from './view.js';
import { isPhone, walletLinks } from './wallet-links.js';
import { credentialsIn } from './wire/credentials.js';

const data: TryData = JSON.parse(document.getElementById('data')?.textContent ?? '');
const { texts } = data;
const view = pageView();
const say = (text: keyof typeof texts, words: Readonly<Record<string, string>> = {}) =>
  view.say(filled(texts[text], words));
const wallets: Wallet[] = [];
/** While something is paid, or is to be brought again. */
let isBusy = false;

/** The call with the credentials that stand in the page now. */
function withCredentials(): TryData {
  return { ...data, request: { ...data.request, headers: Object.fromEntries(credentialsIn(document)) } };
}

function offerWallets(): void {
  if (isBusy) return;
  const offer = data.offers[chosenIn(document)];
  if (offer === undefined) return;
  const payers = wallets.filter(({ features }) => 'solana:signTransaction' in features);
  if (payers.length === 0) return offerLinks();
  view.offer(
    ...payers.map((wallet) =>
      button(
        filled(texts.payWith, { price: offer.price, wallet: wallet.name }),
        () => void end(payOffer(withCredentials(), offer, wallet, say)),
        { icon: wallet.icon },
      ),
    ),
  );
}

function offerLinks(): void {
  say(isPhone() ? 'noWalletOnPhone' : 'noWallet');
  const text = isPhone() ? texts.openIn : texts.getWallet;
  view.offer(...walletLinks(isPhone()).map(({ name, href }) => linkButton(filled(text, { wallet: name }), href)));
}

async function end(paying: Promise<Paid>): Promise<void> {
  isBusy = true;
  view.offer();
  const paid = await paying;
  if (paid.status === 'kept') {
    const { header } = paid;
    return view.offer(button(texts.tryAgain, () => void end(bringAgain(header))));
  }
  isBusy = false;
  offerWallets();
  const place = document.getElementById('answer');
  if (paid.status !== 'in' || place === null) return;
  view.say(texts.paidHere);
  await showResponse(paid.answer, place, data.answer);
}

/** The payment that is signed, and no second one. */
async function bringAgain(header: string): Promise<Paid> {
  const brought = await bring(withCredentials(), header, say);
  if (brought.status === 'in') return { ...brought, header };
  if (brought.status === 'failed') return { status: 'kept', header };
  return refusedPayment(brought, header, { data, say });
}

document.addEventListener('change', ({ target }) => {
  if (target instanceof HTMLInputElement && target.name === 'offer') offerWallets();
});
document.getElementById('try')?.removeAttribute('hidden');
offerWallets();
findWallets((wallet) => {
  wallets.push(wallet);
  if (isBusy) return;
  view.say('');
  offerWallets();
});

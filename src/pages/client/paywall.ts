import type { PageOffer, PaywallData } from '../paywall/paywall-data.js';
import { keepsCookies } from './enter.js';
import { bring, type Paid, payOffer, refusedPayment, type Say } from './payment/pay-offer.js';
import { type SavedPayment, savedPayment } from './payment/saved-payment.js';
import { signIn } from './payment/sign-in.js';
import { inTurn, keepTurn } from './payment/take-turns.js';
import { findWallets, type Wallet } from './payment/wallets.js';
import { button, filled, linkButton, type View } from './view.js';
import { isPhone, walletLinks } from './wallet-links.js';
import { pause } from './wire/send-request.js';

/** Where a paywall stands: on the page of a gate, or in a site's own page. */
export interface PaywallHost {
  readonly view: View;
  /** The number of the offer that is chosen. */
  chosen(): number;
  /** Shows what was had. `header`: the payment that it was had with; missing where none was needed. */
  open(answer: Response, header: string | undefined): Promise<void>;
  /** Goes with a payment to what it buys, which tells whether it is good; resolves once nothing more can come of it here. */
  enterPaid(header: string): Promise<void>;
  /** Whether a signed payment is to be brought by going to what it buys, and not by a script. */
  canEnter(header: string): boolean;
  /** Goes on with a payment of which the server has said before that it is paid. */
  resumePaid(saved: SavedPayment): void;
  /** Asks again for what stands behind the gate, which may be open now. */
  enter(): void;
  /** Asks for the terms again. */
  reload(): void;
}

/** The terms of a gate and what a reader can do about them, from the choice of a wallet to what was bought. */
export class Paywall {
  readonly #data: PaywallData;
  readonly #host: PaywallHost;
  readonly #wallets: Wallet[] = [];
  #isBusy = false;
  /** Whether what is shown to be done is what wallets can do: one that is found late takes no other button away. */
  #showsWallets = false;

  constructor(data: PaywallData, host: PaywallHost) {
    this.#data = data;
    this.#host = host;
  }

  /** Whether something is under way during which nothing else can be begun. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /**
   * Goes on with what an earlier visit has left, or shows what can be done.
   * @param signal - ends the search for wallets
   */
  start(signal?: AbortSignal): void {
    const { request, isWaiting, isOutage } = this.#data;
    if (request.isIncomplete) return this.say('formLost');
    const saved = savedPayment(request.key);
    if (saved !== undefined) this.#resume(saved);
    else if (isOutage) this.#host.view.offer(this.#button('tryAgain', () => this.#host.enter()));
    else if (isWaiting) this.#waitAndAsk();
    else this.showWallets();
    findWallets((wallet) => {
      this.#wallets.push(wallet);
      if (!this.#showsWallets) return;
      this.#host.view.say('');
      this.showWallets();
    }, signal);
  }

  readonly say: Say = (text, words = {}) => this.#host.view.say(filled(this.#data.texts[text], words));

  /** Shows what can be done with the wallets that there are. */
  showWallets(): void {
    if (this.#isBusy) return;
    this.#showsWallets = true;
    const actions = [...this.#payButtons(), ...this.#signInButtons()];
    if (actions.length === 0) this.#showLinks();
    else this.#host.view.offer(...actions);
  }

  /**
   * Brings a payment that was signed before, here or before a reload.
   * @param wasPaid - whether the server has said before that it is paid
   */
  goOn(header: string, wasPaid = false): void {
    const turn = savedPayment(this.#data.request.key)?.turn;
    this.#alone(() =>
      keepTurn(turn, async () => {
        if (this.#host.canEnter(header)) return this.#enterAgain(header);
        const brought = await bring(this.#data, header, this.say, turn);
        if (brought.status === 'in') return this.#open(brought.answer, header);
        if (brought.status === 'failed') return this.#follow({ status: 'kept', header });
        await this.#follow(refusedPayment(brought, header, { data: this.#data, say: this.say }, wasPaid));
      }),
    );
  }

  /** Of a page that nothing can be decided on it is left again only after a while. */
  async #enterAgain(header: string): Promise<void> {
    const { isWaiting, isOutage } = this.#data;
    if (isOutage) this.say('away');
    else this.say(isWaiting ? 'pending' : 'settling');
    if (isWaiting || isOutage) await pause(2);
    await this.#host.enterPaid(header);
  }

  async #alone(work: () => Promise<void>): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#showsWallets = false;
    this.#host.view.offer();
    try {
      await work();
    } catch (error) {
      reportError(error);
      this.#host.view.offer(this.#button('tryAgain', () => this.#showAll()));
    } finally {
      this.#isBusy = false;
    }
  }

  /** Shows what was had. Where the line drops while it is read, the same payment brings it again. */
  async #open(answer: Response, header: string | undefined): Promise<void> {
    try {
      await this.#host.open(answer, header);
    } catch (error) {
      if (header === undefined) throw error;
      this.say('away');
      this.#host.view.offer(this.#button('tryAgain', () => this.goOn(header, true)));
    }
  }

  #chosenOffer(): PageOffer | undefined {
    return this.#data.offers[this.#host.chosen()];
  }

  #payButtons(): readonly HTMLElement[] {
    const offer = this.#chosenOffer();
    if (offer === undefined) return [];
    return this.#withFeature('solana:signTransaction').map((wallet) => {
      const text = filled(this.#data.texts.payWith, { price: offer.price, wallet: wallet.name });
      return button(text, () => this.#payWith(wallet), { icon: wallet.icon });
    });
  }

  #signInButtons(): readonly HTMLElement[] {
    const { signIn: challenge, offers, texts } = this.#data;
    if (challenge === undefined) return [];
    return this.#withFeature('solana:signMessage').map((wallet) => {
      const text = filled(texts.signInWith, { wallet: wallet.name });
      return button(text, () => this.#signInWith(wallet), { icon: wallet.icon, isPlain: offers.length > 0 });
    });
  }

  #withFeature(name: keyof Wallet['features']): readonly Wallet[] {
    return this.#wallets.filter(({ features }) => name in features);
  }

  #signInWith(wallet: Wallet): void {
    this.#alone(async () => {
      if (!keepsCookies()) this.say('needsCookies');
      else if (await signIn(this.#data, wallet, this.say)) return this.#host.enter();
      this.#host.view.offer(this.#button('tryAgain', () => this.#showAll()));
    });
  }

  /** For somebody whose browser has no wallet. */
  #showLinks(): void {
    const { request, texts } = this.#data;
    const opens = isPhone() && request.method === 'GET';
    const text = opens ? texts.openIn : texts.getWallet;
    this.say(opens ? 'noWalletOnPhone' : 'noWallet');
    const links = walletLinks(opens).map(({ name, href }) => linkButton(filled(text, { wallet: name }), href));
    this.#host.view.offer(...links);
  }

  #payWith(wallet: Wallet): void {
    this.#alone(async () => {
      const offer = this.#chosenOffer();
      if (offer === undefined) return;
      const wait = () => this.say('otherTab');
      await inTurn(offer.turn, wait, async (hasWaited) =>
        this.#follow(await payOffer(this.#data, offer, wallet, this.say, hasWaited), wallet),
      );
    });
  }

  /** Goes on after an attempt to pay. */
  async #follow(paid: Paid, wallet?: Wallet): Promise<void> {
    const { view } = this.#host;
    if (paid.status === 'in') return this.#open(paid.answer, paid.header);
    if (paid.status === 'entering') return this.#host.enterPaid(paid.header);
    if (paid.status === 'kept') return view.offer(this.#button('tryAgain', () => this.goOn(paid.header)));
    const again = wallet === undefined ? () => this.#showAll() : () => this.#payWith(wallet);
    const other = this.#wallets.length > 1 ? [this.#button('otherWallet', () => this.#showAll(), true)] : [];
    const press = paid.next === 'reload' ? () => this.#host.reload() : again;
    view.offer(this.#button(paid.next === 'check' ? 'checkAgain' : 'tryAgain', press), ...other);
  }

  #showAll(): void {
    this.#host.view.say('');
    this.showWallets();
  }

  #resume(saved: SavedPayment): void {
    if (saved.isPaid) this.#host.resumePaid(saved);
    else this.goOn(saved.header);
  }

  /** Somebody else's payment is being decided about, or one of another page: it is asked again by itself. */
  async #waitAndAsk(): Promise<void> {
    this.say('pending');
    await pause(2);
    this.#host.enter();
  }

  #button(text: keyof PaywallData['texts'], press: () => void, isPlain = false): HTMLElement {
    return button(this.#data.texts[text], press, { isPlain });
  }
}

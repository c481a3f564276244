import type { ElementData } from '../../paywall/paywall-data.js';
import { Paywall } from '../paywall.js';
import { button, chosenIn, pageView } from '../view.js';
import { receiptIn } from '../wire/receipt.js';
import { isIn } from '../wire/send-request.js';
import { askForTerms, type ElementRequest, elementRequest, termsIn } from './element-request.js';
import { elementSheet } from './element-style.js';
import { contentOf } from './put-content.js';
import { termsView } from './terms-view.js';

/** What `tollhouse-unlocked` tells, as its `detail`. */
export interface Unlocked {
  /** The answer of the gate's handler, to be read by whoever wants it. */
  readonly response: Response;
  /** The receipt of x402 (`transaction`, `payer`, …); undefined where nothing was paid, as a pass or a sign-in has opened. */
  readonly receipt: Readonly<Record<string, unknown>> | undefined;
}

const UNLOCKED = 'tollhouse-unlocked';

/**
 * `<tollhouse-paywall src="/articles/1">preview</tollhouse-paywall>`: a preview, the terms of `src` below it, and in the place of both what was
 * bought, or what a pass or a sign-in opens. Before that is put in the event `tollhouse-unlocked` says so; who prevents its default
 * shows the answer by himself. An `error` says that an attribute is wrong.
 */
export class PaywallElement extends HTMLElement {
  static readonly observedAttributes: readonly string[] = ['src'];
  readonly #root = this.attachShadow({ mode: 'open' });
  readonly #place = document.createElement('div');
  #asking = new AbortController();
  #connection: AbortController | undefined;
  #paywall: Paywall | undefined;
  #isPressed = false;

  constructor() {
    super();
    this.#root.adoptedStyleSheets = [elementSheet()];
    this.#root.append(document.createElement('slot'), this.#place);
    this.#root.addEventListener('change', () => this.#paywall?.showWallets());
    this.#root.addEventListener('click', () => {
      this.#isPressed = true;
    });
  }

  connectedCallback(): void {
    if (this.#connection !== undefined) return;
    this.#connection = new AbortController();
    const { signal } = this.#connection;
    document.addEventListener(UNLOCKED, (event) => this.#askAfter(event), { signal });
    this.#ask();
  }

  disconnectedCallback(): void {
    // An element that is only moved is back by then; a payment under way goes on without its place.
    queueMicrotask(() => {
      if (this.isConnected || this.#paywall?.isBusy) return;
      this.#connection?.abort();
      this.#connection = undefined;
      this.#asking.abort();
    });
  }

  attributeChangedCallback(): void {
    if (this.#connection !== undefined) this.#ask();
  }

  /** A pass that was bought in another element of the page may be for this one as well. */
  #askAfter(event: Event): void {
    const { receipt, response }: Unlocked = Reflect.get(event, 'detail');
    const isOther = event.target !== this && receipt !== undefined && response.headers.has('Access-Pass-Remaining');
    if (isOther && !this.hasAttribute('unlocked') && this.#paywall?.isBusy !== true) this.#ask();
  }

  async #ask(): Promise<void> {
    this.#asking.abort();
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    this.removeAttribute('unlocked');
    try {
      const request = elementRequest(this);
      const answer = await askForTerms(request).catch(() => undefined);
      if (signal.aborted) return;
      if (answer !== undefined && isIn(answer)) return await this.#open(answer, request);
      const data = answer && (await termsIn(answer, request));
      if (!signal.aborted) this.#show(data, request, signal);
    } catch (error) {
      reportError(error);
      this.dispatchEvent(new ErrorEvent('error', { error, message: String(error) }));
    }
  }

  #show(data: ElementData | undefined, request: ElementRequest, signal: AbortSignal): void {
    if (data === undefined) return this.#showRetry();
    this.#place.replaceChildren(termsView(data));
    const paywall: Paywall = new Paywall(data, {
      view: pageView(this.#root),
      chosen: () => chosenIn(this.#root),
      // Another address may have been set while this one was paid: the payment is kept for the next visit.
      open: async (answer) => (signal.aborted ? undefined : this.#open(answer, request)),
      canEnter: () => false,
      enterPaid: async (header): Promise<void> => paywall.goOn(header),
      resumePaid: ({ header }) => paywall.goOn(header, true),
      enter: () => this.#ask(),
      reload: () => this.#ask(),
    });
    this.#paywall = paywall;
    paywall.start(signal);
  }

  /** The server has said nothing, not even in which language. */
  #showRetry(): void {
    const retry = button('↻', () => this.#ask(), { isPlain: true });
    retry.classList.add('retry');
    retry.ariaLabel = 'Try again';
    this.#place.replaceChildren(retry);
  }

  async #open(answer: Response, request: ElementRequest): Promise<void> {
    const detail: Unlocked = { response: answer.clone(), receipt: receiptIn(answer) };
    const content = await contentOf(answer, request);
    this.#asking.abort();
    this.setAttribute('unlocked', '');
    this.#place.replaceChildren();
    const event = new CustomEvent(UNLOCKED, { bubbles: true, composed: true, cancelable: true, detail });
    if (this.dispatchEvent(event)) this.replaceChildren(...content);
    if (!this.#isPressed) return;
    // The button that was pressed is gone: what it has opened is read next.
    this.tabIndex = -1;
    this.focus({ preventScroll: true });
  }
}

import type { NextFunction, Request, Response } from 'express';
import type { TakenAgain } from '../../facilitator/payments/price-credit.js';
import type { Claim, OpenedPayment, PaymentUse } from '../../facilitator/types.js';
import type { MaybePromise } from '../../lib/maybe-promise.js';
import type { PaymentCodec } from '../../protocol/codecs/codec.js';
import type { Payment, Receipt, Settlement, Terms } from '../../protocol/types.js';
import type { HolderGate } from '../holders/holder-gate.js';
import type { HolderRule } from '../holders/holder-rules.js';
import type { Retry } from '../idempotency/retry.js';
import type { PassGate } from '../passes/pass-gate.js';
import type { CreditMeter } from '../passes/pass-types.js';
import type { RecordedResponse } from '../response/response-recorder.js';
import type { StoredResponse } from '../response/response-seal.js';
import type { ResolvedPaymentOptions } from '../terms/payment-options.js';
import type { TermsFor } from '../terms/payment-terms.js';
import type { CallerParts } from '../wallet/caller-request.js';
import type { IdentifiedPayment } from './identified-payment.js';
import type { PaidResponse, SealedResponse } from './paid-responses.js';
import type { OfferedTerms, RequiredCause } from './payment-required.js';

type Headers = Readonly<Record<string, string>>;

/** A price before something, whatever it is that is served. */
export interface PaymentGate {
  /** The function that made it, for messages to the developer. */
  readonly where: string;
  readonly options: ResolvedPaymentOptions;
  readonly termsFor: TermsFor;
  /** What was paid here before: passes that are sold, and credit for requests that have failed. Default: nothing is kept. */
  readonly passes?: PassGate | undefined;
  /** What those are asked for who hold something. Default: what everybody is. */
  readonly holders?: {
    readonly standing: HolderGate;
    /** Who is asked who a caller is. */
    readonly parts: CallerParts | undefined;
    /** The gate for those whom a rule is for. */
    readonly gateOf: (rule: HolderRule) => PaymentGate | undefined;
  };
  /** The wallet that alone may pay what a request was asked for. Default: anybody may. */
  readonly payerOf?: (req: Request) => string | undefined;
  /** What the payment of a request is for. Default: the method and the path, at the host that was asked. */
  readonly useFor?: (req: Request) => Pick<PaymentUse, 'resource'>;
  /** On whose behalf a payment of some terms is taken. Default: the wallet that is paid. */
  readonly sellerFor?: (terms: Terms) => PaymentUse['seller'];
  /** Who may come again for it. Default: whoever shows a secret that came with the payment. */
  readonly retryFor?: (req: Request) => Retry;
  /** Under which identifier a payment of a request goes. Default: the one that it carries, where the options take any. */
  readonly identifierFor?: (req: Request, claim: Claim) => IdentifiedPayment;
  /** Called with each request: has the set-up looked at, the first time. Default: it is not. */
  readonly watch?: () => void;
  /** Why the first 402 is sent. Default: the resource has a price. */
  readonly unpaid?: RequiredCause;
  /**
   * Asked once a payment is held for a request, before any money is taken: rejects where it must not be. Default: nobody asks.
   * @throws TollhouseError that is answered; the payment is as it was before
   */
  readonly accept?: (req: Request, claim: Claim) => Promise<void>;
  /**
   * Asked where a 402 would be sent: serves the request from what its caller has paid before, and returns whether it did.
   * Default: nobody has paid before.
   */
  readonly useCredit?: (req: Request, res: Response) => Promise<boolean>;
  /**
   * Asked of a payment that is used and has left neither a response nor a pass, by its id: what became of it, in sentences for its payer.
   * Undefined, and by default: no more is known.
   */
  readonly usedDetail?: (paymentId: string) => Promise<string | undefined>;
  /** Called before a kept response is sent again: takes off the headers that are for other responses only. */
  readonly beforeReplay?: (res: Response) => void;
  /** Called before a request that was run before is run again. Where it rejects, the run does not count. */
  readonly beforeRunAgain?: (req: Request) => Promise<void>;
  /**
   * Ends a request that was run for its payment as often as any is, and answers it: what becomes of what was paid is written in books of
   * one's own. Where it rejects, the payment is owed still. Default: `compensation` of {@link passes} leaves its payer with it, if any does.
   */
  readonly giveUp?: (paid: Omit<PaidRequest, 'next'>, receipt: Receipt) => Promise<void>;
  /** With `settle: 'before'`: serves a request whose money has landed, and ends only a response that is whole. Default: the handler behind the gate. */
  readonly run?: (paid: PaidRequest, receipt: Receipt, recorded: RecordedResponse) => Promise<RunEnd>;
  /**
   * Asked for a response that is about to end: keeps it with books of one's own, and tells whether it is kept. Undefined, and by
   * default: the store of the facilitator keeps it.
   */
  readonly keep?: ((req: Request, kept: SealedResponse) => Promise<boolean> | undefined) | undefined;
}

/** A payment that was brought, and what came of claiming it. */
export interface PaymentAttempt {
  readonly req: Request;
  readonly res: Response;
  readonly gate: PaymentGate;
  /** Missing where it was shown by its signature. */
  readonly payment?: Payment;
  readonly codec: Pick<PaymentCodec, 'receipt'>;
  readonly offered: OfferedTerms;
  readonly opened: OpenedPayment | undefined;
  /** Whether it is for other terms than those that are offered. Default: no. */
  readonly isForOther?: boolean;
  readonly retry: Retry;
  /** Answers 402, with a way to sign in where that would help as well. */
  challenge(cause: RequiredCause): MaybePromise<void>;
}

/** A request whose payment is held for it. */
export interface PaidRequest {
  readonly req: Request;
  readonly res: Response;
  readonly next: NextFunction;
  readonly gate: PaymentGate;
  readonly claim: Claim;
  /** Where its response is kept while its payment is held, and had by the identifier of that; undefined is one that is not to be kept. Of books of one's own that fail it warns, else it rejects. */
  readonly kept: Pick<PaidResponse, 'find'> & { put(response: StoredResponse | undefined): Promise<boolean> };
  /** What its payment goes under beside others: of all that come under one identifier one is charged. */
  readonly identifier: IdentifiedPayment;
  /** Whether the gate asks no more for the request now than was paid for it: see `asked-still.ts`. */
  readonly isAskedStill: boolean;
  /** Whether an address is all that shows who comes again. */
  readonly isByIpAddress: boolean;
  /** What measures the credit that the payment buys; undefined where it buys none. */
  readonly meter: CreditMeter | undefined;
  /** Tells those behind the gate of the payment. */
  tell(receipt: Receipt | undefined): void;
  /** Headers that tell how the settlement ended. */
  receiptHeaders(settlement: Settlement): Headers;
  /** Headers that tell that the money has landed, and what it has bought. */
  landedHeaders(receipt: Receipt): Promise<Headers>;
  /**
   * The request has failed for good: leaves its payer with what it has paid, once, and answers the headers that tell of it. Does not
   * reject. Undefined where that cannot be: the payment is owed, and waits for the one who may come again.
   */
  makeGood(): Promise<Headers | undefined>;
  /** For a payment that comes again: takes what its request costs from what its payer was left with. */
  takeAgain(): Promise<TakenAgain>;
  /** Answers 402 with fresh terms. */
  challenge(cause: RequiredCause): MaybePromise<void>;
}

/** What came of a request whose money had landed. */
export interface RunEnd {
  /** Whether its client has had the response; else it is owed. */
  readonly served: boolean;
  /** Whether it has failed for good, so that its payer is left with what was paid. Default false. */
  readonly failed?: boolean;
  /** Writes it down, with books of one's own. Default: in the ledger alone. */
  readonly write?: () => Promise<unknown>;
}

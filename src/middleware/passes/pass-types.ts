import type { Request, Response } from 'express';
import type { ErrorCode } from '../../errors/errors.js';
import type { Facilitator } from '../../facilitator/types.js';
import type { Identity, PassClaims, PassTokens } from '../../identity/types.js';
import { CODECS } from '../../protocol/codecs/codecs.js';
import type { Terms, Token } from '../../protocol/types.js';
import { PASS_HEADER } from '../gate/pass-headers.js';
import type { ChargeCredit } from '../gate/request-properties.js';
import type { CreditCost, CreditCosts } from '../terms/credit-costs.js';
import type { KnownSuspensions } from '../wallet/caller-request.js';
import type { PassEnd } from './pass-end.js';

/** The cookie of the passes of a scope. */
export interface PassCookie {
  readonly name: string;
  readonly path: string;
  readonly isSecure: boolean;
}

/** Where passes are kept. */
export type Passes = Facilitator['passes'];

/** A pass as it is kept. */
export type KeptPass = Awaited<ReturnType<Passes['open']>>;

/** Why a pass covers nothing. */
export type PassTrouble = NonNullable<KeptPass['over']>;

/** What a request takes from credit: `cost` before its handler, in the end what the handler has charged. */
export interface CreditMeter {
  /** For the handler. */
  readonly charge: ChargeCredit;
  /** Whether the handler has charged anything, if only nothing. */
  readonly isCharged: boolean;
  /** What is taken so far, atomic units. */
  readonly taken: bigint;
  /** What would be taken in the end if nothing more were charged: what was charged, or all that is taken where nothing was. */
  readonly due: bigint;
  /** Whether what was charged for a response that goes on stays taken, should this side break it off: what had left was paid for. */
  readonly isKept: boolean;
  /** What is left of the credit beside {@link taken}, as far as this request knows; undefined before it has its pass. */
  readonly left: bigint | undefined;
  /** For another gate that the request passes, and that sells the same: has as much taken as the dearer of both asks for. */
  raise(cost: CreditCost): Promise<Adjusted>;
  /**
   * Ends it, once, whoever says so first: nothing more is charged from then on. Does not reject. A response without its price may go
   * on, and its handler is told that it may.
   * @param isSpent - whether the request has its price: then what is due is taken. Else what was taken beyond `cost` is given back
   */
  end(isSpent: boolean): Promise<void>;
}

/** What came of taking so much in all. */
export type Adjusted = Awaited<ReturnType<Passes['adjust']>>;

/** Prepares a 402 with the terms of a gate, which the returned function sends. */
export type Refuse = (req: Request, res: Response, cause: PassRefusal['cause']) => Promise<() => void>;

/** A request whose response can be had again under its name, for those who take from a pass for it. */
export interface NamedRequest {
  /**
   * Begins it, before anything is taken: whoever begins it anew, should this process die, gives that back. Where it is known under its
   * name nothing may be taken: returns what answers it.
   * @throws TollhouseError `store_unavailable`; nothing may be taken then
   */
  begin(takes?: TakenAs): Promise<((res: Response) => Promise<void>) | undefined>;
  /** Ends it as if it had not begun: what it has taken is given back before its name is free. Does not reject. */
  abandon(): Promise<void>;
  /** The same, and what it has taken stays taken; false where somebody else has taken it over. */
  letGo(): Promise<boolean>;
}

/** What a request takes of a pass, by the name of that. */
export interface TakenAs {
  readonly passId: string;
  readonly requestId: string;
}

/** What the passes of a gate work with. */
export interface PassParts {
  readonly passes: Passes;
  /** As `giveBackToPass` has it, for the facilitator of the gate. */
  readonly giveBack: (whose: string, giveBack: () => Promise<unknown>) => Promise<void>;
  readonly isBuying: Facilitator['isBuying'];
  readonly landed: Facilitator['landed'];
  readonly tokens: PassTokens;
  readonly identity: Identity;
  /** What operators have suspended: passes of such a wallet cover nothing. Default: nothing is. */
  readonly suspensions: Pick<KnownSuspensions, 'find' | 'refuseWallet'> | undefined;
  /** Wallet of the service key that a request has shown, where that may spend; base58. */
  readonly keyOwner: (req: Request) => string | undefined;
  /** Those that have a symbol. */
  readonly symbols: readonly Token[];
  /** Has a request asked to pay that was let in. */
  readonly refuse: Refuse;
  /** Address under which clients reach the server. Default: from the request. */
  readonly baseUrl: string | undefined;
  /** The site of the gate, as `siteOfGate` has it. */
  readonly site: string;
  /** The headers of a request that decide here, as `Vary` lists them. */
  readonly vary: string;
  readonly requestNames: { readonly pass: string | false; readonly payment: string | false };
  /** Whether a response has its price. */
  readonly charges: (res: Response) => boolean;
  /** A request by its name, undefined where it has none. Default: none has. */
  readonly namedOf?: (req: Request) => Promise<NamedRequest | undefined>;
  /** How long a handler may take, in milliseconds; for a client that is gone its use stays taken for some times as long. */
  readonly handlerTimeoutMs: number;
}

/** What a pass that is sold at a gate covers, for a request to it. */
export interface PassPlace {
  /** What it is for, as `passScope` has it. */
  readonly scope: string;
  /** What the request takes of credit; undefined where none is sold. */
  readonly costs: CreditCosts | undefined;
  /** Whether a pass of uses does not cover it. Default: it does. */
  readonly refusesUses?: true;
  /** The path of its cookie; missing where it has none. */
  readonly cookiePath?: string;
  /** The terms whose price it covers, for credit for the price of a route; missing for what was sold as a pass. */
  readonly prices?: readonly Terms[];
}

/** What a request has taken of a pass. */
export interface TakenOfPass {
  readonly requestId: string;
  readonly amount: bigint;
}

/** A pass that covers a request, which has been debited. */
export interface UsedPass {
  readonly admitted: true;
  readonly shown: PassClaims;
  /** When it ends, where its token does not say so, which is the rule for what is for a time alone. Default: as its token says. */
  readonly end?: PassEnd;
  /** What is left of it, in its own unit; missing where it is for a time alone. */
  readonly left?: bigint;
  /** What the request has taken, to be given back by its name; missing where nothing was. */
  readonly taken?: TakenOfPass;
  /** Of credit: what it takes in the end. */
  readonly meter?: CreditMeter;
  /** What has shown it: its token, the sign-in of its wallet, or a service key of that wallet. */
  readonly by: 'token' | 'wallet' | 'key';
  /** The cookie in which a new token of it is given out; missing where it has none. */
  readonly cookie?: PassCookie;
  /** Answers the request, which is known under its name: nothing was taken for it. Default: it is to be served. */
  readonly answer?: (res: Response) => Promise<void>;
}

/** Why a request is not let in by a pass, for a 402. */
export interface PassRefusal {
  readonly admitted: false;
  readonly cause: {
    readonly code: ErrorCode;
    /** Sentence for people. */
    readonly detail: string;
    /** A more particular code, of a sign-in. */
    readonly reason?: string;
    /** Headers that tell what is left of it. */
    readonly told?: Readonly<Record<string, string>>;
  };
}

/** What decides about a request where passes are sold, as `Vary` lists it. */
export const PASS_VARY = [
  ...CODECS.map(({ requestHeader }) => requestHeader),
  PASS_HEADER,
  'SIGN-IN-WITH-X',
  'Authorization',
].join(', ');

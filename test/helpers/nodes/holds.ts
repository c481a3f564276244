import bs58 from 'bs58';
import type { Order } from '../crash/orders.js';
import type { Passage, PassingCall } from './rpc-proxy.js';

/** Where the calls of a payment are held back: see the steps of every-step.test.ts. */
export type HeldAt = 'claimed' | 'noted' | 'sent' | 'landed';

/** Holds calls back by the payment that they are about. */
export interface Holds {
  /** Holds the calls of an order back from a step on. */
  add(order: Order, at: HeldAt): void;
  /** Whether its process has come to that call. */
  isHeld(order: Order): boolean;
  /** Whether the process was told of everything that has landed. */
  allTold(): boolean;
  decide(call: PassingCall): Promise<Passage>;
  answered(call: PassingCall): void;
}

interface Held {
  readonly order: Order;
  readonly at: HeldAt;
  signature?: string;
  isHeld: boolean;
  isTold: boolean;
}

const SIGNATURE = [1, 65] as const;

/**
 * @param mayBeTold - until then, the process does not learn what has landed
 */
export function createHolds(mayBeTold: Promise<void>): Holds {
  const all: Held[] = [];

  const ofTransaction = ({ params: [text] }: PassingCall): Held | undefined => {
    const bytes = Buffer.from(String(text), 'base64');
    const held = all.find(({ order }) => bytes.includes(order.wallet.publicKey.toBuffer()));
    if (held !== undefined) held.signature = bs58.encode(bytes.subarray(...SIGNATURE));
    return held;
  };
  const ofStatuses = ({ params: [signatures] }: PassingCall): readonly Held[] =>
    all.filter(({ signature }) => signature !== undefined && Object(signatures).includes(signature));

  function ofSimulation(call: PassingCall): Passage {
    const held = ofTransaction(call);
    if (held?.at !== 'claimed') return 'pass';
    held.isHeld = true;
    return 'hold';
  }

  function ofSend(call: PassingCall): Passage {
    const held = ofTransaction(call);
    if (held?.at === 'noted') {
      held.isHeld = true;
      return 'hold';
    }
    return held?.at === 'sent' ? 'unanswered' : 'pass';
  }

  async function ofLookUp(call: PassingCall): Promise<Passage> {
    const concerned = ofStatuses(call).filter(({ at }) => at === 'sent' || at === 'landed');
    for (const held of concerned) held.isHeld = true;
    if (concerned.some(({ at }) => at === 'sent')) return 'hold';
    if (concerned.length > 0) await mayBeTold;
    return 'pass';
  }

  return {
    add: (order, at) => void all.push({ order, at, isHeld: false, isTold: false }),
    isHeld: (order) => all.some((it) => it.order === order && it.isHeld),
    allTold: () => all.every(({ at, isTold }) => at !== 'landed' || isTold),
    async decide(call) {
      if (call.method === 'simulateTransaction') return ofSimulation(call);
      if (call.method === 'sendTransaction') return ofSend(call);
      return call.method === 'getSignatureStatuses' ? ofLookUp(call) : 'pass';
    },
    answered(call) {
      if (call.method === 'getSignatureStatuses') for (const held of ofStatuses(call)) held.isTold = true;
    },
  };
}

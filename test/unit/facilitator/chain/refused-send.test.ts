import { LRUCache } from 'lru-cache';
import { inspectPayment } from '../../../../src/facilitator/backend/inspect-payment.js';
import type { EarlierSend } from '../../../../src/facilitator/backend/refused-sends.js';
import type { VerifiedCache } from '../../../../src/facilitator/chain/look-at-funds.js';
import { judgeRefusal, type RefusalParts } from '../../../../src/facilitator/chain/refused-send.js';
import type { LandedTransaction } from '../../../../src/solana/rpc/landed-transaction.js';
import { RpcError } from '../../../../src/solana/rpc/rpc.js';
import {
  landedAs,
  NETWORK,
  newPayment,
  openPaymentService,
} from '../../../helpers/fixtures/payment-service-fixture.js';
import { fakeNode, rejectionOf } from '../../../helpers/nodes/fake-node.js';

const REMEMBERED_SINCE = 1_000_000;
const FUNDS = { InstructionError: [2, { Custom: 1 }] };

interface Given {
  /** What the node said first. */
  readonly said?: unknown;
  /** What a simulation says now. */
  readonly simulated?: unknown;
  readonly isHeightKnown?: boolean;
  /** Default 12, the last that its blockhash is good for. */
  readonly blockHeight?: number;
  readonly remembersSince?: number;
  /** When it landed, by each reading; undefined where the chain does not tell. */
  readonly blockTimes?: readonly (number | undefined)[];
  readonly isVerified?: boolean;
  /** Who had it sent before. */
  readonly before?: EarlierSend;
}

function judge(given: Given) {
  const { said, before, isHeightKnown = false, remembersSince, blockTimes = [], isVerified = false } = given;
  const { payment, terms, decoded } = newPayment();
  const inspection = inspectPayment(payment, terms, NETWORK, openPaymentService().parts.policy);
  if (!inspection.ok) throw new Error(inspection.refusal.message);
  const asked: unknown[] = [];
  const times = [...blockTimes];
  const parts: RefusalParts = {
    rpc: fakeNode({
      async simulateTransaction(_bytes, options) {
        asked.push(options);
        if (given.simulated instanceof Error) throw given.simulated;
        return { err: given.simulated ?? null, logs: [], slot: 1 };
      },
      getTip: async () => ({ slot: 1, blockHeight: given.blockHeight ?? 12 }),
    }),
    blockhashes: { lastValidBlockHeightOf: () => (isHeightKnown ? 12 : undefined) },
    async landed(): Promise<LandedTransaction | undefined> {
      const blockTime = times.shift();
      return blockTime === undefined ? undefined : landedAs(decoded, { blockTime });
    },
    remembersSince,
  };
  const verified: VerifiedCache = new LRUCache({ max: 9 });
  if (isVerified) verified.set(decoded.messageHash, { look: 1, slot: 1, left: new Map(), owners: [], delegates: [] });
  const rejected = { status: 'rejected', err: said, logs: [] } as const;
  const refused = { signature: 'signature', sentAt: performance.now(), isOver: false, before };
  return { asked, verdict: judgeRefusal(parts, verified, inspection.inspected, refused, rejected) };
}

describe('a transaction that a node simulated in vain', () => {
  test.each<[string, Given, object]>([
    ['may land where it would succeed now', { said: FUNDS, simulated: null }, { status: 'may_land' }],
    ['may land where the node did not say why, and it would succeed', { simulated: null }, { status: 'may_land' }],
    ['is refused where it fails again', { said: FUNDS, simulated: FUNDS }, { status: 'refused', err: FUNDS, slot: 1 }],
    ['is refused for what is said last', { said: 'x', simulated: FUNDS }, { status: 'refused', err: FUNDS, slot: 1 }],
    [
      'is refused where its blockhash is unknown, and nobody knows how long it lives',
      { said: 'BlockhashNotFound', simulated: 'BlockhashNotFound' },
      { status: 'refused', err: 'BlockhashNotFound', slot: 1 },
    ],
    [
      'may land where its blockhash is unknown to nodes, and we know its end: the height tells',
      { said: 'BlockhashNotFound', simulated: 'BlockhashNotFound', isHeightKnown: true },
      { status: 'may_land' },
    ],
    [
      'is refused where its blockhash is unknown, and its end has passed',
      { said: 'BlockhashNotFound', simulated: 'BlockhashNotFound', isHeightKnown: true, blockHeight: 13 },
      { status: 'refused', err: 'BlockhashNotFound', slot: 1 },
    ],
    [
      'has landed where it is processed by now',
      { said: FUNDS, simulated: 'AlreadyProcessed', remembersSince: REMEMBERED_SINCE, isVerified: true },
      { status: 'landed' },
    ],
  ])('%s', async (_name, given, expected) => {
    const { verdict, asked } = judge(given);
    expect(await verdict).toEqual(expected);
    expect(asked).toEqual([{ commitment: 'processed' }]);
  });

  test('is not judged while the chain does not answer: it is not said that nothing was charged', async () => {
    const error = await rejectionOf(judge({ simulated: new RpcError('timeout', 'x') }).verdict);
    expect(error).toMatchObject({ code: 'payment_backend_unavailable' });
    expect(String(error)).not.toContain('nothing was charged');
    const bug = new TypeError('bug');
    expect(await rejectionOf(judge({ simulated: bug }).verdict)).toBe(bug);
  });
});

describe('a transaction that the chain knows, with books that began a while ago,', () => {
  const said = 'AlreadyProcessed';
  const remembersSince = REMEMBERED_SINCE;
  test.each<[string, Given, object]>([
    ['was just sent where we simulated it', { isVerified: true }, { status: 'landed' }],
    ['was just sent where its blockhash is ours', { isHeightKnown: true }, { status: 'landed' }],
    ['was just sent where it landed since', { blockTimes: [remembersSince + 2_001] }, { status: 'landed' }],
    ['is read again', { blockTimes: [undefined, undefined, remembersSince + 9_000] }, { status: 'landed' }],
    [
      'is another one’s where that one had it sent',
      { isVerified: true, before: { by: 'other' } },
      { status: 'refused', err: said },
    ],
    [
      'was sent before, and landed since',
      { blockTimes: [9_000, 9_000, 9_000], before: { by: 'same', since: 9_000 } },
      { status: 'landed' },
    ],
    [
      'was sent before, and had landed long before that',
      { blockTimes: [9_000, 9_000, 9_000], before: { by: 'same', since: 39_000 } },
      { status: 'refused', err: said },
    ],
    ['may have been used before that', { blockTimes: [remembersSince + 2_000] }, { status: 'refused', err: said }],
  ])('%s', async (_name, given, expected) => {
    const { verdict, asked } = judge({ said, remembersSince, ...given });
    expect(await verdict).toEqual(expected);
    expect(asked).toEqual([]);
  });

  test('is not judged while the chain does not tell when it landed', async () => {
    const late = { said, remembersSince, blockTimes: [undefined, undefined, undefined, remembersSince + 9_000] };
    expect(await rejectionOf(judge(late).verdict)).toMatchObject({ code: 'payment_backend_unavailable' });
  });
});

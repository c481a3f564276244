import type { EmbeddedFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { guardProgram } from '../../../src/sandbox/programs/guard-program.js';
import { PROGRAMS } from '../../../src/solana/transaction/programs.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { type LyingNode, startLyingNode } from '../../helpers/nodes/lying-node.js';
import type { Draft } from '../../helpers/transactions/draft.js';
import { askTerms, carry, type SignedPayment } from '../../helpers/transactions/payments.js';
import { guard, instruction } from '../../helpers/transactions/raw-instructions.js';
import { upgradeProgram } from '../../helpers/transactions/upgrade-program.js';
import { phantom, signLaidOut, solflare, type WalletLayout } from '../../helpers/transactions/wallet-layouts.js';

const LAYOUTS: readonly [string, WalletLayout][] = [
  ['Phantom', phantom],
  ['Solflare', solflare],
];
const VERSIONS: readonly Draft['version'][] = ['legacy', 0];
const MODES = ['after', 'before'] as const;
const OURS = 'invalid_exact_svm_payload_transaction_fee_payer_transferring_funds';

let fixture: TollFixture;
let node: LyingNode;
let url: string;
let runs = 0;

beforeAll(async () => {
  fixture = await openTollFixture();
  node = await startLyingNode(fixture);
  url = await fixture.serve((app) => {
    const sell = (path: string, facilitator: EmbeddedFacilitator) => {
      for (const settle of MODES) {
        const options = { facilitator, payTo: fixture.payTo, price: '$0.01', settle };
        const handler = (_req: unknown, res: { send(text: string): unknown }) => {
          runs += 1;
          res.send('the goods');
        };
        app.get(`${path}/${settle}`, requirePayment(options), handler);
        app.get(`${path}/${settle}/memo`, requirePayment({ ...options, memo: 'order 7' }), handler);
      }
    };
    sell('', fixture.facilitatorWith({ blockhashHints: false }));
    sell('/silent', node.facilitator);
  });
});
afterAll(async () => {
  await node.close();
  await fixture.close();
});
beforeEach(() => {
  runs = 0;
  node.lie = (_method, result) => result;
  fixture.sandbox.resetCalls();
});

const get = (path: string, { v2 }: SignedPayment) => fetch(url + path, { headers: v2 });
const sign = (path: string, layout: WalletLayout, version: Draft['version'] = 0) =>
  signLaidOut(fixture, url + path, layout, version);
const held = () => ({
  feePayer: fixture.sandbox.balance(fixture.feePayer.publicKey.toBase58()),
  seller: fixture.sandbox.tokenBalance(fixture.payTo, fixture.sandbox.tokens[0]!.mint),
});

/** The layout with another guard in place of its last. */
const guardedBy =
  (last: (honest: Draft) => ReturnType<typeof instruction>): WalletLayout =>
  (honest, transfer) => {
    const draft = phantom(honest, transfer);
    return { ...draft, instructions: [...draft.instructions.slice(0, -1), last(honest)] };
  };

async function expectServed(path: string, payment: SignedPayment): Promise<void> {
  const before = held();
  const answer = await get(path, payment);
  expect([answer.status, await answer.text(), runs]).toEqual([200, 'the goods', 1]);
  const after = held();
  expect(after.seller - before.seller).toBe(10_000n);
  // Two signatures, and 60,000 units at 50,000 micro-lamports.
  expect(before.feePayer - after.feePayer).toBe(13_000n);
}

/** Refused: no handler ran, nothing was signed and sent, and the fee payer lost nothing. */
async function expectRefused(path: string, payment: SignedPayment, status: number, what: string): Promise<void> {
  const before = held();
  const answer = await get(path, payment);
  const required = Buffer.from(answer.headers.get('payment-required') ?? '', 'base64').toString();
  expect(answer.status).toBe(status);
  expect(required + (await answer.text())).toContain(what);
  expect([runs, fixture.sandbox.calls.sendTransaction]).toEqual([0, 0]);
  expect(held()).toEqual(before);
}

describe.each(MODES)("settle: '%s'", (settle) => {
  describe.each(LAYOUTS)('%s', (_wallet, layout) => {
    test.each(VERSIONS)('pays with a transaction of version %s', async (version) => {
      const payment = await sign(`/${settle}`, layout, version);
      await expectServed(`/${settle}`, payment);
      expect(fixture.sandbox.calls).toMatchObject({ simulateTransaction: 1, sendTransaction: 1 });
    });

    test.each(VERSIONS)("pays and keeps the seller's memo, with version %s", async (version) => {
      await expectServed(`/${settle}/memo`, await sign(`/${settle}/memo`, layout, version));
    });

    test("is refused with a memo that is not the seller's", async () => {
      const payment = await sign(`/${settle}`, layout);
      const { accepts } = await askTerms(`${url}/${settle}/memo`);
      const memo = 'invalid_exact_svm_payload_memo_mismatch';
      await expectRefused(`/${settle}/memo`, carry(payment.transaction, accepts[0]!), 402, memo);
    });
  });

  test('a guard on the fee payer that calls another program is refused unsigned, and its harmless twin is paid', async () => {
    const takeBack = upgradeProgram(fixture.sandbox, PROGRAMS.lighthouse, guardProgram({ callingByte: 6 }));
    const thief = (await fixture.sandbox.createWallet({ sol: '1' })).publicKey.toBase58();
    const theft = guardedBy(({ feePayer }) => {
      const accounts = [PROGRAMS.system, { address: feePayer, signs: true, written: true }];
      // A transfer of the System Program, of 16,777,216 lamports.
      return instruction(
        PROGRAMS.lighthouse,
        [...accounts, { address: thief, written: true }],
        [6, 2, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0],
      );
    });
    await expectRefused(`/${settle}`, await sign(`/${settle}`, theft), 402, OURS);
    expect(fixture.sandbox.balance(thief)).toBe(1_000_000_000n);
    takeBack();
    await expectServed(`/${settle}`, await sign(`/${settle}`, theft));
    expect(fixture.sandbox.balance(thief)).toBe(1_000_000_000n);
  });

  test('a node that does not say which programs were called is no proof: 503, and the same payment is good later', async () => {
    node.lie = (method, result) => {
      if (method !== 'simulateTransaction') return result;
      const { context, value } = result as { context: object; value: object };
      return { context, value: { ...value, innerInstructions: null } };
    };
    const path = `/silent/${settle}`;
    const payment = await sign(path, phantom);
    await expectRefused(path, payment, 503, 'innerInstructions');
    // Nothing is remembered of a proof that was none.
    await expectRefused(path, payment, 503, 'innerInstructions');
    node.lie = (_method, result) => result;
    await expectServed(path, payment);
  });

  test('without a guard on the fee payer such a node is good enough', async () => {
    node.lie = (method, result) =>
      method === 'simulateTransaction' ? { ...(result as object), value: { err: null, logs: [] } } : result;
    const path = `/silent/${settle}`;
    const unguarded: WalletLayout = (honest, transfer) => {
      const guards = [guard(5, [transfer.authority]), guard(8, [transfer.source])];
      return {
        ...honest,
        instructions: [
          ...phantom(honest, transfer).instructions.slice(0, 2),
          ...honest.instructions.slice(2),
          ...guards,
        ],
      };
    };
    await expectServed(path, await sign(path, unguarded));
  });
});

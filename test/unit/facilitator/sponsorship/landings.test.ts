import { createLandings } from '../../../../src/facilitator/sponsorship/landings.js';
import { createMoneyInFlight, type SpendingPayment } from '../../../../src/facilitator/sponsorship/money-in-flight.js';
import { createSendWindow } from '../../../../src/facilitator/sponsorship/send-window.js';
import type { SignatureState } from '../../../../src/solana/rpc/rpc.js';

const FEE = 10_001n;
const ROOM = ['a', 'b', 'c', 'd', 'e'];
const LANDED: SignatureState = { slot: 7, err: null, commitment: 'confirmed' };

function payment(id: string): SpendingPayment {
  return { id, payer: 'payer', spending: [{ account: 'account', kind: 'token', most: 1n, least: 1n }] };
}

/** A wallet whose room is taken by payments that were sent, at a node that says where they stand. */
function crowded() {
  const [flight, window] = [createMoneyInFlight(), createSendWindow()];
  const states = new Map<string, SignatureState>();
  const node = { asked: 0, fails: false };
  const rpc = {
    async getSignatureStatuses(signatures: readonly string[]) {
      node.asked += 1;
      if (node.fails) throw new Error('the node is away');
      return { slot: 9, states: signatures.map((it) => states.get(it) ?? null) };
    },
  };
  const enter = (id: string) => window.enter({ id, payer: 'wallet', spenders: [], fee: FEE, isOperators: false });
  for (const id of ROOM) {
    expect(enter(id)).toBe(true);
    flight.take(payment(id));
    flight.sent(id, `signature of ${id}`);
  }
  const landings = createLandings({ rpc, flight, window, everyMs: 1 });
  const waits = (id: string) => landings.learnWhile(payment(id), Promise.resolve(enter(id)));
  return { landings, states, node, waits };
}

test('who waits for room has it as soon as a payment is confirmed, though its end is not told before it is final', async () => {
  const { states, waits } = crowded();
  const all = [waits('sixth'), waits('seventh')];
  states.set('signature of c', LANDED);
  expect(await Promise.all(all)).toEqual([true, true]);
});

test('those who wait for the same account ask together, and nobody asks when all have room', async () => {
  const { states, node, waits, landings } = crowded();
  const all = Array.from({ length: 7 }, (_, n) => waits(`next ${n}`));
  node.fails = true;
  while (node.asked < 3) await new Promise(setImmediate);
  expect(node.asked).toBe(3);
  node.fails = false;
  for (const id of ROOM) states.set(`signature of ${id}`, LANDED);
  expect(await Promise.all(all)).toEqual(Array(7).fill(true));
  const { asked } = node;
  await landings.learn(payment('another'));
  expect(node.asked).toBe(asked);
});

test.each<[string, SignatureState]>([
  ['only processed', { ...LANDED, commitment: 'processed' }],
  ['failed', { ...LANDED, err: { InstructionError: [0, 'Custom'] } }],
])('no room is made by one that has %s', async (_what, state) => {
  const { states, landings, waits } = crowded();
  const told: unknown[] = [];
  void waits('sixth').then((it) => told.push(it));
  states.set('signature of a', state);
  await landings.learn(payment('another'));
  await new Promise(setImmediate);
  expect(told).toEqual([]);
});

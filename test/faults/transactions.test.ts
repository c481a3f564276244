import type { FacilitatorOptions } from '../../src/facilitator/facilitator-options.js';
import type { Fault, Sandbox } from '../../src/sandbox/start-sandbox.js';
import { USDC } from '../helpers/crash/crash-fixture.js';
import { type FaultFixture, openFaultFixture } from '../helpers/crash/fault-fixture.js';
import type { Order } from '../helpers/crash/orders.js';
import { until } from '../helpers/until.js';

const PAYERS = 8;
const SERVED = '200';
const PENDING = '503 settlement_pending';
/** Where a token account holds its amount. */
const [AMOUNT_START, AMOUNT_END] = [64, 72];

const HURRIED: Partial<FacilitatorOptions> = { settleTimeoutMs: 300 };

interface Row {
  readonly name: string;
  readonly fault: Fault;
  readonly options: Partial<FacilitatorOptions>;
  readonly sees: readonly string[];
}

/** Nothing is lost for good: everybody is served in the end, for one price. */
const ROWS: readonly Row[] = [
  { name: 'dropped at first are sent again', fault: { kind: 'drop', times: PAYERS }, options: {}, sees: [SERVED] },
  { name: 'that land late are waited for', fault: { kind: 'late', slots: 20 }, options: {}, sees: [SERVED] },
  { name: 'that land too late are pending', fault: { kind: 'late', slots: 40 }, options: HURRIED, sees: [PENDING] },
  { name: 'dropped again and again are pending', fault: { kind: 'drop' }, options: HURRIED, sees: [PENDING] },
];

describe('transactions', () => {
  let fixture: FaultFixture;
  beforeAll(async () => {
    fixture = await openFaultFixture({ maxBlockhashAgeBlocks: 2_000 });
  });
  afterEach(() => {
    fixture.sandbox.faults.clear();
    fixture.sandbox.resumeSlots();
  });
  afterAll(() => fixture.close());

  test.each(ROWS)('$name', async ({ fault, options, sees }) => {
    const shop = await fixture.openShop(options);
    const orders = await shop.orders(PAYERS);
    fixture.sandbox.faults.add(fault);
    const replies = await shop.send(orders);
    fixture.sandbox.faults.clear();
    shop.expectTold(replies, sees);
    await shop.expectGood(orders, replies);
  });

  test('dropped until they expire are refused, and nobody has paid', async () => {
    const shop = await fixture.openShop(HURRIED);
    const orders = await shop.orders(PAYERS);
    fixture.sandbox.faults.add({ kind: 'drop' });
    shop.expectTold(await shop.send(orders), [PENDING]);
    fixture.sandbox.expireBlockhashes();
    const decided = await shop.insist(orders);
    shop.expectTold(decided, ['402 payment_failed']);
    await shop.expectFair(
      orders,
      orders.map(() => false),
    );
  });

  test('that land with an error are refused, cost the fee payer its fee, and hold nobody else up', async () => {
    const shop = await fixture.openShop();
    const orders = await shop.orders(PAYERS);
    const moves = orders.map((_, at) => at % 4 < 2);
    fixture.sandbox.faults.add({ kind: 'late', slots: 30 });
    fixture.sandbox.resetCalls();
    const sent = shop.send(orders);
    await until(() => fixture.sandbox.calls.sendTransaction === orders.length);
    const restore = orders.filter((_, at) => moves[at]).map((order) => empty(fixture.sandbox, order));
    const replies = await sent;
    for (const giveBack of restore) giveBack();
    shop.expectTold(replies, [SERVED, '402 payment_failed']);
    expect(replies.map(({ served }) => served)).toEqual(moves.map((it) => !it));
    const again = await shop.insist(orders);
    expect(again.map(({ code, replayed }) => (replayed ? 'replayed' : code))).toEqual(
      moves.map((it) => (it ? 'payment_invalid' : 'replayed')),
    );
    await shop.expectFair(
      orders,
      moves.map((it) => !it),
    );
  });
});

/** Takes the money away from a wallet, as if it had spent it elsewhere. Returns what gives it back. */
function empty(sandbox: Sandbox, { wallet }: Order): () => void {
  const address = sandbox.fundToken(wallet.publicKey.toBase58(), USDC, 0n);
  const state = sandbox.account(address);
  if (state === null) throw new Error('the payer has no account');
  const data = Uint8Array.from(state.data);
  data.fill(0, AMOUNT_START, AMOUNT_END);
  sandbox.setAccount(address, { ...state, data });
  return () => sandbox.setAccount(address, state);
}

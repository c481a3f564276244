import { remoteFacilitator } from '../../../src/facilitator/remote/remote-facilitator.js';
import { createRouter } from '../../../src/http/create-router.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createMemoryLedger } from '../../../src/storage/ledger/memory-ledger.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const SELLERS = 5;
const PRICE = 10_000n;
const NOT_DECIDED = new Set([409, 503]);

describe.each([
  ['that may ask the chain', 'after'],
  ['that may ask the chain', 'before'],
  ['that may ask nobody else', 'after'],
  ['that may ask nobody else', 'before'],
] as const)('sellers of one wallet on one facilitator, %s, settling %s', (asking, settle) => {
  let fixture: TollFixture;
  let urls: readonly string[];
  const closers: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    fixture = await openTollFixture();
    const { facilitator, payTo, sandbox } = fixture;
    const { tokens } = sandbox;
    const url = await fixture.serve((app) => app.use(createRouter({ facilitator, limits: false })));
    const node = asking === 'that may ask the chain' ? { rpcUrl: sandbox.rpcUrl } : {};
    const open = (name: number) => {
      const own = { network: facilitator.network, tokens, ledger: createMemoryLedger(), ...node };
      const remote = remoteFacilitator({ url, ...own });
      closers.push(remote.close);
      const gate = requirePayment({ facilitator: remote, payTo, price: '$0.01', settle });
      return fixture.serve((app) => app.get('/goods', gate, (_req, res) => void res.send(`goods of ${name}`)));
    };
    urls = (await Promise.all(Array.from({ length: SELLERS }, (_, name) => open(name)))).map((it) => `${it}/goods`);
    for (const it of urls) await fetch(it);
  });
  afterAll(async () => {
    for (const close of closers) await close();
    await fixture.close();
  });

  const balance = () =>
    fixture.sandbox.tokenBalance(fixture.payer.publicKey.toBase58(), fixture.sandbox.tokens[0]?.mint ?? '');

  async function ask(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
    let status = 0;
    await until(async () => {
      const response = await fetch(url, { headers });
      await response.text();
      status = response.status;
      return !NOT_DECIDED.has(status);
    });
    return status;
  }

  test('a payment that is shown to all of them at once buys from one', async () => {
    const [first = ''] = urls;
    const { v2 } = await signPayment(fixture, first);
    const before = balance();
    const statuses = await Promise.all(urls.map((url) => ask(url, v2)));
    expect(statuses.sort()).toEqual([200, 402, 402, 402, 402]);
    expect(before - balance()).toBe(PRICE);
  });

  test('a payment for each of them at once buys from each', async () => {
    const before = balance();
    const signed = await Promise.all(urls.map((url) => signPayment(fixture, url)));
    const statuses = await Promise.all(urls.map((url, at) => ask(url, signed[at]?.v2 ?? {})));
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
    expect(before - balance()).toBe(BigInt(SELLERS) * PRICE);
  });
});

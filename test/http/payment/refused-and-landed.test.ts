import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { Storage } from '../../../src/storage/storage.js';
import { openTollFixture, QUICK, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { type PassingCall, type RpcProxy, startRpcProxy } from '../../helpers/nodes/rpc-proxy.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { signPayment, stolenFrom } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const PRICE = 10_000n;
const TOO_LITTLE = { InstructionError: [2, { Custom: 1 }] };
const FOUND_TOO_LITTLE = { err: TOO_LITTLE, logs: [], accounts: null };

/** Two instances on one storage, the first of which has a node that lies. */
const INSTANCES = ['lied-to', 'other'] as const;
const SETTLES = ['after', 'before'] as const;

/** What the node says in place of the chain. */
function answered({ id }: PassingCall, body: object) {
  return { status: 200, body: JSON.stringify({ jsonrpc: '2.0', id, ...body }), isUnheard: true as const };
}

describe('a payment that a node refused, and passed on all the same', () => {
  const folder = testFolder();
  let fixture: TollFixture;
  let storage: Storage;
  let proxy: RpcProxy;
  let late: PassingCall | undefined;
  const urls = new Map<string, string>();
  let runs = 0;

  beforeAll(async () => {
    fixture = await openTollFixture();
    proxy = await startRpcProxy(fixture.sandbox.rpcUrl);
    storage = await openStorage(`sqlite:${folder.newPath('db')}`);
    const { payTo } = fixture;
    for (const name of INSTANCES) {
      const facilitator = fixture.facilitatorWith(
        { storage, ...(name === 'other' ? {} : { rpcUrl: proxy.url }) },
        QUICK,
      );
      const url = await fixture.serve((app) => {
        for (const settle of SETTLES) {
          const gate = requirePayment({ facilitator, payTo, price: '$0.01', settle, baseUrl: 'https://shop.example' });
          app.get(`/${settle}`, gate, (_req, res) => {
            runs += 1;
            res.send('the goods');
          });
        }
      });
      urls.set(name, url);
    }
  });
  afterAll(async () => {
    await fixture.close();
    await proxy.close();
    await storage.close();
  });
  afterEach(() => {
    proxy.decide = () => 'pass';
    fixture.sandbox.faults.clear();
  });

  const balance = () => fixture.sandbox.tokenBalance(fixture.payer.publicKey.toBase58(), USDC);
  const ask = (name: string, path: string, { v2 }: Pick<Awaited<ReturnType<typeof signPayment>>, 'v2'>) =>
    fetch(`${urls.get(name)}${path}`, { headers: v2 });

  /** The node refuses what it is sent, by whatever it is asked, and keeps it. */
  function lie(): void {
    late = undefined;
    proxy.decide = (call) => {
      if (call.method === 'sendTransaction') {
        late = call;
        const message = 'Transaction simulation failed';
        return answered(call, { error: { code: -32_002, message, data: { err: TOO_LITTLE, logs: [] } } });
      }
      if (call.method !== 'simulateTransaction' || late === undefined) return 'pass';
      return answered(call, { result: { context: { slot: 1 }, value: FOUND_TOO_LITTLE } });
    };
  }

  /** Brings it where the node lies, and has it land afterwards. */
  async function refusedAndLanded(path: string) {
    const payment = await signPayment(fixture, `${urls.get('lied-to')}${path}`);
    lie();
    const refused = await ask('lied-to', path, payment);
    expect([refused.status, refused.headers.get('payment-response') !== null]).toEqual([402, true]);
    proxy.decide = () => 'pass';
    const before = balance();
    const body = JSON.stringify({ jsonrpc: '2.0', ...late });
    const headers = { 'content-type': 'application/json' };
    await (await fetch(fixture.sandbox.rpcUrl, { method: 'POST', headers, body })).arrayBuffer();
    await until(() => before - balance() === PRICE);
    return payment;
  }

  async function inTheEnd(name: string, path: string, payment: Awaited<ReturnType<typeof signPayment>>) {
    let answer = await ask(name, path, payment);
    while (answer.status === 503) answer = await ask(name, path, payment);
    return answer;
  }

  describe.each(SETTLES)('with the money %s the handler', (settle) => {
    const path = `/${settle}`;

    test.each(INSTANCES)('is served to its payer, once, and to no stranger: on the one that is %s', async (name) => {
      const payment = await refusedAndLanded(path);
      runs = 0;
      const stolen = await stolenFrom(payment, `${urls.get(name)}${path}`);
      expect((await inTheEnd(name, path, stolen)).status).toBe(402);
      const served = await inTheEnd(name, path, payment);
      expect([served.status, await served.text(), runs]).toEqual([200, 'the goods', 1]);
      const [again, thief] = [await ask('other', path, payment), await ask(name, path, stolen)];
      expect([again.status, again.headers.get('idempotency-replayed'), thief.status, runs]).toEqual([
        200,
        'true',
        402,
        1,
      ]);
    });

    test('is served to its payer though its blockhash has expired by then', async () => {
      const payment = await refusedAndLanded(path);
      fixture.sandbox.expireBlockhashes();
      expect((await inTheEnd('other', path, payment)).status).toBe(200);
    });

    test('buys no other request', async () => {
      const payment = await refusedAndLanded(path);
      expect((await inTheEnd('other', `${path}?other`, payment)).status).toBe(402);
      expect((await inTheEnd('other', path, payment)).status).toBe(200);
    });
  });

  test('is not settled before its handler where it did not land, and its payer tops up between two looks at him', async () => {
    const payment = await signPayment(fixture, `${urls.get('lied-to')}/after`);
    lie();
    expect((await ask('lied-to', '/after', payment)).status).toBe(402);
    const before = balance();
    proxy.decide = tooLittleOnce();
    runs = 0;
    expect((await ask('lied-to', '/after', payment)).status).toBe(402);
    expect([runs, before - balance()]).toEqual([0, 0n]);
    expect((await ask('lied-to', '/after', payment)).status).toBe(200);
    expect([runs, before - balance()]).toEqual([1, PRICE]);
  });

  /** The first look finds too little; from then on there is enough. */
  function tooLittleOnce(): RpcProxy['decide'] {
    let looks = 0;
    return (call) => {
      if (call.method !== 'simulateTransaction') return 'pass';
      looks += 1;
      return looks > 1 ? 'pass' : answered(call, { result: { context: { slot: 1 }, value: FOUND_TOO_LITTLE } });
    };
  }
});

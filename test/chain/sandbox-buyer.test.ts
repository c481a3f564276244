import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Keypair } from '@solana/web3.js';
import express from 'express';
import request from 'supertest';
import {
  anyOf,
  createFacilitator,
  type Facilitator,
  requirePayment,
  requireTier,
  requireTokenBalance,
} from '../../src/index.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';

let sandbox: Sandbox;
let facilitator: Facilitator;
let payTo: string;
let app: express.Express;
let mint: string;
let member: Keypair;
let stranger: Keypair;

beforeAll(async () => {
  sandbox = await startSandbox({ slotMs: 20 });
  const { network, rpcUrl, wsUrl } = sandbox;
  facilitator = createFacilitator({ network, rpcUrl, wsUrl, keypair: await sandbox.createWallet({ sol: '1' }) });
  payTo = (await sandbox.createWallet({ usdc: '0' })).publicKey.toBase58();
  ({ mint } = sandbox.createMint({ decimals: 0 }));
  member = await sandbox.createWallet({ usdc: '20000' });
  stranger = await sandbox.createWallet({ usdc: '5' });
  sandbox.fundToken(member.publicKey, mint, 3n);
  app = createApp();
});

afterAll(async () => {
  await facilitator.close();
  await sandbox.close();
});

function createApp() {
  const site = { facilitator, payTo };
  const gold = requireTier({ facilitator, tier: 'gold' });
  const made = express();
  made.get('/paid', requirePayment({ ...site, price: '$0.01' }), (_req, res) => void res.send('paid'));
  made.post(
    '/order',
    requirePayment({ ...site, price: '$0.02' }),
    express.text(),
    (req, res) => void res.send(req.body),
  );
  made.get('/gold', gold, (req, res) => void res.send(req.tier?.id));
  made.get('/held', requireTokenBalance({ facilitator, mint, minBalance: 2 }), (_req, res) => void res.send('held'));
  made.get('/either', anyOf(gold, requirePayment({ ...site, price: '$1' })), (req, res) => {
    res.send(req.payment === undefined ? 'let in' : 'paid');
  });
  const holders = [{ tier: 'gold', price: '$0.05' }];
  made.get('/cheaper', requirePayment({ ...site, price: '$1', holders }), (req, res) => {
    res.send(String(req.payment?.terms.amount));
  });
  made.get('/named', requireTier({ facilitator, tier: 'gold', baseUrl: 'https://api.shop.example' }), (_req, res) => {
    res.send('named');
  });
  return made;
}

async function listening<T>(
  use: (url: string, server: ReturnType<express.Express['listen']>) => Promise<T>,
): Promise<T> {
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, server);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('a wallet of the sandbox pays with fetch, with the body that it sends', async () => {
  const [paid, order] = await listening(async (url) => {
    const fetchAs = sandbox.fetchAs(stranger, { maxAmount: '0.02' });
    const order = await fetchAs(`${url}/order`, {
      method: 'POST',
      body: 'a book',
      headers: { 'Content-Type': 'text/plain' },
    });
    return [await (await fetchAs(`${url}/paid`)).text(), await order.text()];
  });

  expect(paid).toBe('paid');
  expect(order).toBe('a book');
});

test('what is dearer than the limit is not paid, and the limit is named', async () => {
  const pay = listening(async (url) => sandbox.fetchAs(stranger, { maxAmount: '0.5' })(`${url}/either`));

  await expect(pay).rejects.toThrow('all terms are over "maxAmount", which is "0.5"');
});

test('with fetch a member is let in, another wallet pays or is refused', async () => {
  const answers = await listening(async (url) => {
    const asked = [member, stranger].flatMap((wallet) =>
      ['/gold', '/either'].map((path) => sandbox.fetchAs(wallet)(url + path)),
    );
    return Promise.all(
      (await Promise.all(asked)).map(async (it) => [it.status, it.status === 403 ? '' : await it.text()]),
    );
  });

  expect(answers).toEqual([
    [200, 'gold'],
    [200, 'let in'],
    [403, ''],
    [200, 'paid'],
  ]);
});

test('a gate is reached by fetch with a wallet that holds too little to pay, and what it answers is returned', async () => {
  const poor = await sandbox.createWallet({ usdc: '0' });
  const response = await listening(async (url) => sandbox.fetchAs(poor)(`${url}/paid`));

  expect(response.status).toBe(402);
});

describe.each(['an app, which listens anew for each request', 'a server that listens'] as const)(
  'with supertest and %s',
  (kind) => {
    const asking = <T>(use: (target: Parameters<typeof request>[0]) => Promise<T>) =>
      kind.startsWith('an app') ? use(app) : listening(async (_url, server) => use(server));

    test('the headers of a payment open what it has paid', async () => {
      const [first, paid] = await asking(async (target) => {
        const first = await request(target).get('/paid');
        return [first, await request(target).get('/paid').set(sandbox.paymentHeaders(stranger, first))];
      });

      expect([first.status, paid.status, paid.text]).toEqual([402, 200, 'paid']);
    });

    test.each([
      ['/gold', 'gold'],
      ['/held', 'held'],
      ['/either', 'let in'],
      ['/named', 'named'],
    ])('the headers of a sign-in open %s to a member, and not to another wallet', async (path, text) => {
      const answers = await asking(async (target) => {
        const asMember = sandbox.signInHeaders(member, await request(target).get(path));
        const asStranger = sandbox.signInHeaders(stranger, await request(target).get(path));
        return [await request(target).get(path).set(asMember), await request(target).get(path).set(asStranger)];
      });

      expect([answers[0]?.status, answers[0]?.text]).toEqual([200, text]);
      expect(answers[1]?.status).toBe(path === '/either' ? 402 : 403);
    });

    test('whoever signs in and then pays has the price of members', async () => {
      const paid = await asking(async (target) => {
        const ask = (headers = {}) => request(target).get('/cheaper').set(headers);
        const signedIn = await ask(sandbox.signInHeaders(member, await ask()));
        return ask(sandbox.paymentHeaders(member, signedIn));
      });

      expect([paid.status, paid.text]).toEqual([200, '50000']);
    });
  },
);

test('a response that asks for the other thing, or for nothing, is told so', async () => {
  const [paid, gold, none] = [
    await request(app).get('/paid'),
    await request(app).get('/gold'),
    await request(app).get('/'),
  ];

  expect(() => sandbox.signInHeaders(member, paid)).toThrow(
    'asks for a payment alone, which is what paymentHeaders(…) is for',
  );
  expect(() => sandbox.paymentHeaders(member, gold)).toThrow('signInHeaders(…) is for that');
  expect(() => sandbox.paymentHeaders(member, none)).toThrow('the response asks for no payment');
  expect(() => sandbox.signInHeaders(member, none)).toThrow(
    '(404) offers no sign-in: it must be the 401 or 402 of a gate',
  );
  expect(() => Reflect.apply(sandbox.paymentHeaders, sandbox, [member, request(app).get('/paid').then()])).toThrow(
    'is it awaited?',
  );
});

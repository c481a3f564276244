import type { Express } from 'express';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { signingFetch } from '../../helpers/http/official-clients.js';
import { testFolder } from '../../helpers/processes/test-folder.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const folder = testFolder();
const closers: (() => Promise<void>)[] = [];
let fixture: TollFixture;

beforeAll(async () => {
  fixture = await openTollFixture();
});
afterAll(async () => {
  await fixture.close();
  for (const close of closers) await close();
});

/** An instance of a shop whose handler does what it is told. */
async function instance(url: string, isBroken: () => boolean): Promise<string> {
  const storage = await openStorage(url);
  closers.push(() => storage.close());
  const facilitator = fixture.facilitatorWith({ storage });
  const gate = requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.01', settle: 'before' });
  return fixture.serve((app: Express) => {
    app.get('/report', gate, (_req, res) => void res.status(isBroken() ? 503 : 200).send('report'));
  });
}

test('a client whose paid request has failed at one instance signs in at another one at once, and does not pay again', async () => {
  const database = `sqlite:${folder.newPath('db')}`;
  let isBroken = true;
  const [one, other] = [await instance(database, () => isBroken), await instance(database, () => isBroken)];
  const wallet = await fixture.sandbox.createWallet({ usdc: '1' });
  const official = await signingFetch({ wallet, rpcUrl: fixture.sandbox.rpcUrl });
  const received = () => fixture.sandbox.tokenBalance(fixture.payTo, USDC);
  const before = received();
  for (let round = 1n; round <= 3n; round += 1n) {
    isBroken = true;
    // The other one has looked for credit just now, and found none.
    expect((await fetch(`${other}/report`)).status).toBe(402);
    expect((await official(`${one}/report`)).status).toBe(503);
    isBroken = false;
    expect((await official(`${other}/report`)).headers.get('access-pass-remaining')).toBe('0 USDC');
    expect(received() - before).toBe(round * 10_000n);
  }
});

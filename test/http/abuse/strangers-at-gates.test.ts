import type { Express } from 'express';
import { createHoldings } from '../../../src/access/holdings.js';
import { createIdentity, type WalletIdentity } from '../../../src/identity/create-identity.js';
import { anyOf } from '../../../src/middleware/gate/any-of.js';
import { tierOf } from '../../../src/middleware/gate/request-properties.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { readTier } from '../../../src/middleware/wallet/read-tier.js';
import { requireTier } from '../../../src/middleware/wallet/require-tier.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { addressBytes } from '../../../src/protocol/address.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { accessTokenFor } from '../../helpers/http/sign-in.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { type WalletKey, walletKey } from '../../helpers/transactions/wallet-key.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
/** Five a second, for four seconds; of an address that is alone half of nine tenths. */
const OF_ALL = 20;
const OF_ADDRESS = 9;
const WINDOW_MS = 4_000;
const STALE_MS = 15_000;

let fixture: TollFixture;
let identity: WalletIdentity;
let url: string;
let time = 0;
let names = 0;

beforeAll(async () => {
  fixture = await openTollFixture({ slotMs: 0, confirmedAfterSlots: 0 });
  const { facilitator, payTo, sandbox } = fixture;
  identity = createIdentity({ network: facilitator.network, jwtSecret: SECRET });
  const collection = { creator: sandbox.createMint({ decimals: 0 }).mint };
  const common = { facilitator, identity, holdings: createHoldings({ facilitator, now: () => time }) };
  const club = requireTokenBalance({ ...common, mint: USDC, minBalance: 100 });
  url = await fixture.serve((app: Express) => {
    app.set('trust proxy', 1);
    const tell = (_req: unknown, res: { send(text: string): unknown }) => void res.send('in');
    app.get('/club', club, tell);
    app.get('/gold', requireTier({ ...common, tier: 'gold' }), tell);
    app.get('/member', readTier(common), (req, res) => void res.send(tierOf(req)?.id ?? 'none'));
    app.get('/art', requireTokenBalance({ ...common, collection }), tell);
    app.get('/either', anyOf(club, requirePayment({ facilitator, payTo, price: '$0.01' })), tell);
  });
});
afterAll(() => fixture.close());
beforeEach(() => {
  time += 3_600_000;
  fixture.sandbox.resetCalls();
});

const fresh = (): WalletKey => walletKey(`stranger ${names++}`);
async function at(path: string, wallet: WalletKey, address = '192.0.2.1', headers = {}): Promise<Response> {
  const proof = await accessTokenFor(wallet, identity, url);
  return fetch(url + path, { headers: { ...proof, 'x-forwarded-for': address, ...headers } });
}
/** How many of some wallets were answered so. */
async function count(answers: readonly Promise<Response>[], status: number): Promise<number> {
  return (await Promise.all(answers)).filter((it) => it.status === status).length;
}
const flood = (path: string, wallets: number, addressOf = (_n: number) => '192.0.2.1') =>
  Array.from({ length: wallets }, (_, n) => at(path, fresh(), addressOf(n)));
const looks = () => fixture.sandbox.calls.getTokenAccountsByOwner;

/** A wallet with so many USDC in an account that is not the associated one. */
function holderElsewhere(usdc: bigint): WalletKey {
  const { sandbox } = fixture;
  const wallet = fresh();
  const model = sandbox.account(sandbox.fundToken(fresh().address, USDC, usdc * 1_000_000n));
  if (model === null) throw new Error('the account is missing');
  const data = Uint8Array.from(model.data);
  data.set(addressBytes(wallet.address), 32);
  sandbox.setAccount(fresh().address, { ...model, data });
  return wallet;
}

/** A stranger with dust in the account that is looked at first. */
function withDust(units = 1n): WalletKey {
  const wallet = fresh();
  fixture.sandbox.fundToken(wallet.address, USDC, units);
  return wallet;
}

describe('wallets with dust of what is asked for', () => {
  const dusty = (path: string) => Promise.all(Array.from({ length: 50 }, () => at(path, withDust())));

  test.each(['/club', '/gold', '/either', '/member'])('are strangers at %s', async (path) => {
    const answers = await dusty(path);
    expect(answers.filter((it) => it.status === 503)).toHaveLength(50 - OF_ADDRESS);
    expect(looks()).toBe(OF_ADDRESS);
  });

  test('do not keep out who was let in lately, nor change what he was seen holding', async () => {
    const member = holderElsewhere(100n);
    fixture.sandbox.fundToken(member.address, USDC, 1n);
    expect((await at('/club', member)).status).toBe(200);
    time += STALE_MS;
    await dusty('/club');
    expect((await at('/club', member)).status).toBe(200);
  });

  test('are told what they hold where they were looked at lately', async () => {
    const wallet = withDust(5_000_000n);
    expect((await at('/club', wallet)).status).toBe(403);
    time += STALE_MS;
    await dusty('/club');
    const again = await at('/club', wallet);
    expect(again.status).toBe(403);
    expect(await again.json()).toMatchObject({ balance: 5 });
  });

  test('do not keep a member from the tier that he has, below the highest', async () => {
    const bronze = withDust(100_000_000n);
    await dusty('/member');
    const answer = await at('/member', bronze);
    expect([answer.status, await answer.text()]).toEqual([200, 'bronze']);
  });
});

describe('wallets that cost nothing and hold nothing', () => {
  test.each(['/club', '/gold', '/either', '/art'])(
    'of one address cost few looks at %s, and the rest is told to come again',
    async (path) => {
      const answers = await Promise.all(flood(path, 60));
      const refused = answers.filter((it) => it.status === 503);
      expect(refused).toHaveLength(60 - OF_ADDRESS);
      expect(refused[0]?.headers.get('retry-after')).toBe('4');
      expect(await refused[0]?.json()).toMatchObject({ code: 'chain_unavailable', retryable: true });
      expect(looks()).toBe(path === '/art' ? 2 * OF_ADDRESS : OF_ADDRESS);
    },
  );

  test('of many addresses cost no more than all together may', async () => {
    const answers = flood('/club', 60, (n) => `10.${n}.0.1`);
    expect(await count(answers, 403)).toBe(OF_ALL);
    expect(looks()).toBe(OF_ALL);
  });

  test('do not keep out who holds something, from their own address or another, wherever he has it', async () => {
    const [associated, elsewhere, known] = [fresh(), holderElsewhere(100n), holderElsewhere(100n)];
    fixture.sandbox.fundToken(associated.address, USDC, 100_000_000n);
    expect((await at('/club', known)).status).toBe(200);
    time += STALE_MS;
    await Promise.all(flood('/club', 60));
    expect((await at('/club', associated)).status).toBe(200);
    expect((await at('/club', known)).status).toBe(200);
    expect((await at('/club', elsewhere)).status).toBe(503);
    expect((await at('/club', elsewhere, '198.51.100.1')).status).toBe(200);
  });

  test('do not hold up a payment of one that holds nothing', async () => {
    await Promise.all(flood('/either', 60));
    const { v2 } = await signPayment(fixture, `${url}/either`);
    expect((await at('/either', fresh(), '192.0.2.1', v2)).status).toBe(200);
  });

  test('are answered what was found of them lately, and looked at again when it is their turn', async () => {
    const wallet = fresh();
    expect((await at('/club', wallet)).status).toBe(403);
    time += STALE_MS;
    await Promise.all(flood('/club', 60));
    expect((await at('/club', wallet)).status).toBe(403);
    time += 600_000;
    await Promise.all(flood('/club', 60));
    expect((await at('/club', wallet)).status).toBe(503);
    time += WINDOW_MS;
    expect((await at('/club', wallet)).status).toBe(403);
  });
});

import type { Express, RequestHandler } from 'express';
import { createHoldings } from '../../../src/access/holdings.js';
import { createIdentity, type WalletIdentity } from '../../../src/identity/create-identity.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { accessTokenFor } from '../../helpers/http/sign-in.js';
import { giveNft, setMetadata } from '../../helpers/transactions/nft.js';
import { type WalletKey, walletKey } from '../../helpers/transactions/wallet-key.js';

const STALE_MS = 15_000;
const [creator, address, stranger] = ['creator', 'collection', 'stranger'].map((it) => walletKey(it).address) as [
  string,
  string,
  string,
];
const tell: RequestHandler = (_req, res) => void res.send('come in');
let fixture: TollFixture;
let identity: WalletIdentity;
let url: string;
let listed: string[];
let time = 0;
let names = 0;

beforeAll(async () => {
  fixture = await openTollFixture({ slotMs: 0, confirmedAfterSlots: 0 });
  const { facilitator, sandbox } = fixture;
  identity = createIdentity({ network: facilitator.network, jwtSecret: SECRET });
  const common = { facilitator, identity, holdings: createHoldings({ facilitator, now: () => time }) };
  listed = [0, 0, 9].map((decimals) => sandbox.createMint({ decimals }).mint);
  const long = [...listed, ...Array.from({ length: 30 }, (_, index) => walletKey(`never minted ${index}`).address)];
  url = await fixture.serve((app: Express) => {
    app.get('/creator', requireTokenBalance({ ...common, collection: { creator } }), tell);
    app.get('/collection', requireTokenBalance({ ...common, collection: { address } }), tell);
    app.get('/three', requireTokenBalance({ ...common, collection: { address }, minBalance: 3 }), tell);
    app.get('/listed', requireTokenBalance({ ...common, collection: listed }), tell);
    app.get('/two-listed', requireTokenBalance({ ...common, collection: listed, minBalance: 2 }), tell);
    app.get('/two-of-many', requireTokenBalance({ ...common, collection: long, minBalance: 2 }), tell);
  });
});
afterAll(() => fixture.close());
beforeEach(() => {
  time += STALE_MS;
  fixture.sandbox.resetCalls();
});

const fresh = (): WalletKey => walletKey(`collector ${names++}`);
const enter = async (path: string, wallet: WalletKey) =>
  fetch(`${url}${path}`, { headers: await accessTokenFor(wallet, identity, url) });
const statusAt = async (path: string, wallet: WalletKey) => (await enter(path, wallet)).status;
const verified = (who: string) => ({ address: who, verified: true });

describe('a collection by its metadata', () => {
  test.each(['spl-token', 'token-2022'] as const)('lets in who holds an NFT of it, of %s', async (program) => {
    const [byCreator, byCollection] = [fresh(), fresh()];
    giveNft(fixture.sandbox, { owner: byCreator.address, program, creators: [verified(stranger), verified(creator)] });
    giveNft(fixture.sandbox, { owner: byCollection.address, program, collection: verified(address), padded: false });
    expect(await statusAt('/creator', byCreator)).toBe(200);
    expect(await statusAt('/collection', byCollection)).toBe(200);
    expect(await statusAt('/collection', byCreator)).toBe(403);
    expect(await statusAt('/creator', byCollection)).toBe(403);
  });

  test('is not what anybody writes who is not the creator', async () => {
    const forger = fresh();
    const { sandbox } = fixture;
    giveNft(sandbox, { owner: forger.address, creators: [{ address: creator, verified: false }] });
    giveNft(sandbox, { owner: forger.address, collection: { address, verified: false } });
    giveNft(sandbox, { owner: forger.address, name: creator.slice(0, 30), uri: address });
    expect(await statusAt('/creator', forger)).toBe(403);
    expect(await statusAt('/collection', forger)).toBe(403);
  });

  test('is not what another program wrote at the place, nor the metadata of another mint', async () => {
    const forger = fresh();
    const { sandbox } = fixture;
    const mint = giveNft(sandbox, { owner: forger.address });
    setMetadata(sandbox, { mint, collection: verified(address) }, stranger);
    expect(await statusAt('/collection', forger)).toBe(403);
  });

  test('says in its 403 which it is', async () => {
    const answer = await enter('/three', fresh());
    expect(await answer.json()).toMatchObject({ balance: 0, min_balance: 3, collection: { address } });
  });

  test('counts each mint once that is held as a whole', async () => {
    const collector = fresh();
    const give = (amount: bigint, decimals = 0) =>
      giveNft(fixture.sandbox, { owner: collector.address, collection: verified(address), amount, decimals });
    give(3n);
    give(1n, 9);
    give(10n ** 9n - 1n, 9);
    expect(await (await enter('/three', collector)).json()).toMatchObject({ balance: 1 });
    time += STALE_MS;
    give(10n ** 9n, 9);
    expect(await (await enter('/three', collector)).json()).toMatchObject({ balance: 2 });
    time += STALE_MS;
    give(1n);
    expect(await statusAt('/three', collector)).toBe(200);
  });

  test('is looked up in batches, and what its metadata says is remembered', async () => {
    const collector = fresh();
    for (let held = 0; held < 60; held += 1) giveNft(fixture.sandbox, { owner: collector.address });
    giveNft(fixture.sandbox, { owner: collector.address, creators: [verified(creator)] });
    expect(await statusAt('/creator', collector)).toBe(200);
    const first = fixture.sandbox.calls.getMultipleAccounts;
    expect(first).toBeLessThan(10);

    time += STALE_MS;
    expect(await statusAt('/creator', collector)).toBe(200);
    expect(fixture.sandbox.calls.getMultipleAccounts).toBe(first);
  });
});

describe('a collection by its mints', () => {
  test('is not entered by a fraction of a token', async () => {
    const [dust, whole] = [fresh(), fresh()];
    fixture.sandbox.fundToken(dust.address, listed[2] ?? '', 1n);
    fixture.sandbox.fundToken(whole.address, listed[2] ?? '', 10n ** 9n);
    expect([await statusAt('/listed', dust), await statusAt('/listed', whole)]).toEqual([403, 200]);
  });

  test.each(['/two-listed', '/two-of-many'])('counts editions of one mint once, at %s', async (path) => {
    const [editions, collector] = [fresh(), fresh()];
    fixture.sandbox.fundToken(editions.address, listed[0] ?? '', 3n);
    fixture.sandbox.fundToken(collector.address, listed[0] ?? '', 1n);
    fixture.sandbox.fundToken(collector.address, listed[1] ?? '', 1n);
    expect([await statusAt(path, editions), await statusAt(path, collector)]).toEqual([403, 200]);
  });
});

test.each<[string, unknown, RegExp]>([
  ['by nothing', {}, /"collection" must be a list of mints, or \{ creator \}, or \{ address \}/],
  ['by both', { creator, address }, /"collection" must be a list of mints/],
  ['by no address', { creator: 'punk' }, /"collection.creator" must be the address/],
  ['by its name', 'punks', /"collection" must be a list of mints/],
  ['of no address', ['punk'], /the address of a mint/],
])('a collection %s is refused at once', (_name, collection, message) => {
  const gate = () => requireTokenBalance({ facilitator: fixture.facilitator, collection: collection as never });
  expect(gate).toThrow(message);
});

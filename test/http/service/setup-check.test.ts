import { ExtensionType } from '@solana/spl-token';
import { Keypair, PublicKey } from '@solana/web3.js';
import type { EmbeddedFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { remoteFacilitator } from '../../../src/facilitator/remote/remote-facilitator.js';
import type { SetupTarget } from '../../../src/facilitator/setup/setup-target.js';
import type { Facilitator } from '../../../src/facilitator/types.js';
import { createRouter } from '../../../src/http/create-router.js';
import { newId } from '../../../src/lib/ids.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { associatedTokenAddress } from '../../../src/solana/transaction/associated-token.js';
import { createMemoryIdempotencyStore } from '../../../src/storage/idempotency/memory-idempotency-store.js';
import { createMemoryLedger } from '../../../src/storage/ledger/memory-ledger.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { startLyingNode } from '../../helpers/nodes/lying-node.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { ledgerWith } from '../../helpers/storage/ledgers.js';
import { signPayment } from '../../helpers/transactions/payments.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const STATE_OFFSET = 108;
const OWNER_OFFSET = 32;

let fixture: TollFixture;
beforeAll(async () => {
  fixture = await openTollFixture({ maxBlockhashAgeBlocks: 2_000 });
});
afterEach(() => fixture.sandbox.faults.clear());
afterAll(() => fixture.close());

const newAddress = () => Keypair.generate().publicKey.toBase58();

async function findingsOf(facilitator: Facilitator, target?: SetupTarget) {
  const { ok, findings } = await facilitator.check(target);
  expect(ok).toBe(findings.every(({ severity }) => severity === 'warning'));
  for (const { detail, fix } of findings) expect([detail, fix].every((it) => it.length > 10)).toBe(true);
  return findings;
}

async function onlyFinding(facilitator: Facilitator, target?: SetupTarget) {
  const findings = await findingsOf(facilitator, target);
  expect(findings).toHaveLength(1);
  return findings[0]!;
}

test('nothing is found where all is well', async () => {
  expect(await fixture.facilitator.check()).toEqual({ ok: true, findings: [] });
  const target = { payTo: fixture.payTo, price: ['$0.01', '0.5 USDT'] };
  expect(await fixture.facilitator.check(target)).toEqual({ ok: true, findings: [] });
});

describe('the fee payer', () => {
  async function holding(lamports: bigint): Promise<EmbeddedFacilitator> {
    const keypair = Keypair.generate();
    if (lamports > 0n) fixture.sandbox.airdrop(keypair.publicKey.toBase58(), lamports);
    return fixture.facilitatorWith({ keypair });
  }

  test.each([0n, 900_879n])('with %s lamports is empty: an error, with the command that fills it', async (lamports) => {
    const finding = await onlyFinding(await holding(lamports));
    expect(finding).toMatchObject({ code: 'fee_payer_empty', severity: 'error' });
    expect(finding.fix).toBe(`solana airdrop 1 ${finding.about} --url ${fixture.sandbox.rpcUrl}`);
  });

  test('is nearly empty: a warning, with as many payments as it still pays for', async () => {
    const facilitator = await holding(925_000n);
    const finding = await onlyFinding(facilitator);
    expect(finding).toMatchObject({ code: 'fee_payer_low', severity: 'warning' });
    expect(finding.detail).toContain('pays for 3 payments more');
    const url = await fixture.serve((app) => {
      const gate = requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.01' });
      app.get('/', gate, (_req, res) => void res.send('sold'));
    });
    const statuses: number[] = [];
    for (let n = 0; n < 4; n += 1) {
      statuses.push((await fetch(url, { headers: (await signPayment(fixture, url)).v2 })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 503]);
    expect(await onlyFinding(facilitator)).toMatchObject({ code: 'fee_payer_empty' });
  });

  test('that is only there to finish what was offered with it may be empty, with a warning', async () => {
    const facilitator = fixture.facilitatorWith({ keypair: [fixture.feePayer, Keypair.generate()] });
    expect(await onlyFinding(facilitator)).toMatchObject({ code: 'fee_payer_empty', severity: 'warning' });
  });

  test('is to be paid itself: a warning', async () => {
    const payTo = fixture.feePayer.publicKey.toBase58();
    fixture.sandbox.fundToken(payTo, USDC, 0n);
    expect(await onlyFinding(fixture.facilitator, { payTo })).toMatchObject({
      code: 'recipient_is_fee_payer',
      severity: 'warning',
    });
  });
});

describe('the RPC', () => {
  const DEAD = 'http://127.0.0.1:1/v2/a-secret-key?token=hidden';

  test('does not answer: an error that names its host and nothing of its key', async () => {
    const finding = await onlyFinding(fixture.facilitatorWith({ rpcUrl: DEAD }), { payTo: fixture.payTo });
    expect(finding).toMatchObject({ code: 'rpc_unreachable', severity: 'error', about: '127.0.0.1:1' });
    expect(JSON.stringify(finding)).not.toMatch(/secret|hidden/);
  });

  test('is two, and one does not answer: a warning', async () => {
    const facilitator = fixture.facilitatorWith({ rpcUrl: [fixture.sandbox.rpcUrl, DEAD] });
    expect(await onlyFinding(facilitator)).toMatchObject({ code: 'rpc_unreachable', severity: 'warning' });
  });

  test('belongs to another cluster: an error that says to which, and nothing more is asked of it', async () => {
    const finding = await onlyFinding(fixture.facilitatorWith({ network: 'solana' }), { payTo: newAddress() });
    expect(finding).toMatchObject({ code: 'wrong_network', severity: 'error' });
    expect(finding.detail).toContain('belongs to solana-devnet, and the network is solana');
  });

  test('does not list inner instructions: a warning', async () => {
    const node = await startLyingNode(fixture);
    node.lie = (method, result) =>
      method === 'simulateTransaction'
        ? { ...(result as object), value: { ...(result as { value: object }).value, innerInstructions: null } }
        : result;
    expect(await onlyFinding(node.facilitator)).toMatchObject({ code: 'no_inner_instructions', severity: 'warning' });
    await node.close();
  });

  test('falls silent for a while: asked again, nothing is found', async () => {
    fixture.sandbox.faults.add({ kind: 'disconnect' });
    const facilitator = fixture.facilitatorWith({});
    expect((await findingsOf(facilitator))[0]).toMatchObject({ code: 'rpc_unreachable', severity: 'error' });
    fixture.sandbox.faults.clear();
    expect(await facilitator.check()).toEqual({ ok: true, findings: [] });
  });

  test('its WebSocket is not there: a warning, because confirmations are polled then', async () => {
    const facilitator = fixture.facilitatorWith({ wsUrl: 'ws://127.0.0.1:1/a-secret-key' });
    const finding = await onlyFinding(facilitator);
    expect(finding).toMatchObject({ code: 'websocket_unreachable', severity: 'warning' });
    expect(JSON.stringify(finding)).not.toContain('secret');
  });
});

describe('the recipient', () => {
  const changed = (wallet: string, at: number, bytes: Uint8Array): void => {
    const account = associatedTokenAddress(wallet, USDC, TOKEN_PROGRAM);
    const state = fixture.sandbox.account(account);
    if (state === null) throw new Error('there is no token account');
    const data = Uint8Array.from(state.data);
    data.set(bytes, at);
    fixture.sandbox.setAccount(account, { ...state, data });
  };

  test('has no token account: an error, with the command that makes one', async () => {
    const payTo = newAddress();
    const finding = await onlyFinding(fixture.facilitator, { payTo, price: '$0.01' });
    expect(finding).toMatchObject({ code: 'recipient_account_missing', severity: 'error' });
    expect(finding.detail).toContain(`the recipient ${payTo} has no USDC token account`);
    const { rpcUrl } = fixture.sandbox;
    expect(finding.fix).toContain(
      `npx tollhouse accounts create ${payTo} --token USDC --network solana-devnet --rpc ${rpcUrl} --keypair `,
    );
  });

  test('has one for one token of the price and not for the other', async () => {
    const seller = (await fixture.sandbox.createWallet({ usdc: '0' })).publicKey.toBase58();
    const finding = await onlyFinding(fixture.facilitator, { payTo: seller, price: ['$0.01', '0.01 PYUSD'] });
    expect(finding.detail).toContain('no PYUSD token account');
  });

  test('is one of several: each is looked at', async () => {
    const [first, second] = [newAddress(), newAddress()];
    const findings = await findingsOf(fixture.facilitator, { payTo: [first, fixture.payTo, second] });
    expect(findings.map(({ about }) => about)).toEqual([`${first} ${USDC}`, `${second} ${USDC}`]);
  });

  test('has a frozen token account', async () => {
    const seller = (await fixture.sandbox.createWallet({ usdc: '0' })).publicKey.toBase58();
    changed(seller, STATE_OFFSET, Uint8Array.of(2));
    expect(await onlyFinding(fixture.facilitator, { payTo: seller })).toMatchObject({
      code: 'recipient_account_frozen',
    });
  });

  test('has given its token account away', async () => {
    const seller = (await fixture.sandbox.createWallet({ usdc: '0' })).publicKey.toBase58();
    const other = newAddress();
    changed(seller, OWNER_OFFSET, new PublicKey(other).toBytes());
    const finding = await onlyFinding(fixture.facilitator, { payTo: seller });
    expect(finding).toMatchObject({ code: 'recipient_account_foreign', detail: expect.stringContaining(other) });
  });

  test('is a token account itself', async () => {
    const payTo = associatedTokenAddress(fixture.payTo, USDC, TOKEN_PROGRAM);
    const finding = await onlyFinding(fixture.facilitator, { payTo });
    expect(finding).toMatchObject({ code: 'recipient_not_wallet', detail: expect.stringContaining('token account') });
  });

  test.each(['nonsense', '', 'me@example.com'])('is no address: %p', async (payTo) => {
    expect(await onlyFinding(fixture.facilitator, { payTo })).toMatchObject({ code: 'recipient_not_wallet' });
  });
});

describe('the token', () => {
  test('of a price that cannot be read is told as a finding', async () => {
    const finding = await onlyFinding(fixture.facilitator, { price: '0.01' });
    expect(finding).toMatchObject({
      code: 'price_unreadable',
      detail: expect.stringContaining('did you mean "$0.01"'),
    });
  });

  test('does not exist', async () => {
    const asset = newAddress();
    const finding = await onlyFinding(fixture.facilitator, { payTo: fixture.payTo, price: { amount: 1n, asset } });
    expect(finding).toMatchObject({ code: 'mint_missing', severity: 'error', about: asset });
    expect(finding.fix).toContain(`USDC ${USDC}`);
  });

  test('is a wallet and no mint', async () => {
    const price = { amount: 1n, asset: fixture.feePayer.publicKey.toBase58() };
    expect(await onlyFinding(fixture.facilitator, { price })).toMatchObject({ code: 'mint_missing' });
  });

  test.each([
    ['keeps a fee of its transfers', { transferFee: { basisPoints: 100, maximumFee: 5n } }, 'another token'],
    ['calls a hook', { transferHook: { programId: TOKEN_PROGRAM } }, 'allowMints'],
  ])('%s', async (_what, extensions, fix) => {
    const { mint } = fixture.sandbox.createMint({ extensions });
    const finding = await onlyFinding(fixture.facilitator, { price: { amount: 1n, asset: mint } });
    expect(finding).toMatchObject({ code: 'mint_refused', fix: expect.stringContaining(fix) });
  });

  describe('of Token-2022', () => {
    const created = () => fixture.sandbox.createMint({ extensions: { closeAuthority: newAddress() } });

    /** Appends an extension as Token-2022 lays it out, empty but for its room. */
    function extended(mint: string, type: ExtensionType, bytes: number): void {
      const state = fixture.sandbox.account(mint);
      if (state === null) throw new Error('there is no mint');
      const head = new Uint8Array(Uint16Array.of(type, bytes).buffer);
      fixture.sandbox.setAccount(mint, { ...state, data: Buffer.concat([state.data, head, Buffer.alloc(bytes)]) });
    }

    test.each([
      ['has a multiplier', ExtensionType.ScaledUiAmountConfig, 56],
      ['bears interest', ExtensionType.InterestBearingConfig, 52],
    ])('%s: a warning says in what amounts are counted, by its name or its mint', async (_what, type, bytes) => {
      const { mint, program } = created();
      extended(mint, type, bytes);
      const facilitator = fixture.facilitatorWith({ tokens: [{ symbol: 'STOCK', mint, decimals: 6, program }] });
      const warning = { code: 'mint_shown_scaled', severity: 'warning', about: mint };
      expect(await onlyFinding(facilitator, { price: '5 STOCK' })).toMatchObject({
        ...warning,
        detail: expect.stringContaining('STOCK'),
        fix: expect.stringContaining(mint),
      });
      const unnamed = await onlyFinding(fixture.facilitator, { price: { amount: 1n, asset: mint } });
      expect(unnamed).toMatchObject({ ...warning, detail: expect.stringContaining('before any multiplier') });
    });

    test('shows what it counts: nothing is found', async () => {
      const price = { amount: 1n, asset: created().mint };
      expect(await fixture.facilitator.check({ price })).toEqual({ ok: true, findings: [] });
    });
  });

  test('has other decimals than the list of tokens says', async () => {
    const { mint, program } = fixture.sandbox.createMint({ decimals: 9 });
    const facilitator = fixture.facilitatorWith({ tokens: [{ symbol: 'CLUB', mint, decimals: 6, program }] });
    const finding = await onlyFinding(facilitator, { price: '1 CLUB' });
    expect(finding).toMatchObject({ code: 'mint_mismatch', fix: expect.stringContaining('decimals of CLUB to 9') });
  });
});

describe('the stores', () => {
  const gone = () => Promise.reject(new Error('gone'));

  test('of payments and of answers are gone: errors', async () => {
    const ledger = ledgerWith(createMemoryLedger(), { find: gone });
    const idempotency = { ...createMemoryIdempotencyStore(), find: gone };
    const findings = await findingsOf(fixture.facilitatorWith({ ledger, idempotency }));
    expect(findings.map(({ code }) => code)).toEqual(['store_unreachable', 'answers_unreachable']);
  });
});

describe('another facilitator', () => {
  beforeEach(() => {
    jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  });
  afterEach(() => jest.restoreAllMocks());

  const remotes: Facilitator[] = [];
  afterAll(async () => {
    for (const remote of remotes) await remote.close();
  });

  function remoteAt(url: string, options: Partial<Parameters<typeof remoteFacilitator>[0]> = {}): Facilitator {
    const remote = remoteFacilitator({ url, network: 'solana-devnet', ...options });
    remotes.push(remote);
    return remote;
  }
  const serve = (facilitator: EmbeddedFacilitator) =>
    fixture.serve((app) => void app.use(createRouter({ facilitator, limits: false })));

  test('is well', async () => {
    const url = await serve(fixture.facilitator);
    expect(await remoteAt(url).check({ payTo: newAddress() })).toEqual({ ok: true, findings: [] });
  });

  test('does not answer', async () => {
    expect(await onlyFinding(remoteAt('http://127.0.0.1:1'))).toMatchObject({ code: 'facilitator_unreachable' });
  });

  test('settles on another network', async () => {
    const finding = await onlyFinding(remoteAt(await serve(fixture.facilitator), { network: 'solana' }));
    expect(finding).toMatchObject({ code: 'facilitator_other_network', severity: 'error' });
  });

  test('says itself that it is nearly empty', async () => {
    const keypair = Keypair.generate();
    fixture.sandbox.airdrop(keypair.publicKey.toBase58(), 905_000n);
    const finding = await onlyFinding(remoteAt(await serve(fixture.facilitatorWith({ keypair }))));
    expect(finding).toMatchObject({ code: 'facilitator_degraded', severity: 'warning' });
  });

  test('is asked about a token account as recipient: its address alone tells', async () => {
    const payTo = associatedTokenAddress(fixture.payTo, USDC, TOKEN_PROGRAM);
    const finding = await onlyFinding(remoteAt(await serve(fixture.facilitator)), { payTo });
    expect(finding).toMatchObject({ code: 'recipient_not_wallet', severity: 'warning' });
  });

  test('with an RPC of our own, recipients are looked at on the chain', async () => {
    const remote = remoteAt(await serve(fixture.facilitator), { rpcUrl: fixture.sandbox.rpcUrl });
    expect(await onlyFinding(remote, { payTo: newAddress() })).toMatchObject({ code: 'recipient_account_missing' });
  });
});

describe('the books', () => {
  const folder = testFolder();

  async function openShop() {
    const storage = await openStorage(`sqlite:${folder.newPath('db')}`);
    const facilitator = fixture.facilitatorWith({ storage });
    const sold = { facilitator, payTo: fixture.payTo, price: '$0.01' };
    const url = await fixture.serve((app) => app.get('/', requirePayment(sold), (_req, res) => void res.send('sold')));
    return { storage, facilitator, url };
  }

  test('do not know what the fee payer has settled for the wallet: a warning there, and none where it was booked', async () => {
    const [one, other] = [await openShop(), await openShop()];
    expect((await fetch(one.url, { headers: (await signPayment(fixture, one.url)).v2 })).status).toBe(200);
    const target = { payTo: fixture.payTo, price: '$0.01' };

    expect(await onlyFinding(other.facilitator, target)).toMatchObject({
      code: 'payments_elsewhere',
      severity: 'warning',
      about: fixture.feePayer.publicKey.toBase58(),
    });
    expect((await other.facilitator.check({ payTo: newAddress() })).findings).not.toContainEqual(
      expect.objectContaining({ code: 'payments_elsewhere' }),
    );
    expect((await one.facilitator.check(target)).findings).toEqual([]);
    await Promise.all([one.storage.close(), other.storage.close()]);
  });

  test('need not know of payouts, whose network fee the fee payer pays', async () => {
    const { storage } = await openShop();
    const [keypair, split] = [
      await fixture.sandbox.createWallet({ sol: '1' }),
      await fixture.sandbox.createWallet({ usdc: '1' }),
    ];
    const { payouts, check } = fixture.facilitatorWith({ storage, keypair, splitKeypair: split });
    const legs = [{ recipient: fixture.payTo, amount: 10_000n }];
    const payout = { id: newId('pyo'), wallet: split.publicKey.toBase58(), mint: USDC, legs, total: 10_000n };
    const prepared = await payouts?.prepare(payout);
    if (!prepared?.ok) throw new Error('the payout is not signed');
    expect(await payouts?.send(prepared.signed)).toMatchObject({ status: 'paid' });
    expect((await check({ payTo: fixture.payTo })).findings).toEqual([]);
    await storage.close();
  });
});

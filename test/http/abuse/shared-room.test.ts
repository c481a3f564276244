import { Keypair, PublicKey, SystemProgram } from '@solana/web3.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { PROGRAMS } from '../../../src/solana/transaction/programs.js';
import { USDC } from '../../helpers/crash/crash-fixture.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { payingFetch } from '../../helpers/http/official-clients.js';
import { standsStill } from '../../helpers/http/stands-still.js';
import { startRpcProxy } from '../../helpers/nodes/rpc-proxy.js';
import { multisigOf } from '../../helpers/transactions/multisig.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

/** Where a token account says whose it is, whether it has a delegate, whom, and how much is his. */
const [OWNER_START, DELEGATE_TAG, DELEGATE_START, DELEGATED_START] = [32, 72, 76, 121];
const FEE = 10_001n;

let fixture: TollFixture;
beforeAll(async () => {
  fixture = await openTollFixture({ maxBlockhashAgeBlocks: 10_000 });
});
afterEach(() => fixture.sandbox.faults.clear());
afterAll(() => fixture.close());

const newWallet = () => fixture.sandbox.createWallet({ sol: '1', usdc: '1' });
const addressOf = ({ publicKey }: Keypair): string => publicKey.toBase58();

/** Lets another wallet take what this one holds, or less of it, as its own transaction would. */
function approve(wallet: Keypair, delegate: string, allowance = 1_000_000n): void {
  const { sandbox } = fixture;
  const account = sandbox.fundToken(addressOf(wallet), USDC, 0n);
  const state = sandbox.account(account);
  if (state === null || state === undefined) throw new Error(`${account} does not exist`);
  const data = Buffer.from(state.data);
  data[DELEGATE_TAG] = 1;
  data.set(new PublicKey(delegate).toBytes(), DELEGATE_START);
  data.writeBigUInt64LE(allowance, DELEGATED_START);
  sandbox.setAccount(account, { ...state, data: Uint8Array.from(data) });
}

/** Gives the account that a wallet pays from to another owner, and leaves it to the wallet as its delegate. */
function owned(wallet: Keypair, owner: string): void {
  approve(wallet, addressOf(wallet));
  const { sandbox } = fixture;
  const account = sandbox.fundToken(addressOf(wallet), USDC, 0n);
  const state = sandbox.account(account);
  if (state === null || state === undefined) throw new Error(`${account} does not exist`);
  const data = Buffer.from(state.data);
  data.set(new PublicKey(owner).toBytes(), OWNER_START);
  sandbox.setAccount(account, { ...state, data: Uint8Array.from(data) });
}

/** One transaction of a program can empty the accounts of all addresses that it has derived. */
function ownedByProgram(wallet: Keypair): void {
  const [derived] = PublicKey.findProgramAddressSync([wallet.publicKey.toBytes()], SystemProgram.programId);
  owned(wallet, derived.toBase58());
}

/** One signature is enough for any number of multisig accounts. */
function ownedBySigners(wallet: Keypair, signer: string): void {
  const multisig = addressOf(Keypair.generate());
  fixture.sandbox.setAccount(multisig, multisigOf(new PublicKey(signer), PROGRAMS.token));
  owned(wallet, multisig);
}

/** A shop on a chain on which nothing lands until its faults are cleared, and what was sent there. */
async function openSlowShop(settle: 'after' | 'before' = 'after') {
  const { sandbox, payTo } = fixture;
  const proxy = await startRpcProxy(sandbox.rpcUrl);
  // One that does not land is sent again from time to time.
  const sent = new Set<unknown>();
  proxy.decide = ({ method, params }) => {
    if (method === 'sendTransaction') sent.add(params[0]);
    return 'pass';
  };
  const keypair = await sandbox.createWallet({ sol: '1' });
  const facilitator = fixture.facilitatorWith({ keypair, rpcUrl: proxy.url });
  const url = await fixture.serve((app) => {
    app.get('/', requirePayment({ facilitator, payTo, price: '$0.01', settle }), (_req, res) => void res.send('sold'));
  });
  const answers: Promise<Response>[] = [];
  async function pay(payer: Keypair, times: number) {
    const signed = await Promise.all(Array.from({ length: times }, () => signPayment({ sandbox, payer }, url)));
    answers.push(...signed.map(({ v2 }) => fetch(url, { headers: v2 })));
  }
  return {
    payOnce: (payer: Keypair) => pay(payer, 1),
    payThrice: (payer: Keypair) => pay(payer, 3),
    async sends(room: number, most = room) {
      await until(() => sent.size >= room);
      await standsStill(() => sent.size);
      expect(sent.size).toBeGreaterThanOrEqual(room);
      expect(sent.size).toBeLessThanOrEqual(most);
    },
    async statuses() {
      sandbox.faults.clear();
      const all = (await Promise.all(answers)).map(({ status }) => status);
      await proxy.close();
      return all;
    },
  };
}

describe('four wallets that pay three times at once', () => {
  test.each([
    [
      'which one delegate could empty with one transaction, have the room of one wallet and one payment each',
      approve,
      5,
      8,
    ],
    ['from the accounts of one owner, as their delegates, have the room of one wallet', owned, 5],
    ['which a program acts for, each with a delegate, have room for four', ownedByProgram, 4],
    ['of several signers, each with a delegate, have room for four', ownedBySigners, 4],
    ['which belong to themselves, have room for all', undefined, 12],
    [
      'of which one delegate may take less than is left, have room for all',
      (it: Keypair, other: string) => approve(it, other, 970_000n),
      12,
    ],
    [
      'of which one delegate may take more than is left of the third, have room for all but these',
      (it: Keypair, other: string) => approve(it, other, 970_001n),
      12,
    ],
  ])('%s', async (_what, prepare, room, most = room) => {
    const shop = await openSlowShop();
    const other = addressOf(await newWallet());
    const payers = await Promise.all([1, 2, 3, 4].map(newWallet));
    for (const payer of payers) prepare?.(payer, other);
    fixture.sandbox.faults.add({ kind: 'late', slots: 50 });
    await Promise.all(payers.map(shop.payThrice));
    await shop.sends(room, most);
    expect(await shop.statuses()).toEqual(Array(12).fill(200));
  });
});

test('an owner whose delegates pay once each, at a route where nothing is simulated, has his room and that of whoever is not known', async () => {
  const shop = await openSlowShop('before');
  const other = addressOf(await newWallet());
  const payers = await Promise.all(Array.from({ length: 14 }, newWallet));
  for (const payer of payers) owned(payer, other);
  fixture.sandbox.faults.add({ kind: 'late', slots: 50 });
  for (const payer of payers) await shop.payOnce(payer);
  await shop.sends(9);
  expect(await shop.statuses()).toEqual(Array(14).fill(200));
});

test('a wallet that strangers name as their delegate has its room for itself', async () => {
  const shop = await openSlowShop();
  const wallet = await newWallet();
  const strangers = [await newWallet(), await newWallet()];
  for (const stranger of strangers) approve(stranger, addressOf(wallet));
  fixture.sandbox.faults.add({ kind: 'late', slots: 100 });
  await Promise.all(strangers.map(shop.payThrice));
  await shop.sends(5);
  await shop.payThrice(wallet);
  await shop.sends(8);
  expect(await shop.statuses()).toEqual(Array(9).fill(200));
});

describe('a wallet that pays itself, at a route where requests say who is paid', () => {
  /** Fifteen payments in an hour: three for each payer, nine for all that is not the operator's own. */
  const LIMIT = 150_100n;

  test('uses three fifths of the fees of an hour with all others, and the operator is paid after that', async () => {
    const { sandbox, payTo } = fixture;
    const feePayer = await sandbox.createWallet({ sol: '1' });
    const facilitator = fixture.facilitatorWith({ keypair: feePayer, maxFeeLamportsPerHour: LIMIT });
    const [own, merchant] = [addressOf(await newWallet()), addressOf(await newWallet())];
    const url = await fixture.serve((app) => {
      const sold = { facilitator, price: '$0.0001' };
      const shop = requirePayment({ ...sold, payTo: (req) => String(req.params['merchant']) });
      app.get('/shop/:merchant', shop, (_req, res) => void res.send('a deal'));
      app.get('/own', requirePayment({ ...sold, payTo }), (_req, res) => void res.send('served'));
    });
    const buy = async (path: string, times: number): Promise<readonly number[]> => {
      const { rpcUrl } = sandbox;
      const pay = await payingFetch({ wallet: await newWallet(), rpcUrl });
      const statuses: number[] = [];
      for (let n = 0; n < times; n += 1) statuses.push((await pay(url + path)).status);
      return statuses;
    };
    for (const to of [own, merchant, own]) expect(await buy(`/shop/${to}`, 3)).toEqual([200, 200, 200]);
    expect(await buy(`/shop/${merchant}`, 1)).toEqual([503]);
    expect(1_000_000_000n - BigInt(sandbox.balance(addressOf(feePayer)))).toBe(9n * FEE);
    expect(await buy('/own', 3)).toEqual([200, 200, 200]);
  });
});

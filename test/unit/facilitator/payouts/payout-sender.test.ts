import { Keypair, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { createPayoutSender } from '../../../../src/facilitator/payouts/payout-sender.js';
import { createFeeLimit } from '../../../../src/facilitator/sponsorship/fee-limit.js';
import { KNOWN_TOKENS } from '../../../../src/protocol/networks/tokens.js';
import { createSplitWallet } from '../../../../src/solana/building/payout-transaction.js';
import { createBlockhashCache } from '../../../../src/solana/confirmation/blockhash-cache.js';
import type { Delivery, Landing, SentDelivery } from '../../../../src/solana/confirmation/confirmation.js';
import { createFeePayer } from '../../../../src/solana/fee-payer.js';
import type { AccountState } from '../../../../src/solana/rpc/rpc.js';
import { createSolanaRpc } from '../../../../src/solana/rpc/rpc-client.js';
import { associatedTokenAddress } from '../../../../src/solana/transaction/associated-token.js';
import { PROGRAMS } from '../../../../src/solana/transaction/programs.js';
import type { PayoutRecord } from '../../../../src/storage/payouts/payout-store.js';
import { NETWORK, OUTAGE } from '../../../helpers/fixtures/payment-service-fixture.js';

const [USDC] = KNOWN_TOKENS[NETWORK];
const MINT = USDC!.mint;
const BLOCKHASH = { blockhash: newAddress(), lastValidBlockHeight: 150 };
const [SPLIT, PAYER] = [Keypair.generate(), Keypair.generate()];
const WALLET = SPLIT.publicKey.toBase58();
const BUG = new TypeError('bug');

function newAddress(): string {
  return Keypair.generate().publicKey.toBase58();
}

function tokenAccount(owner: string, amount = 0n): AccountState {
  const data = new Uint8Array(165);
  data.set(bs58.decode(MINT));
  data.set(bs58.decode(owner), 32);
  new DataView(data.buffer).setBigUint64(64, amount, true);
  return { lamports: 2_039_280n, owner: PROGRAMS.token, data };
}

function mintAccount(decimals: number): AccountState {
  const data = new Uint8Array(82);
  data.set([decimals, 1], 44);
  return { lamports: 1n, owner: PROGRAMS.token, data };
}

/** A sender on a chain that says what it is told to say; everybody has a token account there. */
function open(hasKey = true) {
  const chain: { simulated: unknown; landing: Landing | Error } = {
    simulated: null,
    landing: { status: 'landed', slot: 7, err: null },
  };
  const accounts = new Map<string, AccountState>();
  const asked: (readonly string[])[] = [];
  const rpc = {
    ...createSolanaRpc({ urls: 'http://127.0.0.1:1' }),
    async getAccounts(addresses: readonly string[]) {
      asked.push(addresses);
      return addresses.map((it) => accounts.get(it) ?? null);
    },
    async simulateTransaction() {
      if (chain.simulated instanceof Error) throw chain.simulated;
      return { err: chain.simulated, logs: [], slot: 1 };
    },
    getLatestBlockhash: async () => BLOCKHASH,
    getTip: async () => ({ slot: 3, blockHeight: 2 }),
    nodes: [],
  };
  const hold = (wallet: string, amount = 0n, owner = wallet): void =>
    void accounts.set(associatedTokenAddress(wallet, MINT, PROGRAMS.token), tokenAccount(owner, amount));
  const [anna, bert] = [newAddress(), newAddress()];
  const recipients = [anna, bert] as const;
  hold(WALLET, 100n);
  for (const it of recipients) hold(it);
  const sent: Delivery[] = [];
  const watched: SentDelivery[] = [];
  const answer = async (_count: number): Promise<Landing> => {
    if (chain.landing instanceof Error) throw chain.landing;
    return chain.landing;
  };
  const feePayer = createFeePayer(PAYER.secretKey, 'test');
  const sender = createPayoutSender({
    network: NETWORK,
    tokens: KNOWN_TOKENS[NETWORK],
    rpc,
    delivery: {
      deliver: (it) => answer(sent.push(it)),
      watch: (it) => answer(watched.push(it)),
      close: async () => undefined,
    },
    blockhashes: createBlockhashCache({ rpc }),
    feePayers: new Map(hasKey ? [[feePayer.address, feePayer]] : []),
    splitWallets: [createSplitWallet(SPLIT.secretKey, 'test', 'splitKeypair')],
    feeLimit: createFeeLimit({
      network: NETWORK,
      maxFeeLamportsPerHour: 25_000n,
      counters: undefined,
      now: () => 0,
      onLimitReached: () => undefined,
    }),
  });
  const payout: PayoutRecord = {
    id: 'pout_1',
    projectId: 'prj_1',
    network: NETWORK,
    wallet: WALLET,
    mint: MINT,
    legs: [
      { recipient: anna, amount: 90n },
      { recipient: bert, amount: 10n },
    ],
    total: 100n,
    state: 'created',
    owner: newAddress(),
    createdAt: 0,
    updatedAt: 0,
  };
  return { sender, chain, accounts, asked, hold, anna, bert, sent, watched, payout };
}

describe('a token', () => {
  test('that is known is not asked for', async () => {
    const { sender, asked } = open();
    for (const token of KNOWN_TOKENS[NETWORK]) expect(await sender.token(token.mint)).toBe(token);
    expect(asked).toEqual([]);
    expect([sender.network, sender.wallet]).toEqual([NETWORK, WALLET]);
  });

  test('that is not known is read once, and called by its mint', async () => {
    const { sender, accounts, asked } = open();
    const mint = newAddress();
    accounts.set(mint, mintAccount(4));
    const token = { symbol: mint, mint, decimals: 4, program: PROGRAMS.token };
    expect([await sender.token(mint), await sender.token(mint)]).toEqual([token, token]);
    expect(asked).toEqual([[mint]]);
  });

  test('that the chain does not know is asked for again later', async () => {
    const { sender } = open();
    const mint = newAddress();
    await expect(sender.token(mint)).rejects.toMatchObject({
      code: 'chain_unavailable',
      message: `The chain knows no token ${mint}.`,
      context: { retryAfterSeconds: 2 },
    });
  });
});

describe('what can be paid', () => {
  test('is signed by both keys, over the fresh blockhash, and not sent', async () => {
    const { sender, payout, sent } = open();
    const prepared = await sender.prepare(payout);
    if (!prepared.ok) throw new Error(prepared.reason);
    const { signature, transaction, ...rest } = prepared.signed;
    const { message, signatures } = VersionedTransaction.deserialize(transaction);
    expect(rest).toEqual({ ...BLOCKHASH, signedSlot: 3 });
    expect(signature).toBe(bs58.encode(signatures[0]!));
    expect(message.staticAccountKeys.slice(0, 2).map(String)).toEqual([PAYER.publicKey.toBase58(), WALLET]);
    expect(message.recentBlockhash).toBe(BLOCKHASH.blockhash);
    expect(signatures.every((it) => it.some((byte) => byte !== 0))).toBe(true);
    expect(sent).toEqual([]);
  });

  test('costs no more than may be spent in an hour', async () => {
    const { sender, payout } = open();
    expect([(await sender.prepare(payout)).ok, (await sender.prepare(payout)).ok]).toEqual([true, true]);
    await expect(sender.prepare(payout)).rejects.toMatchObject({ code: 'fee_limit_reached' });
  });

  test('is not signed where no key pays fees', async () => {
    const { sender, payout } = open(false);
    await expect(sender.prepare(payout)).rejects.toThrow('there is no key that pays network fees');
  });
});

describe('what cannot be paid', () => {
  test('is told of each recipient, and the payout names the first', async () => {
    const { sender, payout, hold, accounts, anna, bert } = open();
    expect(await sender.faults(MINT, [anna, bert])).toEqual(new Map());
    hold(bert, 0n, anna);
    const notOwned = 'recipient_token_account_not_owned';
    expect(await sender.prepare(payout)).toEqual({ ok: false, recipient: bert, reason: notOwned });
    accounts.delete(associatedTokenAddress(anna, MINT, PROGRAMS.token));
    const missing = 'recipient_token_account_missing';
    expect(await sender.prepare(payout)).toEqual({ ok: false, recipient: anna, reason: missing });
    expect([...(await sender.faults(MINT, [anna, bert]))]).toEqual([
      [anna, missing],
      [bert, notOwned],
    ]);
  });

  test('is held back where the split wallet holds one unit too little, or nothing', async () => {
    const { sender, payout, hold, accounts } = open();
    expect((await sender.prepare(payout)).ok).toBe(true);
    const short = { ok: false, reason: 'split_wallet_short' };
    hold(WALLET, 99n);
    expect(await sender.prepare(payout)).toEqual(short);
    accounts.delete(associatedTokenAddress(WALLET, MINT, PROGRAMS.token));
    expect(await sender.prepare(payout)).toEqual(short);
  });

  test.each([
    [2, 'anna'],
    [3, 'bert'],
  ] as const)('because the transfer at %d is refused names its recipient', async (position, name) => {
    const at = open();
    at.chain.simulated = { InstructionError: [position, { Custom: 17 }] };
    const refused = { ok: false, reason: 'transfer_refused', recipient: at[name] };
    expect(await at.sender.prepare(at.payout)).toEqual(refused);
  });

  test.each([
    'AccountNotFound',
    { InstructionError: [0, 'InvalidInstructionData'] },
    { InstructionError: [4, 'InvalidInstructionData'] },
    { InstructionError: ['2', 'InvalidInstructionData'] },
    { InstructionError: null },
    { InstructionError: '22' },
    { InsufficientFundsForRent: { account_index: 0 } },
    { InstructionError: [0, 'x'.repeat(300)] },
  ])('for another reason has to wait: %#', async (err) => {
    const { sender, payout, chain } = open();
    chain.simulated = err;
    await expect(sender.prepare(payout)).rejects.toMatchObject({
      code: 'chain_unavailable',
      message: `The payout would fail on the chain now: ${JSON.stringify(err).slice(0, 200)}.`,
      context: { retryAfterSeconds: 2 },
    });
  });

  test('cannot be known in an outage', async () => {
    const { sender, payout, chain } = open();
    chain.simulated = OUTAGE;
    await expect(sender.prepare(payout)).rejects.toMatchObject({ code: 'chain_unavailable' });
  });
});

describe('what was signed', () => {
  const signed = { signature: '5'.repeat(88), transaction: Uint8Array.of(1, 2), ...BLOCKHASH };

  test.each<[Landing | Error, object]>([
    [
      { status: 'landed', slot: 7, err: null },
      { status: 'paid', slot: 7 },
    ],
    // Neither is believed on one word, and there is nobody else to ask here.
    [
      { status: 'landed', slot: 7, err: 'AccountInUse' },
      { status: 'unknown', isForgotten: false },
    ],
    [{ status: 'expired' }, { status: 'unknown', isForgotten: false }],
    [{ status: 'unknown' }, { status: 'unknown' }],
    [{ status: 'rejected', err: 'AlreadyProcessed', logs: [] }, { status: 'unknown' }],
    [OUTAGE, { status: 'unknown' }],
  ])('ends as the chain says, sent for the first time or again: %#', async (landing, outcome) => {
    const { sender, chain, sent, watched } = open();
    chain.landing = landing;
    expect([await sender.send(signed), await sender.resume(signed)]).toEqual([outcome, outcome]);
    const delivery = { ...signed, commitment: 'confirmed', timeoutMs: 30_000 };
    expect([sent, watched]).toEqual([[{ ...delivery, preflight: false }], [delivery]]);
  });

  test('is no outage where there is a bug', async () => {
    const { sender, chain } = open();
    chain.landing = BUG;
    await expect(sender.send(signed)).rejects.toBe(BUG);
    await expect(sender.resume(signed)).rejects.toBe(BUG);
  });
});

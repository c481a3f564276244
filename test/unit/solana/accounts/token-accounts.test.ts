import { Keypair, PublicKey } from '@solana/web3.js';
import { createAccountBatch } from '../../../../src/solana/accounts/account-batch.js';
import {
  delegateOf,
  mintFactsOf,
  readMint,
  readTokenBalances,
  tokenAccountOf,
} from '../../../../src/solana/accounts/token-accounts.js';
import type { SolanaRpc } from '../../../../src/solana/rpc/rpc.js';
import { createSolanaRpc } from '../../../../src/solana/rpc/rpc-client.js';
import { associatedTokenAddress } from '../../../../src/solana/transaction/associated-token.js';
import { PROGRAMS } from '../../../../src/solana/transaction/programs.js';
import {
  closeRpcEndpoints,
  type Reaction,
  type ReceivedCall,
  startRpcEndpoint,
} from '../../../helpers/nodes/rpc-endpoint.js';
import { rpcErrorOf } from '../../../helpers/rejection.js';

let rpc: SolanaRpc | undefined;

async function connect(react: (call: ReceivedCall) => Reaction) {
  const endpoint = await startRpcEndpoint(react);
  rpc = createSolanaRpc({ urls: endpoint.url });
  return { rpc, calls: endpoint.calls };
}

afterEach(async () => {
  await rpc?.close();
  await closeRpcEndpoints();
});

const ACCOUNT = { lamports: 5, owner: PROGRAMS.token, data: ['AQID', 'base64'] };
const state = (owner: string, size: number, marks: Readonly<Record<number, number>> = {}) => {
  const data = new Uint8Array(size);
  for (const [offset, value] of Object.entries(marks)) data[Number(offset)] = value;
  return { lamports: 1n, owner, data };
};

describe('getTokenAccountsByOwner', () => {
  test('asks for the first 72 bytes of each account', async () => {
    const { rpc, calls } = await connect(() => ({ result: { value: [{ pubkey: 'a', account: ACCOUNT }] } }));

    expect(await rpc.getTokenAccountsByOwner('owner', { mint: 'mint' }, 'confirmed')).toEqual([
      { lamports: 5n, owner: PROGRAMS.token, data: Buffer.from([1, 2, 3]) },
    ]);
    expect(calls).toMatchObject([
      {
        method: 'getTokenAccountsByOwner',
        params: [
          'owner',
          { mint: 'mint' },
          { encoding: 'base64', commitment: 'confirmed', dataSlice: { offset: 0, length: 72 } },
        ],
      },
    ]);
  });

  test.each([
    [null],
    [{ value: null }],
    [{ value: {} }],
    [{ value: [null] }],
    [{ value: [{ pubkey: 'a' }] }],
    [{ value: [{ account: null }] }],
    [{ value: [{ account: { ...ACCOUNT, data: 'AQID' } }] }],
  ])('an answer like %j is a bad one', async (result) => {
    const { rpc } = await connect(() => ({ result }));
    const error = await rpcErrorOf(rpc.getTokenAccountsByOwner('owner', { programId: 'program' }, 'confirmed'));
    expect(error.failure).toBe('bad_answer');
  });
});

describe('an account', () => {
  test.each([
    ['of the classic size', state(PROGRAMS.token, 82, { 44: 9, 45: 1 }), { decimals: 9, program: PROGRAMS.token }],
    ['of Token-2022', state(PROGRAMS.token2022, 82, { 44: 2, 45: 1 }), { decimals: 2, program: PROGRAMS.token2022 }],
    [
      'with extensions',
      state(PROGRAMS.token2022, 200, { 44: 6, 45: 1, 165: 1 }),
      { decimals: 6, program: PROGRAMS.token2022 },
    ],
    ['that is not initialized', state(PROGRAMS.token, 82, { 44: 9 }), undefined],
    ['that is a token account', state(PROGRAMS.token, 165, { 45: 1 }), undefined],
    ['that is an extended token account', state(PROGRAMS.token2022, 200, { 45: 1, 165: 2 }), undefined],
    ['that is a multisig', state(PROGRAMS.token2022, 355, { 45: 1, 165: 1 }), undefined],
    ['of SPL Token in the form of extensions', state(PROGRAMS.token, 200, { 45: 1, 165: 1 }), undefined],
    ['of another program', state(PROGRAMS.memo, 82, { 44: 9, 45: 1 }), undefined],
    ['that is none', null, undefined],
  ])('%s read as a mint', (_name, account, facts) => {
    expect(mintFactsOf(account)).toEqual(facts);
  });

  test('holds its amount, whatever lies around its bytes in memory', () => {
    const padded = new Uint8Array(100).fill(255);
    padded.fill(0, 10, 82);
    padded[10 + 64] = 7;
    const account = { lamports: 1n, owner: PROGRAMS.token2022, data: padded.subarray(10, 82) };

    expect(tokenAccountOf(account)).toEqual({ mint: PROGRAMS.system, owner: PROGRAMS.system, amount: 7n });
  });

  test('has a delegate where it says so, who may take so much', () => {
    const of = (...tag: number[]) => {
      const account = state(PROGRAMS.token, 165, { 72: tag[0] ?? 0, 121: 7, 122: 1 });
      account.data.set(new PublicKey(PROGRAMS.memo).toBytes(), 76);
      return delegateOf(account);
    };
    expect([of(1), of(0)]).toEqual([{ delegate: PROGRAMS.memo, allowance: 263n }, undefined]);
    expect(delegateOf(state(PROGRAMS.token, 128, { 72: 1 }))).toBeUndefined();
    expect([delegateOf(null), delegateOf(state(PROGRAMS.memo, 165, { 72: 1 }))]).toEqual([undefined, undefined]);
  });

  test.each([
    ['shorter than a head', state(PROGRAMS.token, 71)],
    ['of another program', state(PROGRAMS.memo, 165)],
    ['that is none', null],
  ])('%s is no token account', (_name, account) => {
    expect(tokenAccountOf(account)).toBeUndefined();
  });
});

describe('what is asked of the chain', () => {
  const told = ({ owner, data }: { readonly owner: string; readonly data: Uint8Array }) => ({
    lamports: 1,
    owner,
    data: [Buffer.from(data).toString('base64'), 'base64'],
  });
  const mint = told(state(PROGRAMS.token, 82, { 44: 9, 45: 1 }));
  const holding = told(state(PROGRAMS.token, 165, { 64: 7, 65: 1 }));

  test.each([
    ['a mint', mint, { decimals: 9, program: PROGRAMS.token }],
    ['a token account', holding, undefined],
    ['nothing', null, undefined],
  ])('an address where there is %s, read as a mint', async (_what, account, facts) => {
    const { rpc, calls } = await connect(() => ({ result: { value: [account] } }));
    expect(await readMint('mint', rpc)).toEqual(facts);
    const config = expect.objectContaining({ commitment: 'confirmed' });
    expect(calls).toMatchObject([{ method: 'getMultipleAccounts', params: [['mint'], config] }]);
  });

  test('amounts are told in the order of their owners, undefined where there is no token account', async () => {
    const [mintAddress, ...owners] = Array.from({ length: 4 }, () => Keypair.generate().publicKey.toBase58());
    const { rpc, calls } = await connect(() => ({
      result: { value: [holding, null, told(state(PROGRAMS.system, 0))] },
    }));
    const amounts = await readTokenBalances(owners, mintAddress!, PROGRAMS.token, rpc);
    expect(amounts).toEqual([263n, undefined, undefined]);
    const addresses = owners.map((owner) => associatedTokenAddress(owner, mintAddress!, PROGRAMS.token));
    const config = expect.objectContaining({ commitment: 'confirmed' });
    expect(calls).toMatchObject([{ method: 'getMultipleAccounts', params: [addresses, config] }]);
  });
});

describe('a batch of accounts', () => {
  const LIMITS = { quietMs: 5, longestMs: 50, quietPerSecond: 9, headBytes: 100 };
  const echo = ({ params }: ReceivedCall): Reaction => {
    const addresses = params[0] as string[];
    return { result: { value: addresses.map((owner) => (owner === 'none' ? null : { ...ACCOUNT, owner })) } };
  };
  const addressesOf = ({ params }: ReceivedCall) => params[0] as string[];

  test('gives everybody what was asked for, and asks for each address once', async () => {
    const { rpc, calls } = await connect(echo);
    const load = createAccountBatch(rpc, LIMITS);
    const found = await Promise.all(['a', 'b', 'a', 'none'].map(load));

    expect(found.map((account) => account?.owner)).toEqual(['a', 'b', 'a', undefined]);
    expect(calls.map(addressesOf)).toEqual([['a', 'b', 'none']]);
  });

  test('leaves when it is full', async () => {
    const { rpc, calls } = await connect(echo);
    const load = createAccountBatch(rpc, { quietMs: 60_000, longestMs: 60_000, quietPerSecond: 9, headBytes: 100 });
    await Promise.all(Array.from({ length: 200 }, (_, index) => load(`${index}`)));

    expect(calls.map((call) => addressesOf(call).length)).toEqual([100, 100]);
  });

  test('takes whoever comes before it leaves', async () => {
    const { rpc, calls } = await connect(echo);
    const load = createAccountBatch(rpc, LIMITS);
    const first = load('a');
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([first, load('b')]);

    expect(calls.map(addressesOf)).toEqual([['a', 'b']]);
  });

  test('leaves in the end, however many keep coming', async () => {
    const { rpc, calls } = await connect(echo);
    const load = createAccountBatch(rpc, LIMITS);
    const asked: Promise<unknown>[] = [];
    while (calls.length === 0) {
      if (asked.length < 90) asked.push(load(`${asked.length}`));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await Promise.all(asked)).length).toBe(asked.length);
  });

  test('that fails fails for those in it only', async () => {
    let failures = 1;
    const { rpc } = await connect((call) =>
      failures-- > 0 ? { error: { code: -32_000, message: 'no' } } : echo(call),
    );
    const load = createAccountBatch(rpc, LIMITS);
    const [a, b] = [load('a'), load('b')];

    expect((await rpcErrorOf(a)).failure).toBe('answer');
    expect((await rpcErrorOf(b)).failure).toBe('answer');
    expect((await load('a'))?.owner).toBe('a');
  });
});

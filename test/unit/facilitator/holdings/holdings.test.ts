import { createHoldingsReader } from '../../../../src/facilitator/holdings/holdings.js';
import { addressBytes } from '../../../../src/protocol/address.js';
import { KNOWN_TOKENS, SOL_MINT } from '../../../../src/protocol/networks/tokens.js';
import { type AccountState, RpcError } from '../../../../src/solana/rpc/rpc.js';
import { associatedTokenAddress } from '../../../../src/solana/transaction/associated-token.js';
import { PROGRAMS } from '../../../../src/solana/transaction/programs.js';
import { fakeNode, rejectionOf } from '../../../helpers/nodes/fake-node.js';
import { walletKey } from '../../../helpers/transactions/wallet-key.js';

const MINT_BYTES = 82;
const TOKENS = KNOWN_TOKENS['solana-devnet'];
const USDC = TOKENS[0]?.mint ?? '';
const [wallet, stranger] = [walletKey('wallet').address, walletKey('stranger').address];
const mintOf = (index: number): string => walletKey(`mint ${index}`).address;

type Chain = Record<string, AccountState>;

const solAccount = (lamports: bigint): AccountState => ({ lamports, owner: PROGRAMS.system, data: new Uint8Array() });

function tokenAccount(mint: string, owner: string, amount: bigint): AccountState {
  const data = new Uint8Array(165);
  data.set(addressBytes(mint), 0);
  data.set(addressBytes(owner), 32);
  new DataView(data.buffer).setBigUint64(64, amount, true);
  return { lamports: 1n, owner: PROGRAMS.token, data };
}

function mintAccount(decimals: number): AccountState {
  const data = new Uint8Array(MINT_BYTES);
  data[44] = decimals;
  data[45] = 1;
  return { lamports: 1n, owner: PROGRAMS.token, data };
}

const associated = (mint: string): string => associatedTokenAddress(wallet, mint, PROGRAMS.token);

/** A node with accounts, and what it says to a look at all token accounts. */
function scene(chain: Chain, listed: (filter: object) => readonly AccountState[] | Error = () => []) {
  const asked: (readonly unknown[])[] = [];
  const node = fakeNode({
    async getAccounts(addresses) {
      asked.push(addresses);
      return addresses.map((it) => chain[it] ?? null);
    },
    async getTokenAccountsByOwner(owner, filter) {
      asked.push([owner, filter]);
      const answer = listed(filter);
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  return { asked, chain, reader: createHoldingsReader(node, TOKENS) };
}

afterEach(() => jest.restoreAllMocks());

describe('a look that is told what is enough stops there', () => {
  test.each([
    [7n, { amount: 7n, exact: false }, [[wallet]]],
    [8n, { amount: 10n, exact: false }, [[wallet], [associated(SOL_MINT)]]],
    [10n, { amount: 10n, exact: false }, [[wallet], [associated(SOL_MINT)]]],
    [11n, { amount: 12n, exact: true }, [[wallet], [associated(SOL_MINT)], [wallet, { mint: SOL_MINT }]]],
  ])('at %s of SOL', async (atLeast, holding, calls) => {
    const accounts = [3n, 2n].map((amount) => tokenAccount(SOL_MINT, wallet, amount));
    const chain = { [wallet]: solAccount(7n), [associated(SOL_MINT)]: tokenAccount(SOL_MINT, wallet, 3n) };
    const { asked, reader } = scene(chain, () => accounts);
    expect(await reader.readHolding({ wallet, mints: [SOL_MINT], atLeast })).toEqual(holding);
    expect(asked).toEqual(calls);
  });

  test('a wallet that is not there has none', async () => {
    const { reader } = scene({});
    expect(await reader.readHolding({ wallet, mints: [SOL_MINT], atLeast: 1n })).toEqual({ amount: 0n, exact: true });
  });

  test.each([
    [16, 4],
    [17, 2],
  ])('of %i mints, a look at all that a wallet has is cheaper from 17 on', async (count, calls) => {
    const mints = Array.from({ length: count }, (_, index) => mintOf(index));
    const { asked, reader } = scene(Object.fromEntries(mints.map((mint) => [mint, mintAccount(0)])));
    await reader.readHolding({ wallet, mints, atLeast: 1n });
    const programs = [{ programId: PROGRAMS.token }, { programId: PROGRAMS.token2022 }];
    const all = programs.map((filter) => [wallet, filter]);
    expect(asked).toHaveLength(calls);
    expect(asked.slice(-2)).toEqual(all);
    expect(asked.slice(0, -2)).toEqual(calls === 2 ? [] : [mints, mints.map(associated)]);
  });
});

test('an exact look asks for all accounts at once, and for no other', async () => {
  const { asked, reader } = scene({ [associated(USDC)]: tokenAccount(USDC, wallet, 5n) }, () => [
    tokenAccount(USDC, wallet, 5n),
    tokenAccount(USDC, wallet, 6n),
  ]);
  expect(await reader.readHolding({ wallet, mints: [USDC] })).toEqual({ amount: 11n, exact: true });
  expect(asked).toEqual([[wallet, { mint: USDC }]]);
});

describe('a node that lies is not believed', () => {
  test('about an associated account of another wallet or mint', async () => {
    for (const account of [tokenAccount(USDC, stranger, 9n), tokenAccount(mintOf(1), wallet, 9n)]) {
      const { reader } = scene({ [associated(USDC)]: account });
      expect(await reader.readHolding({ wallet, mints: [USDC], atLeast: 1n })).toEqual({ amount: 0n, exact: true });
    }
  });

  test('about accounts of others, of other mints, and what is none', async () => {
    const lies = [
      tokenAccount(USDC, stranger, 9n),
      tokenAccount(mintOf(1), wallet, 9n),
      solAccount(9n),
      tokenAccount(USDC, wallet, 2n),
    ];
    const { reader } = scene({}, () => lies);
    expect(await reader.readHolding({ wallet, mints: [USDC] })).toEqual({ amount: 2n, exact: true });
  });
});

describe('a look that fails', () => {
  const invalid = (code: number, message: string) => new RpcError('answer', message, { code });
  const outage = {
    code: 'chain_unavailable',
    message: 'The Solana RPC cannot be asked at the moment what this wallet holds; try again in a moment.',
  };

  test('for want of the mint found nothing', async () => {
    const { reader } = scene({}, () => invalid(-32_602, 'Invalid param: could not find mint'));
    expect(await reader.readHolding({ wallet, mints: [USDC] })).toEqual({ amount: 0n, exact: true });
  });

  test.each([
    invalid(-32_602, 'Invalid param: WrongSize'),
    invalid(-32_603, 'could not find mint'),
    new RpcError('unreachable', 'could not find mint'),
  ])('otherwise is an outage: %s', async (cause) => {
    const { reader } = scene({}, () => cause);
    const error = await rejectionOf(reader.readHolding({ wallet, mints: [USDC] }));
    expect(error).toMatchObject({ ...outage, context: { retryAfterSeconds: 2, cause } });
  });

  test('by a bug is a bug', async () => {
    const bug = Object.assign(new TypeError('could not find mint'), { details: { code: -32_602 } });
    const { reader } = scene({}, () => bug);
    expect(await rejectionOf(reader.readHolding({ wallet, mints: [USDC] }))).toBe(bug);
  });
});

test('what is no mint is asked about again after 15 s, a mint after five minutes', async () => {
  const [none, mint] = [mintOf(1), mintOf(2)];
  const { asked, chain, reader } = scene({ [mint]: mintAccount(2) });
  const clock = performance.now.bind(performance);
  let later = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => clock() + later);
  /** What is said of both at a time, and how often the chain was asked for them. */
  async function at(ms: number) {
    later = ms;
    // The cache believes in a time for a millisecond; a look at the chain takes longer.
    await reader.readMint(walletKey(`at ${ms}`).address);
    const told = [await reader.readMint(none), await reader.readMint(mint)];
    const looks = [none, mint].map((it) => asked.flat().filter((address) => address === it).length);
    return [told, looks];
  }
  const facts = { decimals: 2, program: PROGRAMS.token };
  expect(await at(0)).toEqual([
    [undefined, facts],
    [1, 1],
  ]);
  chain[none] = mintAccount(2);
  expect(await at(14_000)).toEqual([
    [undefined, facts],
    [1, 1],
  ]);
  expect(await at(16_000)).toEqual([
    [facts, facts],
    [2, 1],
  ]);
  expect(await at(299_000)).toEqual([
    [facts, facts],
    [2, 1],
  ]);
  expect(await at(301_000)).toEqual([
    [facts, facts],
    [2, 2],
  ]);
});

test('known tokens and SOL cost no call', async () => {
  const { asked, reader } = scene({});
  expect(await reader.readMint(USDC)).toMatchObject({ decimals: 6, program: PROGRAMS.token });
  expect(await reader.readMint(SOL_MINT)).toMatchObject({ decimals: 9, program: PROGRAMS.token });
  expect(asked).toEqual([]);
});

describe('a wallet of many mints', () => {
  const manyOf = (count: number) =>
    Array.from({ length: count }, (_, index) => tokenAccount(mintOf(index), wallet, 1n));
  const creator = walletKey('creator').address;

  test.each([
    [1_000, { amount: 0n, exact: true }],
    [1_001, { code: 'wallet_too_large' }],
  ])('is looked through up to a thousand of them: %i', async (count, outcome) => {
    const { asked, reader } = scene({}, (filter) =>
      'programId' in filter && filter.programId === PROGRAMS.token ? manyOf(count) : [],
    );
    const collection = { creator };
    const read = reader.readCollection({ wallet, collection, atLeast: 1n });
    expect(await read.catch((error: unknown) => error)).toMatchObject(outcome);
    // Two lists, and the metadata in calls of a hundred and less.
    expect(asked.length).toBeLessThan(100);
  });

  test.each([
    new RpcError('too_large', 'the answer is too large'),
    new RpcError('answer', 'scan aborted', { code: -32_012 }),
    new RpcError('answer', 'excluded from account secondary indexes', { code: -32_010 }),
  ])('is remembered as too large: %s', async (fault) => {
    const { asked, reader } = scene({}, () => fault);
    for (const _time of [1, 2]) {
      const error = await rejectionOf(reader.readHolding({ wallet, mints: [USDC] }));
      expect(error).toMatchObject({ code: 'wallet_too_large' });
    }
    expect(asked).toHaveLength(1);
    expect(await rejectionOf(reader.readHolding({ wallet: stranger, mints: [USDC] }))).toMatchObject({
      code: 'wallet_too_large',
    });
    expect(asked).toHaveLength(2);
  });
});

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAssociatedTokenAccountIdempotentInstruction, getAssociatedTokenAddressSync } from '@solana/spl-token';
import {
  AddressLookupTableProgram,
  Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import fc from 'fast-check';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { freePort } from '../helpers/processes/free-port.js';
import { type Answer, call, lamports, post, send, sign, toWire } from './sandbox-client.js';

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ slotMs: 0 });
});
afterAll(() => sandbox.close());

const request = (method: string, id?: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', method, ...(id === undefined ? {} : { id }) });

test.each([
  ['solana-devnet', 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG', '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU'],
  ['solana', '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'],
] as const)('as %s it has the genesis hash and the USDC of that cluster', async (network, genesis, usdc) => {
  const chain = await startSandbox({ network, slotMs: 0 });
  expect((await call(chain, 'getGenesisHash')).result).toBe(genesis);
  expect(chain.tokens.slice(0, 3).map(({ symbol }) => symbol)).toEqual(['USDC', 'USDT', 'PYUSD']);
  expect(chain.tokens[0]).toMatchObject({ mint: usdc, decimals: 6 });
  for (const { mint, program, decimals } of chain.tokens) {
    const { result } = await call(chain, 'getAccountInfo', [mint, { encoding: 'jsonParsed' }]);
    expect(result.value).toMatchObject({ owner: program, data: { parsed: { type: 'mint', info: { decimals } } } });
  }
  await chain.close();
});

test('a batch is answered as a batch, call by call, each counted', async () => {
  sandbox.resetCalls();
  const body = `[${request('getSlot', 'a')},${request('nope', 2)},${request('getHealth', null)},${request('getHealth')},7]`;
  const answers = (await (await post(sandbox, body)).json()) as Answer[];
  expect(answers).toEqual([
    { jsonrpc: '2.0', result: expect.any(Number), id: 'a' },
    { jsonrpc: '2.0', error: { code: -32601, message: 'Method not found' }, id: 2 },
    { jsonrpc: '2.0', result: 'ok', id: null },
    { jsonrpc: '2.0', error: { code: -32600, message: 'Invalid request' }, id: null },
  ]);
  expect(sandbox.calls).toMatchObject({ total: 4, getSlot: 1, getHealth: 2 });
});

test.each([
  ['no JSON', '{', -32700],
  ['no method', '{"jsonrpc":"2.0","id":1}', -32600],
  ['an empty batch', '[]', -32600],
  ['a name every object has', request('constructor', 1), -32601],
  ['a WebSocket method over HTTP', request('slotSubscribe', 1), -32601],
])('a body with %s is answered with its error', async (_name, body, code) => {
  const response = await post(sandbox, body);
  expect(response.status).toBe(200);
  expect(((await response.json()) as Answer).error?.code).toBe(code);
});

test.each([
  ['getBalance', ['not an address']],
  ['getBalance', []],
  ['getBalance', ['11111111111111111111111111111111', { commitment: 'certain' }]],
  ['getMultipleAccounts', [Array(101).fill('11111111111111111111111111111111')]],
  ['getSignatureStatuses', [Array(257).fill('1'.repeat(64))]],
  ['getSignatureStatuses', [['short']]],
  ['getAccountInfo', ['11111111111111111111111111111111', { encoding: 'rot13' }]],
  ['getTokenAccountBalance', ['11111111111111111111111111111111']],
  ['getTokenAccountsByOwner', ['11111111111111111111111111111111', { mint: '11111111111111111111111111111111' }]],
  ['getTokenAccountsByOwner', ['11111111111111111111111111111111', { programId: '11111111111111111111111111111111' }]],
  ['sendTransaction', ['AAAA', { encoding: 'base64' }]],
  ['sendTransaction', ['%%%%', { encoding: 'base64' }]],
  ['sendTransaction', ['A'.repeat(1645), { encoding: 'base64' }]],
  ['sendTransaction', [5]],
  ['simulateTransaction', ['', { encoding: 'base64' }]],
  ['getTransaction', ['x']],
  ['getMinimumBalanceForRentExemption', [-1]],
])('%s refuses the parameters %j', async (method, params) => {
  expect((await call(sandbox, method, params)).error?.code).toBe(-32602);
});

test('a transaction whose indexes point nowhere is refused before the runtime sees it', async () => {
  const payer = await sandbox.createWallet({ sol: '1' });
  const { transaction } = await sign(sandbox, [payer], [lamports(payer, payer.publicKey, 1)]);
  const wire = Buffer.from(transaction.serialize());
  wire[wire.length - 18] = 250;
  const { error } = await call(sandbox, 'simulateTransaction', [wire.toString('base64'), { encoding: 'base64' }]);
  expect(error).toEqual({
    code: -32602,
    message: 'invalid transaction: Transaction failed to sanitize accounts offsets correctly',
  });
});

test('no bytes whatever bring the runtime down', async () => {
  const payer = await sandbox.createWallet({ sol: '1' });
  const { transaction } = await sign(sandbox, [payer], [lamports(payer, payer.publicKey, 1)]);
  const honest = transaction.serialize();
  const change = fc.record({ at: fc.nat(honest.length - 1), value: fc.nat(255) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { minLength: 1, maxLength: 4 }),
      fc.nat(honest.length),
      async (changes, length) => {
        const wire = Buffer.from(honest);
        for (const { at, value } of changes) {
          wire[at] = value;
        }
        const text = wire.subarray(0, length < 20 ? length : wire.length).toString('base64');
        const { result, error } = await call(sandbox, 'simulateTransaction', [text, { encoding: 'base64' }]);
        expect(error === undefined ? result.value : error.code).toEqual(
          error === undefined ? expect.anything() : -32602,
        );
      },
    ),
    { numRuns: 300 },
  );
  expect((await call(sandbox, 'getHealth')).result).toBe('ok');
});

test('a body over 50 KiB is refused', async () => {
  const response = await post(sandbox, `"${'x'.repeat(50 * 1024)}"`);
  expect(response.status).toBe(413);
});

test('a browser may call from any page, and a health check may use GET', async () => {
  const preflight = await fetch(sandbox.rpcUrl, { method: 'OPTIONS' });
  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
  const health = await fetch(`${sandbox.rpcUrl}/health`);
  expect([health.status, await health.text()]).toEqual([200, 'ok']);
  expect((await fetch(sandbox.rpcUrl)).status).toBe(405);
});

test('a client that has seen a later slot elsewhere is told to wait', async () => {
  const minContextSlot = sandbox.slot() + 1;
  const { error } = await call(sandbox, 'getBalance', [
    sandbox.tokens[0]!.mint,
    { minContextSlot, commitment: 'processed' },
  ]);
  expect(error).toMatchObject({ code: -32016, data: { contextSlot: sandbox.slot() } });
});

test('slot and block height are two numbers, and the epoch is told from the slot', async () => {
  const options = [{ commitment: 'processed' }];
  const { result } = await call(sandbox, 'getEpochInfo', options);
  expect(result).toMatchObject({ absoluteSlot: sandbox.slot(), blockHeight: sandbox.blockHeight(), epoch: 0 });
  expect(sandbox.slot()).toBeGreaterThan(sandbox.blockHeight());
  expect((await call(sandbox, 'getSlot', options)).result).toBe(sandbox.slot());
  expect((await call(sandbox, 'getBlockHeight', options)).result).toBe(sandbox.blockHeight());
});

test('accounts come in every encoding, sliced, and several at once', async () => {
  const mint = sandbox.tokens[0]!.mint;
  const dataSlice = { offset: 44, length: 1 };
  const read = async (encoding: string) =>
    (
      await call(sandbox, 'getMultipleAccounts', [
        [mint, Keypair.generate().publicKey.toBase58()],
        { encoding, dataSlice },
      ])
    ).result.value;
  expect(await read('base64')).toEqual([expect.objectContaining({ data: ['Bg==', 'base64'], space: 82 }), null]);
  expect((await read('base58'))[0].data).toEqual(['7', 'base58']);
  expect((await read('binary'))[0].data).toBe('7');
  expect((await read('jsonParsed'))[0].data.parsed.info.decimals).toBe(6);
});

test('a simulation shows the accounts afterwards, the inner instructions and a fresh blockhash, and changes nothing', async () => {
  const payer = await sandbox.createWallet({ sol: '1' });
  const to = Keypair.generate().publicKey;
  const { transaction } = await sign(sandbox, [payer], [lamports(payer, to, 5_000_000)]);
  transaction.message.recentBlockhash = PublicKey.default.toBase58();
  const options = {
    encoding: 'base64',
    commitment: 'processed',
    replaceRecentBlockhash: true,
    innerInstructions: true,
    accounts: { encoding: 'base64', addresses: [to.toBase58()] },
  };
  const { result } = await call(sandbox, 'simulateTransaction', [toWire(transaction), options]);
  expect(result.value).toMatchObject({
    err: null,
    accounts: [{ lamports: 5_000_000 }],
    innerInstructions: [],
    unitsConsumed: 150,
    replacementBlockhash: { lastValidBlockHeight: sandbox.blockHeight() + 150 },
  });
  expect(sandbox.balance(to.toBase58())).toBe(0n);
  const stale = await call(sandbox, 'simulateTransaction', [
    toWire(transaction),
    { ...options, replaceRecentBlockhash: false },
  ]);
  expect(stale.result.value).toMatchObject({ err: 'BlockhashNotFound', replacementBlockhash: null });
});

test('a simulation shows which instruction called which, only where that is asked', async () => {
  const payer = await sandbox.createWallet({ sol: '1' });
  const [mint] = sandbox.tokens.map((token) => new PublicKey(token.mint));
  const to = Keypair.generate().publicKey;
  const create = createAssociatedTokenAccountIdempotentInstruction(
    payer.publicKey,
    getAssociatedTokenAddressSync(mint!, to),
    to,
    mint!,
  );
  const { transaction } = await sign(sandbox, [payer], [lamports(payer, to, 5_000_000), create]);
  const options = { encoding: 'base64', commitment: 'processed' };
  const ask = (more: object) => call(sandbox, 'simulateTransaction', [toWire(transaction), { ...options, ...more }]);
  const { innerInstructions } = (await ask({ innerInstructions: true })).result.value;
  expect(innerInstructions).toMatchObject([{ index: 1, instructions: expect.any(Array) }]);
  expect(innerInstructions[0].instructions.length).toBeGreaterThan(0);
  expect((await ask({})).result.value.innerInstructions).toBeNull();
});

test.each([
  ['more accounts than the transaction names', { encoding: 'base64', addresses: Array(50).fill(PublicKey.default) }],
  ['accounts in base58', { encoding: 'base58', addresses: [] }],
])('a simulation refuses to show %s', async (_what, accounts) => {
  const payer = await sandbox.createWallet({ sol: '1' });
  const { transaction } = await sign(sandbox, [payer], [lamports(payer, payer.publicKey, 1)]);
  const { error } = await call(sandbox, 'simulateTransaction', [
    toWire(transaction),
    { encoding: 'base64', commitment: 'processed', accounts },
  ]);
  expect(error?.code).toBe(-32602);
});

test('addresses from a look-up table are resolved, and shown as loaded', async () => {
  const payer = await sandbox.createWallet({ sol: '1' });
  const to = Keypair.generate().publicKey;
  sandbox.advanceSlots();
  const authority = payer.publicKey;
  const [create, table] = AddressLookupTableProgram.createLookupTable({
    authority,
    payer: authority,
    recentSlot: sandbox.slot() - 1,
  });
  const extend = AddressLookupTableProgram.extendLookupTable({
    lookupTable: table,
    authority,
    payer: authority,
    addresses: [to],
  });
  expect((await send(sandbox, (await sign(sandbox, [payer], [create, extend])).wire)).error).toBeUndefined();
  sandbox.advanceSlots();
  const { transaction: draft } = await sign(sandbox, [payer], [lamports(payer, to, 3_000_000)]);
  const message = new TransactionMessage({
    payerKey: authority,
    recentBlockhash: draft.message.recentBlockhash,
    instructions: [lamports(payer, to, 3_000_000)],
  }).compileToV0Message([
    {
      key: table,
      isActive: () => true,
      state: {
        addresses: [to],
        authority,
        deactivationSlot: 2n ** 64n - 1n,
        lastExtendedSlot: 0,
        lastExtendedSlotStartIndex: 0,
      },
    },
  ]);
  expect(message.addressTableLookups).toHaveLength(1);
  const transaction = new VersionedTransaction(message);
  transaction.sign([payer]);
  const { result: signature } = await send(sandbox, toWire(transaction));
  expect(sandbox.balance(to.toBase58())).toBe(3_000_000n);
  sandbox.advanceSlots(2);
  const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 };
  const { result } = await call(sandbox, 'getTransaction', [signature, options]);
  expect(result.meta.loadedAddresses).toEqual({ writable: [to.toBase58()], readonly: [] });
  expect(result.meta.postBalances).toHaveLength(3);
});

test('the clock that programs see follows the slots', async () => {
  const clock = () =>
    Buffer.from(sandbox.account('SysvarC1ock11111111111111111111111111111111')?.data ?? []).readBigUInt64LE(0);
  sandbox.advanceSlots(3);
  expect(clock()).toBe(BigInt(sandbox.slot()));
});

test('a memo is listed with the signature it came with', async () => {
  const payer = await sandbox.createWallet({ sol: '1' });
  const programId = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
  const memo = new TransactionInstruction({ programId, keys: [], data: Buffer.from('order "17"') });
  await send(sandbox, (await sign(sandbox, [payer], [memo])).wire);
  sandbox.advanceSlots(32);
  const { result } = await call(sandbox, 'getSignaturesForAddress', [payer.publicKey.toBase58()]);
  expect(result).toEqual([
    expect.objectContaining({ memo: '[10] order "17"', err: null, confirmationStatus: 'finalized' }),
  ]);
});

test('the history is bounded: the oldest transaction is forgotten first', async () => {
  const chain = await startSandbox({ slotMs: 0, historyLimit: 2 });
  const signatures: string[] = [];
  for (let index = 0; index < 3; index += 1) {
    const { result } = await call(chain, 'requestAirdrop', [Keypair.generate().publicKey.toBase58(), 1_000_000]);
    signatures.push(result);
  }
  const { result } = await call(chain, 'getSignatureStatuses', [signatures]);
  expect(result.value.map((entry: unknown) => entry !== null)).toEqual([false, true, true]);
  await chain.close();
});

test('where the port after the HTTP port is taken, the WebSocket endpoint moves to a free one', async () => {
  const neighbour = createServer();
  const port = await freePort();
  await new Promise<void>((resolve) => neighbour.listen(port + 1, '127.0.0.1', resolve));
  const second = await startSandbox({ slotMs: 0, port });
  expect(second.rpcUrl).toBe(`http://127.0.0.1:${port}`);
  expect(new URL(second.wsUrl).port).not.toBe(String((neighbour.address() as AddressInfo).port));
  await second.close();
  neighbour.close();
});

test('a taken HTTP port is an error', async () => {
  const port = Number(new URL(sandbox.rpcUrl).port);
  await expect(startSandbox({ port, slotMs: 0 })).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

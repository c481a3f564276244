import { ExtensionType } from '@solana/spl-token';
import { Keypair } from '@solana/web3.js';
import { createMintPolicy } from '../../../../src/solana/accounts/mint-policy.js';
import { readMintTraits } from '../../../../src/solana/accounts/mint-traits.js';
import type { SolanaRpc } from '../../../../src/solana/rpc/rpc.js';
import { createSolanaRpc } from '../../../../src/solana/rpc/rpc-client.js';
import { PROGRAMS } from '../../../../src/solana/transaction/programs.js';
import { closeRpcEndpoints, startRpcEndpoint } from '../../../helpers/nodes/rpc-endpoint.js';

const MINT = Keypair.generate().publicKey.toBase58();
const [INITIALIZED, KIND, EXTENSIONS] = [45, 165, 166];

/** The data of a Token-2022 mint with some extensions, given with the bytes of each. */
function mintData(...extensions: readonly (readonly [ExtensionType, Uint8Array])[]): Buffer {
  const data = Buffer.alloc(EXTENSIONS);
  data[INITIALIZED] = 1;
  data[KIND] = 1;
  const heads = extensions.map(([type, { length }]) => Buffer.from(Uint16Array.of(type, length).buffer));
  return Buffer.concat([data, ...extensions.flatMap(([, bytes], index) => [heads[index]!, bytes])]);
}

/** A fee in hundredths of a percent: the one in force until some epoch, and the one from then on. */
function fees(older: number, newer: number, most = 1n): readonly [ExtensionType, Uint8Array] {
  const config = Buffer.alloc(108);
  config.writeBigUInt64LE(most, 80);
  config.writeBigUInt64LE(most, 98);
  config.writeUInt16LE(older, 88);
  config.writeUInt16LE(newer, 106);
  return [ExtensionType.TransferFeeConfig, config];
}

function hook(program: Uint8Array): readonly [ExtensionType, Uint8Array] {
  return [ExtensionType.TransferHook, Buffer.concat([Buffer.alloc(32), program])];
}

const GOOD = { keepsFee: false, callsHook: false, issuerPowers: false };

test.each([
  ['no extensions', mintData(), GOOD],
  ['an authority that may close it', mintData([ExtensionType.MintCloseAuthority, Buffer.alloc(32)]), GOOD],
  ['fees of nothing', mintData(fees(0, 0)), GOOD],
  ['a fee until now', mintData(fees(1, 0)), { ...GOOD, keepsFee: true }],
  ['a fee from now on', mintData(fees(0, 1)), { ...GOOD, keepsFee: true }],
  ['a fee of at most nothing', mintData(fees(100, 100, 0n)), GOOD],
  ['a hook of no program', mintData(hook(Buffer.alloc(32))), GOOD],
  ['a hook', mintData(hook(Buffer.alloc(32, 7))), { ...GOOD, callsHook: true }],
  [
    'a permanent delegate',
    mintData([ExtensionType.PermanentDelegate, Buffer.alloc(32)]),
    { ...GOOD, issuerPowers: true },
  ],
  [
    'confidential transfers',
    mintData([ExtensionType.ConfidentialTransferMint, Buffer.alloc(65)]),
    { ...GOOD, issuerPowers: true },
  ],
  ['no transfers', mintData([ExtensionType.NonTransferable, Buffer.alloc(0)]), { ...GOOD, issuerPowers: true }],
])('the traits of a mint with %s', (_what, data, traits) => {
  expect(readMintTraits(MINT, { owner: PROGRAMS.token2022, lamports: 1n, data })).toEqual(traits);
});

let rpc: SolanaRpc | undefined;

afterEach(async () => {
  await rpc?.close();
  await closeRpcEndpoints();
});

const NONE: ReadonlySet<string> = new Set();

/** The policy, and how often it asks, where this account stands at every address. */
async function policyWith(
  data: Uint8Array | null,
  { owner = PROGRAMS.token2022 as string, trusted = NONE, allowed = NONE } = {},
) {
  const account = data && { lamports: 1, owner, data: [Buffer.from(data).toString('base64'), 'base64'] };
  const endpoint = await startRpcEndpoint(() => ({ result: { value: [account] } }));
  rpc = createSolanaRpc({ urls: endpoint.url });
  return { ask: createMintPolicy({ rpc, allowedMints: allowed, trustedMints: trusted }), calls: endpoint.calls };
}

const DELEGATED = mintData([ExtensionType.PermanentDelegate, Buffer.alloc(32)]);
const REFUSED = 'invalid_exact_svm_mint_not_accepted';
const KEEPS_FEE = 'invalid_exact_svm_mint_transfer_fee';
const UNKNOWN = 'invalid_exact_svm_mint_unknown';

test.each([
  ['a plain one', mintData(), undefined],
  ['one with a fee', mintData(fees(0, 1)), KEEPS_FEE],
  ['one with a hook', mintData(hook(Buffer.alloc(32, 7))), REFUSED],
  ['one whose issuer has powers', DELEGATED, REFUSED],
  ['none at all', null, UNKNOWN],
  ['a token account', Buffer.alloc(165), UNKNOWN],
  ['an account that is too short for one', Buffer.alloc(10), UNKNOWN],
])('a mint of Token-2022 is looked at: %s', async (_what, data, reason) => {
  const { ask } = await policyWith(data);
  expect(await ask(MINT, PROGRAMS.token2022)).toBe(reason);
});

test('a mint of another program than it is said to be of is unknown', async () => {
  const { ask } = await policyWith(mintData(), { owner: PROGRAMS.token });
  expect(await ask(MINT, PROGRAMS.token2022)).toBe(UNKNOWN);
});

test('an issuer that is trusted may have powers', async () => {
  const trusted = new Set([MINT]);
  const delegated = await policyWith(DELEGATED, { trusted });
  expect(await delegated.ask(MINT, PROGRAMS.token2022)).toBeUndefined();
  expect(await delegated.ask(Keypair.generate().publicKey.toBase58(), PROGRAMS.token2022)).toBe(REFUSED);
});

test.each([
  ['trusted', { trusted: new Set([MINT]) }],
  ['allowed', { allowed: new Set([MINT]) }],
])('a mint that keeps a fee is refused, also when it is %s; one that keeps nothing is not', async (_how, lists) => {
  const charging = await policyWith(mintData(fees(1, 1)), lists);
  expect(await charging.ask(MINT, PROGRAMS.token2022)).toBe(KEEPS_FEE);
  await rpc?.close();
  const free = await policyWith(mintData(fees(0, 0)), lists);
  expect(await free.ask(MINT, PROGRAMS.token2022)).toBeUndefined();
});

test.each([
  ['a hook', mintData(hook(Buffer.alloc(32, 7)))],
  ['powers of the issuer', DELEGATED],
])('a mint that is allowed may have %s', async (_what, data) => {
  const { ask } = await policyWith(data, { allowed: new Set([MINT]) });
  expect(await ask(MINT, PROGRAMS.token2022)).toBeUndefined();
});

test('classic mints are not looked at, and the others once', async () => {
  const other = Keypair.generate().publicKey.toBase58();
  const { ask, calls } = await policyWith(DELEGATED);
  expect([await ask(other, PROGRAMS.token), calls.length]).toEqual([undefined, 0]);
  expect([await ask(other, PROGRAMS.token2022), await ask(other, PROGRAMS.token2022)]).toEqual([REFUSED, REFUSED]);
  expect(calls.length).toBe(1);
});

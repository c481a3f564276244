import { readRecipients } from '../../../../src/facilitator/setup-check/recipients.js';
import { addressBytes } from '../../../../src/protocol/address.js';
import { KNOWN_TOKENS } from '../../../../src/protocol/networks/tokens.js';
import type { Token } from '../../../../src/protocol/types.js';
import { type AccountState, RpcError } from '../../../../src/solana/rpc/rpc.js';
import { associatedTokenAddress } from '../../../../src/solana/transaction/associated-token.js';
import { NATIVE_SOL, PROGRAMS } from '../../../../src/solana/transaction/programs.js';
import { fakeNode, rejectionOf } from '../../../helpers/nodes/fake-node.js';
import { walletKey } from '../../../helpers/transactions/wallet-key.js';

const USDC = KNOWN_TOKENS['solana-devnet'][0] as Token;
const SOL: Token = { symbol: 'SOL', mint: NATIVE_SOL, decimals: 9, program: NATIVE_SOL };
const [one, other, stranger] = ['one', 'other', 'stranger'].map((name) => walletKey(name).address) as [
  string,
  string,
  string,
];

type Chain = Readonly<Record<string, AccountState>>;

const accountUnder = (owner: string, data = new Uint8Array()): AccountState => ({ lamports: 1n, owner, data });

function tokenAccount(wallet: string): AccountState {
  const data = new Uint8Array(165);
  data.set(addressBytes(USDC.mint), 0);
  data.set(addressBytes(wallet), 32);
  return accountUnder(PROGRAMS.token, data);
}

const receiving = (wallet: string): string => associatedTokenAddress(wallet, USDC.mint, USDC.program);

function read(chain: Chain, recipients: readonly string[], token = USDC) {
  const asked: (readonly string[])[] = [];
  const node = fakeNode({
    getAccounts: async (addresses) => {
      asked.push(addresses);
      return addresses.map((it) => chain[it] ?? null);
    },
  });
  const legs = recipients.map((recipient) => ({ recipient, amount: 1n }));
  return { asked, answer: readRecipients({ token, legs }, node) };
}

test('those without a token account are told, with one call, each once', async () => {
  const chain = { [one]: accountUnder(PROGRAMS.system), [receiving(one)]: tokenAccount(one) };
  const { asked, answer } = read(chain, [one, other, one, other]);
  expect(await answer).toEqual(new Set([other]));
  expect(asked).toEqual([[one, other, receiving(one), receiving(other)]]);
});

test('SOL needs no token account', async () => {
  const { asked, answer } = read({}, [one, other], SOL);
  expect(await answer).toEqual(new Set());
  expect(asked).toEqual([[one, other]]);
});

const isToken = 'is a token account or a mint; name the wallet that owns it';
const isProgram = "is a program's address, from which nobody can spend";

test.each<[string, Chain, string]>([
  ['a token account', { [one]: tokenAccount(stranger) }, `${one} ${isToken}`],
  ['a Token-2022 mint', { [one]: accountUnder(PROGRAMS.token2022) }, `${one} ${isToken}`],
  ['a native program', { [one]: accountUnder('NativeLoader1111111111111111111111111111111') }, `${one} ${isProgram}`],
  ['an old program', { [one]: accountUnder('BPFLoader1111111111111111111111111111111111') }, `${one} ${isProgram}`],
  ['a program', { [one]: accountUnder('BPFLoader2111111111111111111111111111111111') }, `${one} ${isProgram}`],
  [
    'an upgradeable program',
    { [one]: accountUnder('BPFLoaderUpgradeab1e11111111111111111111111') },
    `${one} ${isProgram}`,
  ],
  [
    'a program of loader 4',
    { [one]: accountUnder('LoaderV411111111111111111111111111111111111') },
    `${one} ${isProgram}`,
  ],
  ['a sysvar', { [one]: accountUnder('Sysvar1111111111111111111111111111111111111') }, `${one} ${isProgram}`],
  [
    'a wallet whose token account was given away',
    { [receiving(one)]: tokenAccount(stranger) },
    `the token account of ${one} belongs to another wallet now`,
  ],
])('%s is refused: the money would be lost', async (_name, chain, message) => {
  expect(await rejectionOf(read(chain, [other, one]).answer)).toMatchObject({
    code: 'invalid_recipient',
    message,
    context: { param: 'recipient' },
  });
});

test('a program is no recipient of SOL either', async () => {
  const chain = { [other]: accountUnder('BPFLoader2111111111111111111111111111111111') };
  expect(await rejectionOf(read(chain, [one, other], SOL).answer)).toMatchObject({ message: `${other} ${isProgram}` });
});

test('an outage is told as one', async () => {
  const node = fakeNode({ getAccounts: () => Promise.reject(new RpcError('unreachable', 'gone')) });
  const legs = [{ recipient: one, amount: 1n }];
  expect(await rejectionOf(readRecipients({ token: USDC, legs }, node))).toMatchObject({
    code: 'payment_backend_unavailable',
  });
});

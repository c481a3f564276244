import { Keypair } from '@solana/web3.js';
import {
  forgetSecrets,
  inspectEnvironment,
  readConfiguration,
} from '../../../../src/server/configuration/configuration.js';

const KEY = JSON.stringify([...Keypair.generate().secretKey]);
const OTHER = JSON.stringify([...Keypair.generate().secretKey]);
const FIRST = { FACILITATOR_KEYPAIR: KEY, SOLANA_RPC_URL: 'https://rpc.example' };

test('further networks have the keys of the first, and the RPC that is named for them', () => {
  const SOLANA_NETWORK = 'solana,solana-devnet,solana-testnet';
  const { chain, otherChains } = readConfiguration({
    ...FIRST,
    SOLANA_NETWORK,
    SOLANA_DEVNET_RPC_URL: 'https://one.example,https://two.example',
    SOLANA_DEVNET_WS_URL: 'wss://one.example',
    SOLANA_TESTNET_FACILITATOR_KEYPAIR: OTHER,
  });
  expect([chain, ...(otherChains ?? [])].map((it) => [it?.network, it?.rpcUrl, it?.wsUrl, it?.keypair])).toEqual([
    ['solana', ['https://rpc.example'], undefined, [KEY]],
    ['solana-devnet', ['https://one.example', 'https://two.example'], 'wss://one.example', [KEY]],
    ['solana-testnet', undefined, undefined, [OTHER]],
  ]);
});

test('mainnet may be another one than the first', () => {
  const SOLANA_MAINNET_RPC_URL = 'https://live.example';
  const env = { ...FIRST, SOLANA_NETWORK: 'solana-devnet,solana', SOLANA_MAINNET_RPC_URL };
  expect(readConfiguration(env).otherChains).toMatchObject([{ network: 'solana', rpcUrl: [SOLANA_MAINNET_RPC_URL] }]);
});

test('everything that is wrong is said at once', () => {
  const { faults } = inspectEnvironment({
    ...FIRST,
    PORT: 'x',
    SOLANA_NETWORK: 'solana,solana-devnet',
    SOLANA_TESTNET_RPC_URL: 'ftp://no.example',
    SOLANA_DEVNET_FACILITATOR_KEYPAIR: 'nowhere',
  });
  expect(faults).toEqual([
    'PORT must be a port number from 0 (a free one) to 65535, not "x"',
    'SOLANA_DEVNET_FACILITATOR_KEYPAIR must be the path of a readable key file, base58 text or a JSON array',
    'SOLANA_TESTNET_RPC_URL must be a list of http(s) addresses',
  ]);
});

test.each([
  ['solana,solana', {}, /SOLANA_NETWORK must be a list in which each network stands once/],
  ['solana,devnet', {}, /SOLANA_NETWORK must be .*did you mean "solana-devnet"/],
  ['solana', { SOLANA_DEVNET_RPC_URL: 'https://a.example' }, /says nothing while solana-devnet is not served: add it/],
  ['solana', { SOLANA_MAINNET_WS_URL: 'wss://a.example' }, /says nothing of the first network: write SOLANA_WS_URL/],
  [
    'solana',
    { SOLANA_MAINNET_FACILITATOR_KEYPAIR: KEY },
    /says nothing of the first network: write FACILITATOR_KEYPAIR/,
  ],
])('SOLANA_NETWORK=%s with %j is refused', (SOLANA_NETWORK, more, said) => {
  expect(inspectEnvironment({ ...FIRST, SOLANA_NETWORK, ...more }).faults.join('; ')).toMatch(said);
});

test('the keys of all networks are taken out of the environment, and are not shown', () => {
  const env: Record<string, string | undefined> = {
    ...FIRST,
    SOLANA_NETWORK: 'solana,solana-devnet',
    SOLANA_DEVNET_FACILITATOR_KEYPAIR: OTHER,
  };
  const configuration = readConfiguration(env);
  forgetSecrets(env);
  expect([JSON.stringify(configuration).includes(OTHER), JSON.stringify(env).includes(OTHER)]).toEqual([false, false]);
});

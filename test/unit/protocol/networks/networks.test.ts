import { SOLANA_DEVNET_CAIP2, SOLANA_MAINNET_CAIP2, SOLANA_TESTNET_CAIP2, V1_TO_V2_NETWORK_MAP } from '@x402/svm';
import { networkWanted } from '../../../../src/protocol/networks/network-name.js';
import { GENESIS_HASHES, networkFrom, toCaip2, toV1Name } from '../../../../src/protocol/networks/networks.js';
import { NETWORK_IDS } from '../../../../src/protocol/types.js';

describe('networks', () => {
  test('the CAIP-2 names are those of the official package', () => {
    expect(NETWORK_IDS.map(toCaip2)).toEqual([SOLANA_MAINNET_CAIP2, SOLANA_DEVNET_CAIP2, SOLANA_TESTNET_CAIP2]);
  });

  test('the version 1 names are those of the official package', () => {
    expect(Object.fromEntries(NETWORK_IDS.map((id) => [toV1Name(id), toCaip2(id)]))).toEqual(V1_TO_V2_NETWORK_MAP);
  });

  test.each(NETWORK_IDS)('%s is found under both of its names', (id) => {
    expect(networkFrom(toCaip2(id))).toBe(id);
    expect(networkFrom(toV1Name(id))).toBe(id);
  });

  test.each([
    '',
    'Solana',
    'solana ',
    'solana-mainnet',
    'solana:mainnet',
    'eip155:8453',
    `solana:${GENESIS_HASHES.solana}`,
    '__proto__',
    'constructor',
    'toString',
  ])('%j names no network', (text) => {
    expect(networkFrom(text)).toBeUndefined();
  });
});

test.each([
  ['mainnet', 'solana'],
  ['mainnet-beta', 'solana'],
  ['Mainnet Beta', 'solana'],
  ['solana-mainnet', 'solana'],
  ['solana:mainnet', 'solana'],
  ['devnet', 'solana-devnet'],
  ['solana_devnet', 'solana-devnet'],
  ['solana-devent', 'solana-devnet'],
  ['testnet', 'solana-testnet'],
  ['solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', 'solana-devnet'],
])('by the name %p somebody means %p', (given, meant) => {
  expect(networkWanted(given)).toMatch(new RegExp(`, not ".*"; did you mean "${meant}"\\?$`));
});

test('what is near to no network is told what there is', () => {
  const all = '"solana", "solana-devnet" or "solana-testnet"';
  expect(networkWanted('ethereum')).toBe(`${all}, not "ethereum"`);
  expect(networkWanted(undefined)).toBe(all);
});

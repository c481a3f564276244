import { writtenFaults } from '../../../../src/gateway/upstream-secrets/sealed-additions.js';

const BEFORE = { timeoutMs: 1_000, url: 'https://api.example/base?target=own', headers: { authorization: 'sealed' } };
const faultsAt = (url: string) => writtenFaults({ url, headers: { authorization: { set: true } } }, BEFORE);

test.each(['', '/below', '/below/a.b'])('a secret stays with its upstream at %j below it', (below) => {
  expect(faultsAt(`https://api.example/base${below}?target=own`)).toEqual([]);
});

test.each([
  'https://api.example/base?target=evil.example',
  'https://api.example/base',
  'https://api.example/base?target=own&target=evil.example',
  'https://api.example/base/%u002e%u002e/other?target=own',
  'https://api.example/base/..%c0%afother?target=own',
  'https://api.example/base/%ef%bc%8e%ef%bc%8e/other?target=own',
  'https://api.example/other?target=own',
])('a secret has to be given anew for %s', (url) => {
  expect(faultsAt(url)).toHaveLength(1);
});

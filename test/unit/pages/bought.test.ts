import { type Bought, boughtInWords } from '../../../src/pages/texts/bought.js';
import { DE } from '../../../src/pages/texts/de.js';
import { EN } from '../../../src/pages/texts/en.js';

const HOUR = 3_600_000;
const credit = {
  amount: { amount: '1', token: 'USDC' },
  cost: { amount: '0.01', token: 'USDC' },
  isStream: false,
};

test.each<[string, Bought, string, string]>([
  ['one request', { uses: 1 }, '1 request', '1 Anfrage'],
  ['some requests', { uses: 100n }, '100 requests', '100 Anfragen'],
  ['many requests', { uses: 12_345 }, '12,345 requests', '12.345 Anfragen'],
  ['an hour', { forMs: HOUR }, 'any number of requests within 1 hour', 'beliebig viele Anfragen, 1 Stunde gültig'],
  ['a day', { uses: 2, forMs: 24 * HOUR }, '2 requests within 24 hours', '2 Anfragen, 24 Stunden gültig'],
  ['two days', { uses: 2, forMs: 48 * HOUR }, '2 requests within 2 days', '2 Anfragen, 2 Tage gültig'],
  ['a day and a half', { uses: 2, forMs: 36 * HOUR }, '2 requests within 36 hours', '2 Anfragen, 36 Stunden gültig'],
  ['ninety seconds', { uses: 2, forMs: 90_000 }, '2 requests within 90 seconds', '2 Anfragen, 90 Sekunden gültig'],
  [
    'a subscription',
    { uses: 2, forMs: 720 * HOUR, graceMs: 72 * HOUR },
    '2 requests within 30 days, renewed by paying again until 3 days after its end',
    '2 Anfragen, 30 Tage gültig; bis 3 Tage nach Ablauf durch erneutes Zahlen zu verlängern',
  ],
  [
    'credit of a group',
    { credit, group: 'all' },
    '1 USDC of credit for anything of "all", at most 0.01 USDC a request',
    'Guthaben von 1 USDC für alles aus „all“, höchstens 0,01 USDC je Anfrage',
  ],
  [
    'credit for streams',
    { credit: { ...credit, isStream: true } },
    '1 USDC of credit, 0.01 USDC a request and more as its response goes on',
    'Guthaben von 1 USDC, 0,01 USDC je Anfrage und mehr, solange die Antwort weitergeht',
  ],
])('%s is told in the words of a language', (_what, bought, english, german) => {
  expect([boughtInWords(bought, EN), boughtInWords(bought, DE)]).toEqual([english, german]);
});

test('a group keeps its name, whatever stands in it', () => {
  expect(boughtInWords({ group: '{time}$&', forMs: HOUR }, EN)).toBe(
    'any number of requests for anything of "{time}$&" within 1 hour',
  );
});

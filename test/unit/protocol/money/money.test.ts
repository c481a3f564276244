import fc from 'fast-check';
import { TollhouseError } from '../../../../src/errors/errors.js';
import { formatAmount, parseDecimal, parsePrice, readPrice } from '../../../../src/protocol/money/money.js';
import { KNOWN_TOKENS, SANDBOX_TOKENS } from '../../../../src/protocol/networks/tokens.js';
import type { Token } from '../../../../src/protocol/types.js';
import { anAddress, anAmount, USDC_DEVNET } from '../samples.js';

const TOKENS = SANDBOX_TOKENS;
const namesOf = (tokens: readonly Token[]) => tokens.map(({ symbol }) => symbol).join(', ');
const USDT = 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB';
const SOL = 'So11111111111111111111111111111111111111112';
const U64_MAX = 2n ** 64n - 1n;

const decimals = fc.integer({ min: 0, max: 18 });

describe('parsePrice', () => {
  test.each([
    ['$0.01', USDC_DEVNET, 10_000n],
    ['$ 1', USDC_DEVNET, 1_000_000n],
    ['$1000000', USDC_DEVNET, 1_000_000_000_000n],
    ['0.5 USDT', USDT, 500_000n],
    ['0.5 usdt', USDT, 500_000n],
    [' 0.50  USDC ', USDC_DEVNET, 500_000n],
    ['0.001 SOL', SOL, 1_000_000n],
    ['0.000000001 SOL', SOL, 1n],
    ['0.000001 USDC', USDC_DEVNET, 1n],
    ['18446744073709.551615 USDC', USDC_DEVNET, U64_MAX],
    [{ amount: 10_000n, asset: 'USDC' }, USDC_DEVNET, 10_000n],
    [{ amount: '10000', asset: 'usdt' }, USDT, 10_000n],
    [{ amount: '1', asset: USDC_DEVNET }, USDC_DEVNET, 1n],
    [{ amount: U64_MAX, asset: 'SOL' }, SOL, U64_MAX],
  ])('reads %p as units of %s', (price, asset, amount) => {
    const token = TOKENS.find(({ mint }) => mint === asset);
    expect(parsePrice(price, TOKENS)).toEqual({ asset, amount, token });
  });

  test('a mint that is not known is priced in atomic units, without a token', () => {
    const asset = 'JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN';
    expect(parsePrice({ amount: 5n, asset }, TOKENS)).toEqual({ asset, amount: 5n });
  });

  test.each([
    ['0.01', /names no token; did you mean "\$0\.01" or "0\.01 USDC"\?/],
    ['5', /names no token/],
    ['0.0000001 USDC', /"0.0000001" has more decimal places than the token, which has 6/],
    ['$0.0100000', /more decimal places/],
    ['0 USDC', /more than zero/],
    ['$0.00', /more than zero/],
    [{ amount: 0n, asset: 'USDC' }, /more than zero/],
    [{ amount: '0', asset: 'USDC' }, /more than zero/],
    ['-1 USDC', /"-1" is negative/],
    ['$-0.01', /negative/],
    [{ amount: -1n, asset: 'USDC' }, /negative/],
    [{ amount: '-1', asset: 'USDC' }, /negative/],
    ['1e-3 USDC', /exponent notation/],
    ['$1E3', /exponent notation/],
    [{ amount: '1e6', asset: 'USDC' }, /exponent notation/],
    ['NaN USDC', /"NaN" is not a number/],
    ['Infinity USDC', /is not a number/],
    ['abc', /is not a number/],
    ['USDC 5', /"USDC 5" is not a price; did you mean "5 USDC"\?/],
    ['0.5USDT', /did you mean "0\.5 USDT"\?/],
    ['0.01$', /did you mean "\$0\.01"\?/],
    ['1 $', /did you mean "\$1"\?/],
    ['$.5', /did you mean "\$0\.5"\?/],
    ['-$1', /"-\$1" is negative/],
    ['1,000 USDC', /"1,000" has commas; write it as 1000/],
    ['$1,000,000.50', /has commas; write it as 1000000\.50/],
    ['free', /what is free needs no gate/],
    ['0', /what is free needs no gate/],
    ['.5 USDC', /did you mean "0\.5 USDC"\?/],
    ['5. USDC', /is not a number/],
    ['1,5 USDC', /"1,5" has a comma; write a point, 1\.5/],
    ['1_000 USDC', /is not a number/],
    ['+1 USDC', /is not a number/],
    ['0x10 USDC', /is not a number/],
    ['١ USDC', /is not a number/],
    ['$', /is not a number/],
    ['', /is not a price/],
    ['   ', /is not a price/],
    ['1 USDC extra', /is not a price/],
    ['$1 USDT', /names two tokens; write "\$1" or "1 USDT"/],
    ['1 USDD', /no token "USDD" here; did you mean "USDC"\?/],
    ['1 USD', /did you mean "USD/],
    ['1 DOGE', new RegExp(`the known ones are ${namesOf(TOKENS)}`)],
    [{ amount: 1n, asset: 'DOGE' }, /no token "DOGE"/],
    [{ amount: '1.5', asset: 'USDC' }, /not "1\.5"; write whole tokens as text, such as "0\.5 USDC"/],
    [{ amount: '', asset: 'USDC' }, /not a number/],
    ['18446744073709.551616 USDC', /more than a token account can hold/],
    [{ amount: U64_MAX + 1n, asset: 'USDC' }, /more than a token account can hold/],
    [{ amount: '18446744073709551616', asset: 'USDC' }, /more than a token account can hold/],
    [`${'9'.repeat(70)} USDC`, /at most 64 characters/],
  ])('refuses %p and says why', (price, message) => {
    expect(() => parsePrice(price, TOKENS, 'requirePayment')).toThrow(message);
    expect(() => parsePrice(price, TOKENS, 'requirePayment')).toThrow(TollhouseError);
  });

  test('the error is a wrong option, names the function and the parameter', () => {
    try {
      parsePrice('0.01', TOKENS, 'requirePayment');
      throw new Error('it was read');
    } catch (error) {
      expect(error).toMatchObject({ code: 'bad_option', context: { param: 'price' } });
      expect(error).toHaveProperty('message', expect.stringMatching(/^requirePayment: "0\.01"/));
    }
  });

  test('an error without the name of a function is about the price', () => {
    expect(() => parsePrice('0 USDC', TOKENS)).toThrow(/^price: a price must be more than zero, not "0 USDC"/);
  });

  test('without USDC among the tokens a price in dollars is refused', () => {
    const detail =
      'there is no token "USDC" here; no token is known; another one is added by the option "tokens" (TOKENS_FILE), or priced as { amount, asset: its mint }';
    expect(readPrice('$1', [])).toEqual({ ok: false, detail });
  });
});

describe('readPrice', () => {
  test.each([
    0.01,
    Number.NaN,
    null,
    undefined,
    true,
    10n,
    [],
    ['$1'],
    {},
    { amount: 0.01, asset: 'USDC' },
    { amount: 10_000, asset: 'USDC' },
    { amount: 1n },
    { amount: 1n, asset: 5 },
    { amount: 1n, asset: 'USDC', decimals: 6 },
    { amout: 1n, asset: 'USDC' },
    () => '$1',
    Symbol('price'),
  ])('answers a sentence for %p', (price) => {
    expect(readPrice(price, TOKENS)).toEqual({ ok: false, detail: expect.stringMatching(/./) });
  });

  const FORMS = 'write a price as "$0.01", "0.5 USDG" or { amount: 10000n, asset: "USDC" }';

  test.each([
    ['0.0 USDC', 'a price must be more than zero, not "0.0 USDC"; what is free needs no gate'],
    [{ amount: 0n, asset: 'USDC' }, 'a price must be more than zero, not { amount: 0 }; what is free needs no gate'],
    ['$1  USDT', '"$1  USDT" names two tokens; write "$1" or "1 USDT"'],
    ['1.5', '"1.5" names no token; did you mean "$1.5" or "1.5 USDC"?'],
    ['1  2  3', `"1  2  3" is not a price; ${FORMS}`],
    ['-1 USDC', `"-1" is negative; ${FORMS}`],
    ['$0.0000001', `"0.0000001" has more decimal places than the token, which has 6; ${FORMS}`],
    [5, '5 is a number and names no token; did you mean "$5", or { amount: 5n, asset: "USDC" } in atomic units?'],
    [0.01, '0.01 is a number and names no token; did you mean "$0.01"?'],
    [0, 'a price must be more than zero, not 0; what is free needs no gate'],
    [-1, `a price must be more than zero, not -1; ${FORMS}`],
    [Number.NaN, `NaN is not a price; ${FORMS}`],
    [{ amount: 1n, asset: 'USDC', decimals: 6 }, `a price has no field "decimals"; ${FORMS}`],
    [{ amount: 1, asset: 'USDC' }, 'amount must be atomic units as bigint or digits, not 1; write 1n'],
    [{ amount: -1n, asset: 'USDC' }, '-1 is negative'],
    [{ amount: 2n ** 64n, asset: 'USDC' }, '18446744073709551616 is more than a token account can hold'],
    [{ amount: 1n, asset: null }, 'asset must be a symbol or a mint address, not null'],
    ['1 USDD', 'there is no token "USDD" here; did you mean "USDC"?'],
    [
      '1 DOGE',
      `there is no token "DOGE" here; the known ones are ${namesOf(TOKENS)}; another one is added by the option "tokens" (TOKENS_FILE), or priced as { amount, asset: its mint }`,
    ],
  ])('says of %p what is wrong and what to write', (price, detail) => {
    expect(readPrice(price, TOKENS)).toEqual({ ok: false, detail });
  });

  test('reads a text of 64 characters, and none of 65', () => {
    expect(readPrice(`${' '.repeat(58)}1 USDC`, TOKENS)).toMatchObject({ ok: true, value: { amount: 1_000_000n } });
    const detail = 'a price has at most 64 characters';
    expect(readPrice(`${' '.repeat(59)}1 USDC`, TOKENS)).toEqual({ ok: false, detail });
  });

  test('never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.anything({ withBigInt: true }), fc.string(), fc.stringMatching(/^\$?[\d.e-]{0,9} ?\w{0,5}$/)),
        (price) => {
          const result = readPrice(price, TOKENS);
          if (result.ok) expect(result.value.amount).toBeGreaterThan(0n);
          else expect(result.detail).not.toBe('');
        },
      ),
    );
  });

  test('a price that is written with its symbol is read as exactly that amount', () => {
    fc.assert(
      fc.property(fc.constantFrom(...KNOWN_TOKENS.solana), anAmount, (token, amount) => {
        fc.pre(amount > 0n);
        const price = `${formatAmount(amount, token.decimals)} ${token.symbol}`;
        expect(readPrice(price, KNOWN_TOKENS.solana)).toEqual({
          ok: true,
          value: { asset: token.mint, amount, token },
        });
      }),
    );
  });

  test('atomic units are taken as they are, for any mint', () => {
    fc.assert(
      fc.property(anAddress, anAmount, fc.boolean(), (asset, amount, asText) => {
        fc.pre(amount > 0n);
        const price = { amount: asText ? String(amount) : amount, asset };
        expect(readPrice(price, [])).toEqual({ ok: true, value: { asset, amount } });
      }),
    );
  });
});

describe('parseDecimal and formatAmount', () => {
  test.each([
    ['0', 6, 0n],
    ['0.000001', 6, 1n],
    ['1', 0, 1n],
    ['007', 0, 7n],
    ['1.50', 2, 150n],
    ['18446744073709551615', 0, U64_MAX],
    [0, 6, 0n],
    [0.01, 6, 10_000n],
    [0.1, 1, 1n],
    [1e-6, 6, 1n],
    [1e-7, 9, 100n],
    [1.5e-7, 8, 15n],
    [123456.789, 3, 123_456_789n],
    [-0, 6, 0n],
  ])('parseDecimal(%p, %p) is %p', (input, places, amount) => {
    expect(parseDecimal(input, places)).toEqual({ ok: true, value: amount });
  });

  test.each([
    [0.1 + 0.2, 6, /more decimal places/],
    [1e-7, 6, /more decimal places/],
    [-1, 6, /negative/],
    [-1e-7, 9, /negative/],
    [Number.NaN, 6, /not a number/],
    [Number.POSITIVE_INFINITY, 6, /not a number/],
    [1e21, 0, /more than a token account/],
    [Number.MAX_VALUE, 0, /more than a token account/],
    [Number.MIN_VALUE, 18, /decimal places/],
    ['1.5', 0, /more decimal places/],
    ['1'.repeat(400), 0, /more than a token account/],
    ['1'.repeat(401), 0, /at most 400 characters/],
  ])('parseDecimal(%p, %p) is refused', (input, places, message) => {
    expect(parseDecimal(input, places)).toEqual({ ok: false, detail: expect.stringMatching(message) });
  });

  test.each([
    [0n, 6, '0'],
    [1n, 6, '0.000001'],
    [1_500_000n, 6, '1.5'],
    [1_000_000n, 6, '1'],
    [5n, 0, '5'],
    [-1_500_000n, 6, '-1.5'],
    [U64_MAX, 18, '18.446744073709551615'],
  ])('formatAmount(%p, %p) is %p', (amount, places, text) => {
    expect(formatAmount(amount, places)).toBe(text);
  });

  test('what was formatted is parsed to the same amount, for every amount and number of decimals', () => {
    fc.assert(
      fc.property(anAmount, decimals, (amount, places) => {
        expect(parseDecimal(formatAmount(amount, places), places)).toEqual({ ok: true, value: amount });
      }),
      { numRuns: 1000 },
    );
  });

  test('the text is the shortest: no zeros at its end, none in front', () => {
    fc.assert(
      fc.property(anAmount, decimals, (amount, places) => {
        expect(formatAmount(amount, places)).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/);
      }),
    );
  });

  test('a JSON number and its own digits mean the same', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999_999 }), fc.integer({ min: 0, max: 9 }), (digits, places) => {
        const text = formatAmount(BigInt(digits), places);
        expect(parseDecimal(Number(text), 9)).toEqual(parseDecimal(text, 9));
      }),
    );
  });
});

test.each(Object.entries(KNOWN_TOKENS))('on %s the forms that are told can be written there', (_network, tokens) => {
  for (const wrong of ['1 2 3', '-1 USDC', 'five USDC', '$0.0000001', -1, Number.NaN, null, { price: 1 }]) {
    const read = readPrice(wrong, tokens);
    const forms = [...(read.ok ? '' : read.detail).matchAll(/"(\$0\.01|0\.5 \w+)"/g)].map(([, form]) => form);
    expect(forms).toHaveLength(2);
    for (const form of forms) expect(readPrice(form, tokens)).toMatchObject({ ok: true });
  }
});

test.each(['FOO', 'SAT', 'EUR'])('%s is no slip of the pen for another token', (symbol) => {
  const read = readPrice(`1 ${symbol}`, KNOWN_TOKENS['solana-devnet']);
  expect(read).toMatchObject({ detail: expect.stringContaining('the known ones are USDC') });
});

test.each([
  ['SLO', 'SOL'],
  ['SOLL', 'SOL'],
  ['UDSC', 'USDC'],
  ['PYSUD', 'PYUSD'],
])('%s is one for %s', (symbol, meant) => {
  const read = readPrice(`1 ${symbol}`, KNOWN_TOKENS['solana-devnet']);
  expect(read).toMatchObject({ detail: expect.stringContaining(`did you mean "${meant}"?`) });
});

test('a token that only other networks have is no slip: what is known is told, and how to add it', () => {
  const read = readPrice('0.5 USDT', KNOWN_TOKENS['solana-devnet']);
  expect(read).toEqual({
    ok: false,
    detail: `there is no token "USDT" here; the known ones are ${namesOf(KNOWN_TOKENS['solana-devnet'])}; another one is added by the option "tokens" (TOKENS_FILE), or priced as { amount, asset: its mint }`,
  });
});

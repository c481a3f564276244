import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { TollhouseError } from '../../../src/errors/errors.js';
import { createFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { remoteFacilitator } from '../../../src/facilitator/remote/remote-facilitator.js';
import { createRouter } from '../../../src/http/create-router.js';
import { createIdentity } from '../../../src/identity/create-identity.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';

const keypair = Keypair.generate();
const payTo = Keypair.generate().publicKey.toBase58();
const rpcUrl = 'http://127.0.0.1:9';
const facilitator = createFacilitator({ network: 'solana-devnet', rpcUrl, keypair });

afterAll(() => facilitator.close());

/** Options as JavaScript hands them over: with whatever was typed. */
function faultOf(call: (options: never) => unknown, options: unknown): TollhouseError {
  try {
    Reflect.apply(call, undefined, [options]);
  } catch (error) {
    if (error instanceof TollhouseError) return error;
    throw error;
  }
  throw new Error(`no error for ${JSON.stringify(Object.keys(Object(options)))}`);
}

describe('requirePayment throws at start, and says what was probably meant', () => {
  const good = { facilitator, payTo, price: '$0.01' };
  const symbol = Keypair.generate().publicKey.toBase58();

  test.each<[string, unknown, RegExp]>([
    ['a typo', { ...good, prise: '$1' }, /unknown option "prise"; did you mean "price"\?/],
    ['a typo in lower case', { ...good, payto: payTo }, /unknown option "payto"; did you mean "payTo"\?/],
    ['a typo in a long name', { ...good, maxTimeoutSecond: 5 }, /did you mean "maxTimeoutSeconds"\?/],
    ['a typo in a hook', { ...good, onSetled: () => 0 }, /did you mean "onSettled"\?/],
    ['an option of something else', { ...good, minBalence: 5 }, /unknown option "minBalence"; the options are .*price/],
    [
      'options of something else',
      { ...good, tier: 'gold', minBalence: 5, prise: 1 },
      /did you mean "price"\?; unknown options "tier", "minBalence"; the options are (?!.*the options are)/,
    ],
    ['no options', undefined, /option "facilitator" is missing.*option "price" is missing.*option "payTo" is missing/],
    ['text for options', 'free', /must be an object/],
    ['no facilitator', { payTo, price: '$1' }, /option "facilitator" is missing: .*createFacilitator/],
    ['a foreign facilitator', { ...good, facilitator: {} }, /option "facilitator" must be a facilitator/],
    ['no price', { facilitator, payTo }, /option "price" is missing/],
    ['a price without a token', { ...good, price: '0.01' }, /did you mean "\$0\.01" or "0\.01 USDC"\?/],
    ['a price as number', { ...good, price: 0.01 }, /names no token; did you mean "\$0\.01"/],
    ['a price of nothing', { ...good, price: '$0' }, /zero|0/],
    ['a negative price', { ...good, price: '$-1' }, /price/],
    ['a price that is none', { ...good, price: '$one' }, /price/],
    ['too many decimals', { ...good, price: '$0.0000001' }, /decimal/],
    ['an unknown token', { ...good, price: '1 USDD' }, /USDD.*USDC/],
    ['an unknown token in atomic units', { ...good, price: { amount: 1n, asset: 'EURC' } }, /EURC/],
    ['a typo in a price', { ...good, price: { amount: 1n, mint: symbol } }, /mint/],
    ['a pass of nothing', { ...good, pass: {} }, /option "pass" must be an object with uses, for, or both/],
    ['a pass of no uses', { ...good, pass: { uses: 0 } }, /option "pass.uses" must be at least 1/],
    ['a pass for no time', { ...good, pass: { for: '0h' } }, /option "pass.for" must be a time such as "15m", "24h"/],
    ['a pass for a time that is none', { ...good, pass: { for: 'a day' } }, /option "pass.for" must be a time such as/],
    ['a pass for a century', { ...good, pass: { for: '36500d' } }, /option "pass.for" must be .* at most ten years/],
    ['a pass for no group', { ...good, pass: { uses: 1, group: 'my group' } }, /option "pass.group" must be a name of/],
    ['a pass of whoever is paid', { ...good, payTo: () => payTo, pass: { uses: 9 } }, /a pass is sold by one wallet/],
    [
      'a pass for the price that a request has',
      { ...good, price: () => '$1', pass: { uses: 9 } },
      /option "price" asks for little: give fixed prices and no function/,
    ],
    [
      'a pass for what a memo says of a request',
      { ...good, memo: () => 'order 7', pass: { uses: 9 } },
      /not what option "memo" says of one: give a text and no function/,
    ],
    [
      'an offer beside a memo of the request',
      { ...good, memo: () => 'order 7', price: ['$1', { price: '$2', pass: { uses: 9 } }] },
      /not what option "memo" says of one/,
    ],
    [
      'a typo in a pass',
      { ...good, pass: { use: 100 } },
      /: option "pass" must be an object such as { uses: 100 } or { for: "24h" } \(did you mean "uses"\?\), without "use"$/,
    ],
    [
      'a typo in the pass of a price',
      { ...good, price: [{ price: '$1', pass: { use: 100 } }] },
      /"pass" of price 1 must be an object such as .* \(did you mean "uses"\?\), without "use"$/,
    ],
    [
      'uses beside a price instead of in its pass',
      { ...good, price: ['$1', { price: '$2', uses: 100 }] },
      /price 2 has "uses" beside "price"; what a payment buys stands in "pass", as in { price: "\$0.50", pass: { uses: 100 } }/,
    ],
    [
      'a pack that can be renewed',
      { ...good, pass: { uses: 9, for: '30d', renew: true } },
      /with for alone beside renew: what is renewed is a time, as in { for: "30d", renew: true }/,
    ],
    ['a renewal of no time', { ...good, pass: { renew: true } }, /option "pass" must be an object with/],
    [
      'a grace that is none',
      { ...good, pass: { for: '30d', renew: { grace: 'some' } } },
      /option "pass.renew(.grace)?" must be .*"3d"|a time such as/,
    ],
    ['holders that are no list', { ...good, holders: { tier: 'gold' } }, /option "holders" must be a list such as \[/],
    ['holders of nothing', { ...good, holders: [{ price: '$1' }] }, /with one of tier, mint and collection/],
    ['holders who have nothing', { ...good, holders: [{ tier: 'gold' }] }, /with price, free or allowance/],
    [
      'holders of a tier that there is not',
      { ...good, holders: [{ tier: 'platin', price: '$1' }] },
      /entry 1 of "holders": option "tier": there is no tier "platin"/,
    ],
    [
      'holders of a token without an amount',
      { ...good, holders: [{ mint: 'USDC', price: '$1' }] },
      /entry 1 of "holders": option "minBalance" is missing/,
    ],
    [
      'holders whose price depends on the request',
      { ...good, holders: [{ tier: 'gold', price: () => '$1' }] },
      /option "holders.0.price" must be a price such as .* no function/,
    ],
    [
      'holders with a price that is none',
      { ...good, holders: [{ tier: 'gold', price: '1' }] },
      /entry 1 of "holders": .*did you mean/,
    ],
    [
      'an allowance of whoever is paid',
      { ...good, payTo: () => payTo, holders: [{ tier: 'gold', allowance: { uses: 9, per: '30d' } }] },
      /a pass is sold by one wallet/,
    ],
    [
      'holders who pay nothing and something',
      { ...good, holders: [{ tier: 'gold', free: true, price: '$1' }] },
      /an object with free alone/,
    ],
    ['credit and uses', { ...good, pass: { credit: true, uses: 9, cost: '$0.001' } }, /with uses or credit, not both/],
    [
      'credit without a cost',
      { ...good, pass: { credit: true } },
      /with cost beside credit, .* at most: { credit: true, cost/,
    ],
    ['a cost without credit', { ...good, pass: { uses: 9, cost: '$0.001' } }, /with credit: true beside cost/],
    ['a pass of no credit', { ...good, pass: { credit: false } }, /with uses, for, or both, or with credit: true/],
    [
      'a cost that is none',
      { ...good, pass: { credit: true, cost: '0.001' } },
      /"cost" of option "pass": .* did you mean/,
    ],
    ['a cost of nothing', { ...good, pass: { credit: true, cost: '$0' } }, /"cost" of option "pass": .*more than zero/],
    [
      'a cost above the price',
      { ...good, pass: { credit: true, cost: '$0.02' } },
      /\(0.02 USDC\) is more than its price \(0.01/,
    ],
    [
      'a cost in another token',
      { ...good, pass: { credit: true, cost: '0.001 PYUSD' } },
      /price of 0.01 USDC is sold as credit, .* none in that/,
    ],
    [
      'a cost for one of two tokens',
      { ...good, price: ['$0.01', '0.01 PYUSD'], pass: { credit: true, cost: '$0.001' } },
      /a price of 0.01 PYUSD is sold as credit/,
    ],
    [
      'two costs in one token',
      { ...good, pass: { credit: true, cost: ['$0.001', '0.002 USDC'] } },
      /says twice what a request takes of one token/,
    ],
    [
      'two costs for the same routes',
      {
        ...good,
        price: ['0.001', '0.002'].map((it, at) => ({ price: `$${at + 1}`, pass: { credit: true, cost: `$${it}` } })),
      },
      /must have the same "cost" and "stream"/,
    ],
    [
      'a stream that is paid afterwards',
      { ...good, pass: { credit: true, cost: '$0.001', stream: true } },
      /"stream: true" of a pass, is paid first: add settle: "before"/,
    ],
    [
      'credit that no balance holds',
      { ...good, price: { amount: 2n ** 63n, asset: 'USDC' }, pass: { credit: true, cost: '$0.001' } },
      /is more than credit can hold/,
    ],
    ['no identity', { ...good, pass: { uses: 9 }, identity: {} }, /option "identity" must be an identity/],
    [
      'a pass with each price and one for all',
      { ...good, price: [{ price: '$1', pass: { uses: 9 } }], pass: { uses: 9 } },
      /give option "pass", or a pass with each price, not both/,
    ],
    [
      'a wrong pass of a price',
      { ...good, price: ['$1', { price: '$2', pass: { uses: -1 } }] },
      /"pass.uses" of price 2 must be at least 1/,
    ],
    [
      'two passes for one price',
      { ...good, price: ['$1', { price: '1 USDC', pass: { uses: 9 } }] },
      /price 2 is the same as one before it/,
    ],
    ['no price in a list', { ...good, price: [] }, /at least one price/],
    ['a wrong price in a list', { ...good, price: ['$1', '1'] }, /did you mean/],
    ['no recipient', { facilitator, price: '$1' }, /option "payTo" is missing/],
    ['a bad address', { ...good, payTo: 'my wallet' }, /"payTo" must be a Solana wallet address .*"my wallet"/],
    [
      'an address of another chain',
      { ...good, payTo: `0x${'ab'.repeat(20)}` },
      /"payTo" must be a Solana wallet address/,
    ],
    ['a bad address beside a price function', { ...good, price: () => '$1', payTo: 'x' }, /"payTo"/],
    ['a bad price beside a recipient function', { ...good, price: '1', payTo: () => payTo }, /did you mean/],
    ['a memo over 256 bytes', { ...good, memo: 'ü'.repeat(129) }, /"memo" must have 1 to 256 bytes/],
    ['an empty memo', { ...good, memo: '' }, /"memo" must have 1 to 256 bytes/],
    ['another word for when to settle', { ...good, settle: 'first' }, /"settle" must be "after" or "before"/],
    ['an unknown commitment', { ...good, commitment: 'final' }, /"commitment" must be .*"finalized"/],
    ['a time-out of NaN', { ...good, maxTimeoutSeconds: Number.NaN }, /"maxTimeoutSeconds" must be a whole number/],
    ['a time-out of zero', { ...good, maxTimeoutSeconds: 0 }, /"maxTimeoutSeconds" must be at least 1/],
    ['a time-out of a day', { ...good, maxTimeoutSeconds: 86_400 }, /"maxTimeoutSeconds" must be at most 3,600/],
    ['a deadline without end', { ...good, handlerTimeoutMs: Number.POSITIVE_INFINITY }, /"handlerTimeoutMs" must be/],
    [
      'a deadline that a timer cannot hold',
      { ...good, handlerTimeoutMs: 2 ** 31 },
      /"handlerTimeoutMs" must be at most/,
    ],
    ['a negative limit', { ...good, maxHeldBytes: -1 }, /"maxHeldBytes" must be at least 1/],
    ['a limit as text', { ...good, maxHeldBytes: '4mb' }, /"maxHeldBytes" must be a whole number of bytes/],
    ['a base address without protocol', { ...good, baseUrl: 'shop.example' }, /"baseUrl" must be an http\(s\) address/],
    [
      'a base address with a query',
      { ...good, baseUrl: 'https://shop.example/x?y' },
      /"baseUrl" must be .* without user, query/,
    ],
    ...['?', '#', '/?', '/#', ' ', '\n', '/a b', '\\a'].map((end): [string, unknown, RegExp] => [
      `a base address that ends with ${JSON.stringify(end)}`,
      { ...good, baseUrl: `https://shop.example${end}` },
      /"baseUrl" must be an http\(s\) address without user, query or fragment/,
    ]),
    ['a base address behind a blank', { ...good, baseUrl: ' https://shop.example' }, /"baseUrl" must be an http\(s\)/],
    ['a base address of no user', { ...good, baseUrl: 'https://@shop.example' }, /"baseUrl" must be .* without user/],
    ['a hook that is no function', { ...good, onSettled: 'log' }, /"onSettled" must be a function/],
  ])('%s', (_what, options, says) => {
    const error = faultOf(requirePayment, options);

    expect(error.code).toBe('bad_option');
    expect(error.message).toMatch(/^requirePayment: /);
    expect(error.message).toMatch(says);
  });

  test('every fault is told at once, and the first one named', () => {
    const error = faultOf(requirePayment, { ...good, settle: 'x', commitment: 'y', prise: 1 });

    expect(error.message).toMatch(/"settle".*"commitment".*"prise"/);
    expect(error.context.param).toBe('settle');
  });

  test('the options that are right are taken', () => {
    expect(requirePayment(good)).toBeInstanceOf(Function);
    expect(requirePayment({ ...good, price: ['$1', '1 PYUSD', { amount: 1n, asset: symbol }] })).toBeInstanceOf(
      Function,
    );
    expect(requirePayment({ ...good, price: () => '$1', payTo: () => payTo, memo: () => undefined })).toBeInstanceOf(
      Function,
    );
  });
});

describe('createFacilitator throws at start, and says what was probably meant', () => {
  const good = { network: 'solana-devnet', rpcUrl, keypair };
  const secret = bs58.encode(keypair.secretKey);
  const array = JSON.stringify([...keypair.secretKey]);

  test.each<[string, unknown, RegExp]>([
    ['a typo', { ...good, rpcURL: rpcUrl }, /unknown option "rpcURL"; did you mean "rpcUrl"\?/],
    ['another typo', { ...good, keyPair: keypair }, /unknown option "keyPair"; did you mean "keypair"\?/],
    ['nothing', undefined, /option "network" is missing.*option "keypair" is missing/],
    [
      'a network by another name',
      { ...good, network: 'devnet' },
      /"network" must be .*, not "devnet"; did you mean "solana-devnet"\?/,
    ],
    ['an RPC without protocol', { ...good, rpcUrl: '127.0.0.1:8899' }, /"rpcUrl" must be an http\(s\) address/],
    ['a WebSocket address as RPC', { ...good, rpcUrl: 'ws://127.0.0.1:9' }, /"rpcUrl" must be an http\(s\) address/],
    ['no RPC in a list', { ...good, rpcUrl: [] }, /"rpcUrl" must be/],
    ['an RPC as WebSocket', { ...good, wsUrl: rpcUrl }, /"wsUrl" must be a ws\(s\) address/],
    ['no key', { network: 'solana-devnet' }, /option "keypair" is missing: .*key that pays network fees/],
    ['no key in a list', { ...good, keypair: [] }, /"keypair" must hold at least one key/],
    ['a public key', { ...good, keypair: payTo }, /"keypair" is an address.* must be the secret key/],
    ['an empty key', { ...good, keypair: '' }, /"keypair" is empty; it must be a web3\.js Keypair/],
    ['a public key object', { ...good, keypair: keypair.publicKey }, /"keypair" is an address/],
    [
      'a path',
      { ...good, keypair: '~/.config/solana/id.json' },
      /"keypair" looks like the path of a file; .*readFileSync/,
    ],
    ['a path beside it', { ...good, keypair: 'key.json' }, /looks like the path of a file/],
    [
      'mainnet by another name',
      { ...good, network: 'solana-mainnet' },
      /not "solana-mainnet"; did you mean "solana"\?/,
    ],
    ['a fee cap below the base fee', { ...good, maxFeeLamports: 1n }, /"maxFeeLamports" must be at least 5,000/],
    ['a fee cap as number', { ...good, maxFeeLamports: 100_000 }, /"maxFeeLamports" must be .*bigint.*30_000n/],
    [
      'fees below one payment',
      { ...good, maxFeeLamportsPerHour: 9_999 },
      /"maxFeeLamportsPerHour" must be at least 10,000 lamports/,
    ],
    [
      'fees that are no number',
      { ...good, maxFeeLamportsPerHour: '1 SOL' },
      /"maxFeeLamportsPerHour" must be a whole number of lamports/,
    ],
    [
      'fees in parts',
      { ...good, maxFeeLamportsPerHour: 10_000.5 },
      /"maxFeeLamportsPerHour" must be a whole number of lamports/,
    ],
    ['counters that are none', { ...good, counters: {} }, /"counters" must be counters/],
    ['a time-out of NaN', { ...good, rpcTimeoutMs: Number.NaN }, /"rpcTimeoutMs" must be a whole number/],
    ['a negative time-out', { ...good, settleTimeoutMs: -1 }, /"settleTimeoutMs" must be at least 1/],
    ['a bad mint', { ...good, allowMints: ['PYUSD'] }, /"allowMints\.0" must be a Solana address/],
    ['a ledger that is none', { ...good, ledger: new Map() }, /"ledger" must be a ledger/],
    ['hints as text', { ...good, blockhashHints: 'yes' }, /"blockhashHints" must be true or false/],
  ])('%s', (_what, options, says) => {
    const error = faultOf(createFacilitator, options);

    expect(error.code).toBe('bad_option');
    expect(error.message).toMatch(/^createFacilitator: /);
    expect(error.message).toMatch(says);
  });

  test.each([
    ['base58 that is cut off', secret.slice(0, -3)],
    ['base58 with a wrong end', `${secret.slice(0, -3)}111`],
    ['base58 in quotes', JSON.stringify(secret)],
    ['an array that is cut off', array.slice(0, -5)],
    ['an array with a wrong end', `${array.slice(0, -5)},1]`],
    ['half the bytes', keypair.secretKey.subarray(0, 32)],
    [
      'another public half',
      Uint8Array.from([...keypair.secretKey.subarray(0, 32), ...Keypair.generate().publicKey.toBytes()]),
    ],
    ['a key object', { secretKey: secret }],
  ])('a bad key is never shown: %s', (_what, bad) => {
    const error = faultOf(createFacilitator, { ...good, keypair: bad });
    const shown = `${error.message} ${JSON.stringify(error)} ${error.stack}`;

    expect(error.message).toMatch(/option "keypair"/);
    for (let start = 0; start + 8 <= secret.length; start += 4)
      expect(shown).not.toContain(secret.slice(start, start + 8));
    expect(shown).not.toContain([...keypair.secretKey.subarray(0, 4)].join(','));
  });

  test('an address with a secret in it is never shown', () => {
    const error = faultOf(createFacilitator, { ...good, rpcUrl: 'htp://user:hunter2@rpc.example/?api-key=swordfish' });

    expect(error.message).not.toMatch(/hunter2|swordfish/);
  });

  test.each([
    ['a Keypair', keypair],
    ['64 bytes', keypair.secretKey],
    ['base58', secret],
    ['the JSON of a key file', ` ${array}\n`],
    ['a list', [keypair, Keypair.generate()]],
  ])('the key may be %s', async (_what, key) => {
    const made = createFacilitator({ network: 'solana-devnet', rpcUrl, keypair: key, blockhashHints: false });
    const { kinds } = await made.supported();

    expect(kinds[0]?.feePayer).toBe(keypair.publicKey.toBase58());
    await made.close();
  });
});

describe('a facilitator in the place of the options', () => {
  test.each<[string, (options: never) => unknown, string]>([
    ['createRouter', createRouter, 'createRouter({ facilitator })'],
    ['requirePayment', requirePayment, 'requirePayment({ facilitator, price, payTo })'],
    ['requireTokenBalance', requireTokenBalance, 'requireTokenBalance({ facilitator })'],
  ])('is told by %s, with what was meant', (where, call, meant) => {
    expect(faultOf(call, facilitator).message).toBe(
      `${where}: the facilitator stands in the place of the options; did you mean ${meant}?`,
    );
  });
});

describe('names from elsewhere', () => {
  test.each([
    ['createIdentity', createIdentity, { network: 'mainnet-beta' }, /did you mean "solana"\?/],
    ['remoteFacilitator', remoteFacilitator, { network: 'mainnet', url: rpcUrl }, /did you mean "solana"\?/],
    ['requirePayment', requirePayment, { facilitator, payTo, price: '0.5 USDT' }, /ones are USDC, .*"tokens"/],
    ['requireTokenBalance', requireTokenBalance, { facilitator, mint: 'USDT', minBalance: 1 }, /symbols are SOL, USDC/],
  ])('%s says what was meant, or what is known', (_name, call, options, says) => {
    expect(faultOf(call, options).message).toMatch(says);
  });
});

import { Keypair, PublicKey } from '@solana/web3.js';
import { TollhouseError } from '../../../src/errors/errors.js';
import { createFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { remoteFacilitator } from '../../../src/facilitator/remote/remote-facilitator.js';
import { createGateway } from '../../../src/gateway/create-gateway.js';
import { verifyWebhook } from '../../../src/gateway/webhooks/verify-webhook.js';
import { createAuthRouter } from '../../../src/http/auth/auth-router.js';
import { createRouter } from '../../../src/http/create-router.js';
import { createIdentity } from '../../../src/identity/create-identity.js';
import { anyOf } from '../../../src/middleware/gate/any-of.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { paywall } from '../../../src/middleware/paywall/paywall.js';
import { requireTier } from '../../../src/middleware/wallet/require-tier.js';
import { startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { openStorage } from '../../../src/storage/open-storage.js';

const network = 'solana-devnet';
const keypair = Keypair.generate();
const payTo = Keypair.generate().publicKey.toBase58();
const facilitator = createFacilitator({ network, rpcUrl: 'http://127.0.0.1:9', keypair });
const remote = remoteFacilitator({ network, url: 'http://127.0.0.1:9' });
const good = { facilitator, payTo, price: '$0.01' };

afterAll(async () => {
  await facilitator.close();
  await remote.close();
});

/** What is said about a call as JavaScript makes it. */
function said(call: (...given: never[]) => unknown, ...given: readonly unknown[]): string {
  try {
    Reflect.apply(call, undefined, given);
  } catch (error) {
    if (error instanceof TollhouseError && error.code === 'bad_option') return error.message;
    throw error;
  }
  throw new Error('nothing was said');
}

describe('a missing await is told', () => {
  const pending = Promise.resolve();

  test.each<[string, (...given: never[]) => unknown, unknown, string]>([
    [
      'a ledger',
      createFacilitator,
      { network, keypair, ledger: pending },
      'createFacilitator: option "ledger" is a promise',
    ],
    [
      'a keypair',
      createFacilitator,
      { network, keypair: pending },
      'option "keypair" is a promise; write "await" before',
    ],
    ['a facilitator', requirePayment, { ...good, facilitator: pending }, 'option "facilitator" is a promise'],
    ['a price', requirePayment, { ...good, price: pending, payTo: pending }, 'option "price" is a promise'],
    ['a storage', createGateway, { facilitator, storage: pending }, 'createGateway: option "storage" is a promise'],
    ['an identity', createRouter, { facilitator, identity: pending }, 'createRouter: option "identity" is a promise'],
    ['a tier’s facilitator', requireTier, { facilitator: pending }, 'requireTier: option "facilitator" is a promise'],
    ['all options', createFacilitator, pending, 'createFacilitator: the options are a promise; write "await"'],
  ])('%s', (_what, call, options, says) => {
    expect(said(call, options)).toContain(says);
  });

  test('a whole sandbox, a whole storage', async () => {
    const [sandbox, storage] = [startSandbox(), openStorage('memory:')];
    expect(said(createFacilitator, sandbox)).toContain('the options are a promise');
    expect(said(createFacilitator, { network, keypair, ledger: storage })).toContain('option "ledger" is a promise');
    await (await sandbox).close();
    await (await storage).close();
  });
});

describe('what is missing is named, with what to pass', () => {
  test.each<[string, (...given: never[]) => unknown, readonly unknown[], RegExp]>([
    ['createRouter()', createRouter, [], /^createRouter: option "facilitator" is missing: .*made by createFacilitator/],
    [
      'createRouter({})',
      createRouter,
      [{}],
      /^createRouter: option "facilitator" is missing: .*made by createFacilitator/,
    ],
    [
      'createRouter of a remote one',
      createRouter,
      [{ facilitator: remote }],
      /"facilitator" must be an embedded facilitator/,
    ],
    [
      'createRouter with a typo',
      createRouter,
      [{ facilitator, identiy: 1 }],
      /unknown option "identiy"; did you mean "identity"/,
    ],
    [
      'createRouter with text',
      createRouter,
      [{ facilitator, limits: 'off' }],
      /"limits" must be false, or \{ scale: 2 \}/,
    ],
    [
      'createRouter of the facilitator',
      createRouter,
      [facilitator],
      /did you mean createRouter\(\{ facilitator \}\)\?/,
    ],
    ['createAuthRouter()', createAuthRouter, [], /^createAuthRouter: option "identity" is missing: .*createIdentity/],
    ['createGateway({})', createGateway, [{}], /"facilitator" is missing: .*createFacilitator/],
    ['createIdentity({})', createIdentity, [{}], /^createIdentity: option "network" is missing/],
    [
      'a price first',
      requirePayment,
      ['$0.01', good],
      /must be an object, as in requirePayment\(\{ facilitator, price, payTo, … \}\)/,
    ],
    ['a list', requirePayment, [[good]], /must be an object, as in .* not an array/],
  ])('%s', (_what, call, given, says) => {
    expect(said(call, ...given)).toMatch(says);
  });
});

describe('what is wrong inside is told in words of its own', () => {
  test.each<[string, (...given: never[]) => unknown, readonly unknown[], string]>([
    [
      'a storage as ledger',
      createFacilitator,
      [{ network, keypair, ledger: { ledger: {} } }],
      '"ledger" must be a ledger: "ledger" of what openStorage answers',
    ],
    [
      'tokens by symbol',
      createFacilitator,
      [{ network, keypair, tokens: ['USDC'] }],
      'option "tokens.0" must be of type object, not string',
    ],
    [
      'discovery: true',
      requirePayment,
      [{ ...good, discovery: true }],
      'option "discovery" must be of type object, not boolean',
    ],
    ['a list of tiers', requireTier, [{ facilitator, tiers: [] }], 'requireTier: "tiers": it must be an object with'],
    ['no listener', facilitator.on, ['payment.settled'], 'give a function that hears of "payment.settled"'],
    ['no webhook', verifyWebhook, [], 'give the request first: verifyWebhook(req, secret)'],
  ])('%s', (_what, call, given, says) => {
    expect(said(call, ...given)).toContain(says);
  });

  test('a ledger of a storage that was not awaited is warned of', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const storage = openStorage('memory:');
    const options = { network, keypair, ledger: Reflect.get(storage, 'ledger') };
    const made = Reflect.apply(createFacilitator, undefined, [options]);
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('Was openStorage awaited?'), {
      code: 'TOLLHOUSE_NO_LEDGER',
    });
    warn.mockRestore();
    await made.close();
    await (await storage).close();
  });
});

describe('a recipient that is none says what it looks like', () => {
  const wallet = Keypair.generate();
  const secret = Buffer.from(wallet.secretKey);

  test.each<[string, unknown, RegExp]>([
    ['an address of Ethereum', `0x${'ab'.repeat(20)}`, /not an address of Ethereum or Base/],
    ['an e-mail address', 'me@shop.example', /not an e-mail address/],
    ['a name', 'shop.sol', /not a name: look up the address/],
    ['a mint', facilitator.tokens[0]?.mint, /not the mint of USDC: name the wallet/],
    ['a program', facilitator.tokens[0]?.program, /not a token program/],
    ['an empty public key', PublicKey.default, /not the address of the System Program/],
    ['spaces', ` ${payTo}`, /has spaces around it/],
    ['a key pair', wallet, /not a key pair: write payTo\.publicKey/],
    ['bytes', `[${[...secret]}]`, /not the bytes of a key/],
    ['a number', 5, /not 5/],
  ])('%s', (_what, recipient, says) => {
    const text = said(requirePayment, { ...good, payTo: recipient });
    expect(text).toMatch(/^requirePayment: option "payTo" must be a Solana wallet address/);
    expect(text).toMatch(says);
    expect(text).not.toContain(String([...secret]));
  });
});

describe('a route map names the route that is wrong', () => {
  const shared = { facilitator, payTo };

  test.each<[string, readonly unknown[], string]>([
    ['a typo', [{ 'GET /a': { prise: '$1' } }, shared], 'paywall: route "GET /a": option "price" is missing'],
    [
      'a typo beside',
      [{ 'GET /a': { price: '$1', memmo: 'x' } }, shared],
      'route "GET /a": unknown option "memmo"; did you mean "memo"?',
    ],
    [
      'a typo for all',
      [{ 'GET /a': '$1' }, { ...shared, payto: 1 }],
      'paywall: unknown option "payto"; did you mean "payTo"?',
    ],
    ['a wrong price', [{ '/a': '$1', '/b': '0.01' }, shared], 'paywall: route "/b": "0.01" names no token'],
    ['a number', [{ '/a': 0.01 }, shared], 'route "/a": 0.01 is a number and names no token; did you mean "$0.01"?'],
    ['nothing', [{ '/a': undefined }, shared], 'route "/a": option "price" is missing'],
    ['no facilitator', [{ '/a': '$1' }, { payTo }], 'route "/a": option "facilitator" is missing'],
    ['no recipient', [{ '/a': '$1' }, { facilitator }], 'route "/a": option "payTo" is missing'],
    ['no second argument', [{ '/a': '$1' }], 'route "/a": option "facilitator" is missing'],
    ['a wrong recipient for all', [{ '/a': '$1' }, { facilitator, payTo: 'x' }], 'route "/a": option "payTo" must be'],
    ['arguments the wrong way', [shared, { '/a': '$1' }], 'the routes come first, then the options'],
    ['the order of x402-express', [payTo, { '/a': '$1' }, shared], 'the first argument must be an object of routes'],
    [
      'what @x402/express takes',
      [{ '/a': { accepts: { price: '$1' } } }, shared],
      'write its price and payTo beside each other',
    ],
    ['no route', [{}, shared], 'there is no route'],
    ['a wrong pattern', [{ 'GTE /a': '$1' }, shared], 'route "GTE /a": there is no method "GTE"; did you mean "GET"?'],
    ['a gate', [{ '/a': requirePayment(good) }, shared], 'a gate is mounted by itself'],
    [
      'a route out of reach',
      [{ '/a/*': '$1', 'GET /a/b': '$2' }, shared],
      'route "GET /a/b": it is never reached, since "/a/*" stands before it',
    ],
    [
      'a missing await',
      [{ '/a': '$1' }, { ...shared, facilitator: Promise.resolve() }],
      'paywall: option "facilitator" is a promise',
    ],
  ])('%s', (_what, given, says) => {
    expect(said(paywall, ...given)).toContain(says);
  });
});

describe('anyOf says what it was given instead of gates', () => {
  test.each<[string, readonly unknown[], string]>([
    ['a list', [[requirePayment(good)]], 'one by one'],
    ['a factory', [requirePayment], 'argument 1 is not a gate; give what'],
    ['a promise', [Promise.resolve(requirePayment(good))], 'promise; write "await"'],
  ])('%s', (_what, given, says) => {
    expect(said(anyOf, ...given)).toContain(says);
  });
});

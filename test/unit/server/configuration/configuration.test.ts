import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import bs58 from 'bs58';
import { TollhouseError } from '../../../../src/errors/errors.js';
import { KNOWN_TOKENS } from '../../../../src/protocol/networks/tokens.js';
import { demoWallet } from '../../../../src/sandbox/tokens/demo-wallets.js';
import { readConfiguration, tokensBySymbol, VARIABLES } from '../../../../src/server/configuration/configuration.js';
import { misspeltVariables } from '../../../../src/server/configuration/misspelt.js';

const KEY = demoWallet(0).secretKey;
const SECRET = 'a secret that is longer than thirty-two bytes';
const MINT = 'So11111111111111111111111111111111111111112';
const PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const CLUB = { symbol: 'CLUB', mint: MINT, decimals: 9, program: PROGRAM };

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollhouse-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

/** What is wrong with an environment. */
function faultsOf(env: Record<string, string>): string {
  try {
    readConfiguration(env);
  } catch (error) {
    if (error instanceof TollhouseError && error.code === 'bad_option') return error.message;
    throw error;
  }
  throw new Error('nothing is wrong with it');
}

test('nothing set means the sandbox, this machine only, limits as they are, a log', () => {
  expect(readConfiguration({})).toEqual({
    host: '127.0.0.1',
    port: 4020,
    tokens: [],
    rateLimitScale: 1,
    floodLimitPerSecond: 250,
    logLevel: 'info',
    databaseUrl: 'sqlite:./data/tollhouse.db',
    allowPrivateNetworks: ['127.0.0.0/8', '::1/128'],
    quotas: { projects: 20, keys: 50, webhooks: 20, projectBytes: 65_536, dailyChanges: 2_000, unpaidRequests: 10_000 },
    operators: [],
    owners: 'open',
    secretsKey: [],
  });
});

test('refunds are told by a key and bounds; bounds of nothing and amounts that are none are refused', () => {
  const keypair = JSON.stringify([...demoWallet(1).secretKey]);
  const env = { SOLANA_NETWORK: 'solana-devnet', FACILITATOR_KEYPAIR: JSON.stringify([...KEY]) };
  const refunding = { ...env, REFUND_KEYPAIR: keypair, REFUND_MAX: '$5, 5 PYUSD' };
  const { chain } = readConfiguration(refunding);
  expect(chain?.refunds).toEqual({ keypair, max: ['$5', '5 PYUSD'] });
  expect(JSON.stringify(chain)).not.toContain(keypair.slice(1, 20));
  expect(faultsOf({ ...env, REFUND_MAX: '$5' })).toContain('set REFUND_KEYPAIR as well');
  expect(faultsOf({ ...refunding, REFUND_MAX_PER_DAY: 'much' })).toMatch(/REFUND_MAX_PER_DAY must be a price/);
  expect(faultsOf({ ...refunding, REFUND_MAX: '$5, $6' })).toContain('it names one token twice');
  expect(faultsOf({ REFUND_KEYPAIR: keypair })).toContain('to leave the sandbox chain');
});

test('a key file with nothing in it is said to be empty', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'tollhouse-')), 'key.json');
  writeFileSync(path, '', { mode: 0o600 });
  const told = faultsOf({ SOLANA_NETWORK: 'solana-devnet', FACILITATOR_KEYPAIR: path });
  expect(told).toContain(`FACILITATOR_KEYPAIR must be a Solana key of 64 bytes, and the file "${path}" is empty`);
});

test.each(['FACILITATOR_KEYPAIR', 'SPLIT_KEYPAIR', 'REFUND_KEYPAIR', 'SOLANA_DEVNET_FACILITATOR_KEYPAIR'])(
  'of %s it is told which file is not there, is none, or holds no key',
  (name) => {
    const missing = join(folder, 'nope.json');
    expect(faultsOf({ [name]: missing })).toContain(`${name} must be the path of a readable key file`);
    expect(faultsOf({ [name]: missing })).toContain(`, and there is no file "${missing}"`);
    expect(faultsOf({ [name]: 'keys/nope.json' })).toContain('there is no file "keys/nope.json"');
    expect(faultsOf({ [name]: '/run/secrets/nope' })).toContain('there is no file "/run/secrets/nope"');
    expect(faultsOf({ [name]: '/My keys/nope' })).toContain('there is no file "/My keys/nope"');
    expect(faultsOf({ [name]: folder })).toContain(`"${folder}" cannot be read`);
    const short = file('short.json', '[1,2,3]');
    expect(faultsOf({ [name]: short })).toContain(`and the file "${short}" holds none`);
  },
);

test.each([
  ['base58 with a letter too few', bs58.encode(KEY).slice(0, 60)],
  ['base64', Buffer.from(KEY).toString('base64')],
  ['base64 that begins like a path', `/${Buffer.from(KEY).toString('base64')}`],
  ['hexadecimal', Buffer.from(KEY).toString('hex')],
  ['a list without brackets', [...KEY].join(' ')],
  ['a passphrase', 'correct horse battery staple'],
])('of a key that is written as %s nothing is shown', (_form, secret) => {
  expect(faultsOf({ REFUND_KEYPAIR: secret })).not.toContain(secret.slice(0, 12));
});

test.each(['opne', 'Open', 'me, you'])('of owners, %j is told with both forms', (text) => {
  const forms = 'GATEWAY_OWNERS must be "open", or a list of wallets, base58, separated by commas';
  expect(faultsOf({ GATEWAY_OWNERS: text })).toContain(forms);
});

test('an empty variable is as good as none', () => {
  expect(readConfiguration({ PORT: '', JWT_SECRET: '', TIERS_FILE: '', LOG_LEVEL: '' })).toEqual(readConfiguration({}));
});

test('everything set', () => {
  const keypair = JSON.stringify([...KEY]);
  const tiers = { mint: 'CLUB', levels: [{ id: 'member', minBalance: '0.5', features: ['lounge'] }] };
  const configuration = readConfiguration({
    HOST: '::1',
    PORT: '0',
    BASE_URL: 'https://pay.example',
    TRUST_PROXY: '2',
    SOLANA_NETWORK: 'solana',
    SOLANA_RPC_URL: 'https://one.example, https://two.example',
    SOLANA_WS_URL: 'wss://one.example',
    FACILITATOR_KEYPAIR: file('key.json', keypair),
    PAY_TO: demoWallet(1).publicKey.toBase58(),
    JWT_SECRET: SECRET,
    SECRETS_KEY: `${'b'.repeat(32)}, ${'c'.repeat(32)}`,
    TIERS_FILE: file('tiers.json', tiers),
    TOKENS_FILE: file('tokens.json', [CLUB]),
    RATE_LIMIT_SCALE: '2.5',
    LOG_LEVEL: 'warn',
    MAX_FEE_LAMPORTS_PER_HOUR: '250000000',
    FLOOD_LIMIT_PER_SECOND: '1000',
    MAX_PAYMENTS_IN_FLIGHT: '250',
    MAX_ADDRESS_SHARE: '0.25',
    DATABASE_URL: 'postgres://user:password@db.example/tollhouse',
    REDIS_URL: 'redis://cache.example',
    ALLOW_PRIVATE_NETWORKS: '10.0.0.0/8, fd00::/8',
    CROSS_ORIGINS: 'https://shop.example, http://localhost:5173',
    QUOTA_PROJECTS: '5',
    OPERATORS: `${demoWallet(1).publicKey}, ${demoWallet(2).publicKey}`,
    QUOTA_KEYS: '6',
    QUOTA_WEBHOOKS: '0',
    QUOTA_PROJECT_BYTES: '2048',
    QUOTA_DAILY_CHANGES: '100',
    QUOTA_UNPAID_REQUESTS: '200',
    PAGE_NAME: 'The Magazine',
    PAGE_LOGO: '/logo.svg',
    PAGE_COLOURS: 'accent=#0a6b4f, on-accent = #FFFFFF',
    PAGE_COLOURS_DARK: 'accent=#7fe0bd',
  });
  expect(configuration).toEqual({
    host: '::1',
    port: 0,
    baseUrl: 'https://pay.example',
    trustProxy: 2,
    chain: {
      network: 'solana',
      rpcUrl: ['https://one.example', 'https://two.example'],
      wsUrl: 'wss://one.example',
      keypair: [keypair],
    },
    payTo: demoWallet(1).publicKey.toBase58(),
    jwtSecret: [SECRET],
    tiers,
    page: {
      name: 'The Magazine',
      logo: '/logo.svg',
      colours: { light: { accent: '#0a6b4f', 'on-accent': '#FFFFFF' }, dark: { accent: '#7fe0bd' } },
    },
    tokens: [CLUB],
    rateLimitScale: 2.5,
    logLevel: 'warn',
    maxFeeLamportsPerHour: 250_000_000n,
    maxPaymentsInFlight: 250,
    maxAddressShare: 0.25,
    floodLimitPerSecond: 1000,
    databaseUrl: 'postgres://user:password@db.example/tollhouse',
    redisUrl: 'redis://cache.example',
    allowPrivateNetworks: ['10.0.0.0/8', 'fd00::/8'],
    crossOrigins: ['https://shop.example', 'http://localhost:5173'],
    quotas: { projects: 5, keys: 6, webhooks: 0, projectBytes: 2_048, dailyChanges: 100, unpaidRequests: 200 },
    operators: [1, 2].map((n) => demoWallet(n).publicKey.toBase58()),
    owners: [1, 2].map((n) => demoWallet(n).publicKey.toBase58()),
    secretsKey: ['b'.repeat(32), 'c'.repeat(32)],
  });
});

test.each(['colour=#ffffff', 'accent', 'accent=#fff', 'accent=#ffffff,accent=#000000', '__proto__=#ffffff', '='])(
  '%j gives no colours of pages',
  (text) => {
    expect(faultsOf({ PAGE_COLOURS: text })).toContain('PAGE_COLOURS must be a list such as');
  },
);

test.each(['https://shop.example/', 'shop.example', '*, https://shop.example', 'https://a.example,,'])(
  'of origins, %j is no list',
  (text) => {
    expect(faultsOf({ CROSS_ORIGINS: text })).toContain(
      'CROSS_ORIGINS must be "*", or a list of at most 1,000 origins',
    );
  },
);

test('every fault is told at once, by the name of its variable', () => {
  const told = faultsOf({
    PORT: '70000',
    BASE_URL: 'ftp://x',
    TRUST_PROXY: 'yes',
    SOLANA_RPC_URL: 'nowhere',
    FACILITATOR_KEYPAIR: join(folder, 'missing.json'),
    PAY_TO: 'me',
    JWT_SECRET: 'short',
    TIERS_FILE: join(folder, 'missing.json'),
    TOKENS_FILE: file('broken.json', '[{'),
    RATE_LIMIT_SCALE: '0',
    ALLOW_PRIVATE_NETWORKS: '10.0.0.0/8,localhost',
    CROSS_ORIGINS: 'https://shop.example, null',
    LOG_LEVEL: 'loud',
    MAX_FEE_LAMPORTS_PER_HOUR: '0.5',
    FLOOD_LIMIT_PER_SECOND: '-1',
    MAX_PAYMENTS_IN_FLIGHT: '0',
    MAX_ADDRESS_SHARE: '0',
    QUOTA_KEYS: '1.5',
    OPERATORS: 'me',
    GATEWAY_OWNERS: 'everybody',
    QUOTA_PROJECT_BYTES: '100',
    QUOTA_DAILY_CHANGES: '-1',
    QUOTA_UNPAID_REQUESTS: '1.5',
    PAGE_NAME: 'n'.repeat(101),
    PAGE_LOGO: 'https://elsewhere.example/logo.svg',
    PAGE_COLOURS: 'accent=green',
    PAGE_COLOURS_DARK: 'accent=#7fe0bd,',
  });
  const names = ['PORT', 'BASE_URL', 'TRUST_PROXY', 'SOLANA_RPC_URL', 'FACILITATOR_KEYPAIR', 'PAY_TO', 'JWT_SECRET'];
  for (const name of [
    ...names,
    'TIERS_FILE',
    'TOKENS_FILE',
    'RATE_LIMIT_SCALE',
    'ALLOW_PRIVATE_NETWORKS',
    'CROSS_ORIGINS',
    'LOG_LEVEL',
    'MAX_FEE_LAMPORTS_PER_HOUR',
    'FLOOD_LIMIT_PER_SECOND',
    'MAX_PAYMENTS_IN_FLIGHT',
    'MAX_ADDRESS_SHARE',
    'QUOTA_KEYS',
    'OPERATORS',
    'GATEWAY_OWNERS',
    'QUOTA_PROJECT_BYTES',
    'QUOTA_DAILY_CHANGES',
    'QUOTA_UNPAID_REQUESTS',
    'PAGE_NAME',
    'PAGE_LOGO',
    'PAGE_COLOURS',
    'PAGE_COLOURS_DARK',
  ]) {
    expect(told).toContain(`${name} must be `);
  }
  expect(told).toContain('SOLANA_NETWORK must be set as well');
});

test.each([
  ['a short secret', { JWT_SECRET: 'hunter2hunter2hunter2hunter2' }, 'hunter2'],
  ['a broken key', { SOLANA_NETWORK: 'solana', FACILITATOR_KEYPAIR: '[7,7,7,77]' }, '77'],
  [
    'a key whose halves differ',
    { SOLANA_NETWORK: 'solana', FACILITATOR_KEYPAIR: bs58.encode(KEY.toReversed()) },
    bs58.encode(KEY.toReversed()),
  ],
])('the message never shows %s', (_what, env, secret) => {
  expect(faultsOf(env)).not.toContain(secret);
});

test('away from the sandbox no private network is let in by itself', () => {
  const env = { SOLANA_NETWORK: 'solana-devnet', FACILITATOR_KEYPAIR: JSON.stringify([...KEY]) };
  expect(readConfiguration(env).allowPrivateNetworks).toEqual([]);
});

test('a secret is measured in bytes', () => {
  expect(readConfiguration({ JWT_SECRET: 'ä'.repeat(16) }).jwtSecret).toEqual(['ä'.repeat(16)]);
  expect(faultsOf({ JWT_SECRET: 'a'.repeat(31) })).toContain('at least 32 bytes');
  expect(faultsOf({ JWT_SECRET: `${'a'.repeat(32)},b` })).toContain('separated by commas');
});

test.each([
  ['1', 1],
  ['0', 0],
  ['10.0.0.0/8', '10.0.0.0/8'],
  ['loopback, 10.1.2.3', 'loopback, 10.1.2.3'],
  ['2001:db8::/32,uniquelocal', '2001:db8::/32,uniquelocal'],
])('TRUST_PROXY %s', (text, value) => {
  expect(readConfiguration({ TRUST_PROXY: text }).trustProxy).toBe(value);
});

test.each(['true', '-1', '10.0.0.0/33', '10.0.0.0/8/8', 'loopback/8', '10.0.0', '::1/129', ','])(
  'TRUST_PROXY %s is refused',
  (text) => {
    expect(faultsOf({ TRUST_PROXY: text })).toContain('TRUST_PROXY must be the number of proxies');
  },
);

test.each([
  [
    'tiers that do not rise',
    {
      levels: [
        { id: 'a', minBalance: 2 },
        { id: 'b', minBalance: 1 },
      ],
    },
    /must rise/,
  ],
  ['a name that is meant otherwise', { levels: [{ id: 'a', min_balance: 2 }] }, /did you mean "minBalance"/],
  ['a token that is not known', { mint: 'CLUB', levels: [{ id: 'a', minBalance: 1 }] }, /CLUB/],
])('a tiers file with %s is refused', (_what, content, message) => {
  expect(faultsOf({ TIERS_FILE: file('wrong-tiers.json', content) })).toMatch(message);
});

test.each([
  ['no list', { CLUB }, /a list of \{symbol, mint, decimals, program\}/],
  ['a mint that is no address', [{ ...CLUB, mint: 'x' }], /0\.mint: a Solana address/],
  ['an unknown field', [{ ...CLUB, name: 'Club' }], /0: .*"name"/],
])('a tokens file with %s is refused', (_what, content, message) => {
  expect(faultsOf({ TOKENS_FILE: file('wrong-tokens.json', content) })).toMatch(message);
});

test("the operator's tokens come before known ones of their symbol or mint", () => {
  const known = KNOWN_TOKENS['solana-devnet'];
  const usdc = { ...CLUB, symbol: 'USDC' };
  const others = known.filter(({ symbol, mint }) => symbol !== usdc.symbol && mint !== usdc.mint);
  expect(others).toHaveLength(known.length - 2);
  expect(tokensBySymbol([usdc], known)).toEqual([usdc, ...others]);
  expect(tokensBySymbol([], known)).toEqual(known);
});

test.each([
  ['mainnet-beta', 'did you mean "solana"?'],
  ['devnet', 'did you mean "solana-devnet"?'],
])('the network %p is told with the one that was meant', (SOLANA_NETWORK, meant) => {
  expect(faultsOf({ SOLANA_NETWORK, FACILITATOR_KEYPAIR: JSON.stringify([...KEY]) })).toContain(meant);
});

test('an address in the place of the key is told as one', () => {
  const FACILITATOR_KEYPAIR = demoWallet(0).publicKey.toBase58();
  expect(faultsOf({ SOLANA_NETWORK: 'solana', FACILITATOR_KEYPAIR })).toMatch(
    /FACILITATOR_KEYPAIR must be a secret key, and this is an address/,
  );
});

describe('misspelt variables', () => {
  const misspelt = (env: Record<string, string>) => misspeltVariables(env, VARIABLES);

  test.each([
    ['DATABSE_URL', 'DATABASE_URL'],
    ['FACILITATOR_KEYPAR', 'FACILITATOR_KEYPAIR'],
    ['SOLANA_NETWORKS', 'SOLANA_NETWORK'],
    ['PAYTO', 'PAY_TO'],
    ['jwt_secret', 'JWT_SECRET'],
  ])('%s is probably %s', (name, meant) => {
    expect(misspelt({ [name]: 'x' })).toEqual([{ name, meant }]);
  });

  test('what is set rightly, and what belongs to others, is left alone', () => {
    expect(misspelt({ DATABASE_URL: 'memory:', DATABASE_URI: 'x' })).toEqual([]);
    const others = ['PATH', 'HOME', 'HOSTNAME', 'POST', 'PORTS', 'NODE_ENV', 'AWS_SECRET', 'LOG_FILE', 'BASE_IMAGE'];
    expect(misspelt(Object.fromEntries(others.map((name) => [name, 'x'])))).toEqual([]);
  });
});

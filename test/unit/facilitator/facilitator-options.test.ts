import { Keypair } from '@solana/web3.js';
import { createFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { type FacilitatorOptions, facilitatorOptions } from '../../../src/facilitator/facilitator-options.js';
import { remoteFacilitator } from '../../../src/facilitator/remote/remote-facilitator.js';
import {
  type RemoteFacilitatorOptions,
  remoteFacilitatorOptions,
} from '../../../src/facilitator/remote/remote-options.js';
import { KNOWN_TOKENS, SANDBOX_TOKENS } from '../../../src/protocol/networks/tokens.js';
import { rejectionOf } from '../../helpers/nodes/fake-node.js';

const network = 'solana-devnet';
const keypair = Keypair.generate();
const url = 'https://x402.example.com/api';

describe('createFacilitator', () => {
  test.each<[object, string]>([
    [{ rpcUrl: [] }, 'option "rpcUrl" must be an address'],
    [
      { idempotency: {} },
      'option "idempotency" must be a store of kept responses: "idempotency" of what openStorage answers',
    ],
    [
      { idempotency: { begin: true } },
      'option "idempotency" must be a store of kept responses: "idempotency" of what openStorage answers',
    ],
    [{ ledger: {} }, 'option "ledger" must be a ledger: "ledger" of what openStorage answers'],
    [{ counters: {} }, 'option "counters" must be counters: "counters" of what openStorage answers'],
    [{ counters: 5 }, 'option "counters" must be counters: "counters" of what openStorage answers'],
    [{ keypair: null }, 'option "keypair" must be the key that pays network fees'],
    [{ keypair: undefined }, 'option "keypair" is missing: it must be the key that pays network fees'],
    [{ splitKeypair: null }, 'option "splitKeypair" must be the key of the split wallet'],
    [{ now: 5 }, 'option "now" must be a function that answers the time'],
    [
      { maxFeeLamportsPerHour: 9_999 },
      'option "maxFeeLamportsPerHour" must be at least 10,000 lamports, which one payment costs',
    ],
    [
      { maxFeeLamportsPerHour: 2n ** 53n },
      'option "maxFeeLamportsPerHour" must be at most 9,007,199,254,740,991 lamports',
    ],
    [{ maxFeeLamports: 4_999n }, 'option "maxFeeLamports" must be at least 5,000 lamports, the base fee'],
    ...[0, -1, 1.5, Number.NaN, '500', 5n].map((maxPaymentsInFlight): [object, string] => [
      { maxPaymentsInFlight },
      'option "maxPaymentsInFlight" must be a whole number of payments, at least 1, or Infinity for no bound',
    ]),
    ...[0, -0.5, 1.5, '0.5'].map((maxAddressShare): [object, string] => [
      { maxAddressShare },
      'option "maxAddressShare" must be a share of the places: more than 0, at most 1',
    ]),
    [{ leaseMs: 0 }, 'option "leaseMs" must be at least 1 millisecond'],
    [{ leaseMs: 2_147_483_648 }, 'option "leaseMs" must be at most 2,147,483,647 milliseconds'],
  ])('%j is refused and says what is meant', (options, message) => {
    const make = () => createFacilitator({ network, keypair, ...options } as FacilitatorOptions);
    expect(make).toThrow(expect.objectContaining({ code: 'bad_option', message: `createFacilitator: ${message}` }));
  });

  test('each bound itself passes, and what is not given has its default', () => {
    const idempotency = { begin: () => {} };
    const counters = { increment: () => {} };
    const bounds = {
      maxFeeLamportsPerHour: 10_000,
      maxFeeLamports: 5_000n,
      leaseMs: 2_147_483_647,
      settleTimeoutMs: 1,
    };
    expect(facilitatorOptions.parse({ network, keypair, ...bounds, idempotency, counters, splitKeypair: 'k' })).toEqual(
      {
        network,
        keypair,
        ...bounds,
        maxFeeLamportsPerHour: 10_000n,
        idempotency,
        counters,
        splitKeypair: 'k',
        allowMints: [],
        blockhashHints: true,
        rpcTimeoutMs: 10_000,
        maxPaymentsInFlight: 500,
        maxAddressShare: 0.5,
        check: true,
        onFault: expect.any(Function),
        now: Date.now,
      },
    );
    const most = { maxFeeLamportsPerHour: BigInt(Number.MAX_SAFE_INTEGER) };
    expect(facilitatorOptions.parse({ network, keypair, ...most })).toMatchObject(most);
  });
});

describe('remoteFacilitator', () => {
  const headersMeant = 'option "headers" must be an object of header texts, or a function that answers one';
  const urlMeant = 'the http(s) address of a facilitator, without user, query or fragment';

  test.each<[object, string]>([
    [{ headers: null }, headersMeant],
    [{ headers: 5 }, headersMeant],
    [{ headers: 'authorization' }, headersMeant],
    [{ headers: { a: 'x', b: 1 } }, headersMeant],
    [{ url: 'xhttps://x402.example.com' }, urlMeant],
    [{ url: 'ftp://x402.example.com' }, urlMeant],
    [{ url: 'x402.example.com' }, urlMeant],
    [{ url: 'https://user@x402.example.com' }, urlMeant],
    [{ url: 'https://:secret@x402.example.com' }, urlMeant],
    [{ url: 'https://x402.example.com?key=1' }, urlMeant],
    [{ url: 'https://x402.example.com#here' }, urlMeant],
    [{ url: [] }, urlMeant],
    [{ url: [url, 'nowhere'] }, urlMeant],
  ])('%j is refused and says what is meant', (options, message) => {
    const make = () => remoteFacilitator({ network, url, ...options } as RemoteFacilitatorOptions);
    expect(make).toThrow(expect.objectContaining({ code: 'bad_option', message: expect.stringContaining(message) }));
  });

  test.each([
    [{}],
    [{ headers: {} }],
    [{ headers: { a: 'x', b: 'y' } }],
    [{ headers: async () => ({}) }],
    [{ url: [url, 'http://localhost:4020'] }],
  ])('%j passes, and what is not given has its default', (options) => {
    expect(remoteFacilitatorOptions.parse({ network, url, ...options })).toEqual({
      network,
      url,
      timeoutMs: 10_000,
      check: true,
      settleTimeoutMs: 65_000,
      maxPaymentsInFlight: 500,
      maxAddressShare: 0.5,
      now: Date.now,
      ...options,
    });
  });

  test('its tokens are the known ones of the network, unless others are named', async () => {
    const [known, named] = [
      remoteFacilitator({ network, url }),
      remoteFacilitator({ network, url, tokens: SANDBOX_TOKENS }),
    ];
    expect([known.tokens, named.tokens]).toEqual([KNOWN_TOKENS[network], SANDBOX_TOKENS]);
    await Promise.all([known.close(), named.close()]);
  });

  test('it says who can read the chain', async () => {
    const facilitator = remoteFacilitator({ network, url });
    const wanted = { wallet: keypair.publicKey.toBase58(), mints: [] };
    for (const call of [facilitator.readHolding(wanted), facilitator.readMint('')]) {
      expect(await rejectionOf(call)).toMatchObject({
        code: 'not_configured',
        message:
          'remoteFacilitator does not read the chain; give gates by token balance or tier a facilitator made by createFacilitator.',
      });
    }
    await facilitator.close();
  });
});

import { createRemote, type Remote } from '../../../../src/facilitator/remote/remote.js';
import { RemoteFault } from '../../../../src/facilitator/remote/remote-client.js';
import {
  DEVNET,
  kindOf,
  newAddress,
  openRemotePeer,
  type RemotePeer,
  supportedBy,
} from '../../../helpers/fixtures/remote-peer.js';

const LONG = 7_000;

let peer: RemotePeer;
let remote: Remote;
let told: unknown[] = [];

beforeEach(async () => {
  peer = await openRemotePeer();
  remote = createRemote({ url: peer.url, headers: {}, network: DEVNET, timeoutMs: LONG });
  told = [];
  jest.spyOn(process, 'emitWarning').mockImplementation((...args) => void told.push(args));
});
afterEach(async () => {
  jest.restoreAllMocks();
  await remote.client.close();
  await peer.close();
});

test('nothing is known of it, and nothing asked, before it is needed', () => {
  expect([remote.offer(), remote.well(), peer.calls.length]).toEqual([undefined, false, 0]);
});

test('its offer is what it settles on our network, without hints, and every key that may sign', async () => {
  const [other, also] = [newAddress(), newAddress()];
  const hint = { recentBlockhash: newAddress(), lastValidBlockHeight: '7' };
  const body = {
    ...supportedBy(peer.feePayer, [also]),
    kinds: [
      kindOf(newAddress(), { scheme: 'upto' }),
      kindOf(newAddress(), { network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' }),
      kindOf(peer.feePayer, { extra: { feePayer: peer.feePayer, ...hint } }),
      kindOf(other),
    ],
  };
  peer.replies = { '/supported': { body } };
  await remote.renew(0);
  const signers = [peer.feePayer, other, also];
  const kinds = [peer.feePayer, other].map((feePayer) => ({ scheme: 'exact', network: DEVNET, feePayer }));
  expect(remote.offer()).toStrictEqual({
    supported: { kinds, extensions: ['bazaar'], signers },
    signers: new Set(signers),
  });
  expect(remote.well()).toBe(true);
});

test.each([
  ['another scheme', { scheme: 'upto' }],
  ['another network', { network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' }],
])('one that settles only %s is of no use, and says so', async (_name, change) => {
  peer.replies = { '/supported': { body: { ...supportedBy(peer.feePayer), kinds: [kindOf(peer.feePayer, change)] } } };
  await remote.renew(0);
  expect([remote.offer(), remote.well()]).toEqual([undefined, false]);
  const message = `/supported at ${peer.host}: it does not settle "exact" on solana-devnet`;
  expect(told).toEqual([[`a facilitator cannot be used: ${message}`, { code: 'TOLLHOUSE_REMOTE_FACILITATOR' }]]);
});

test('its last word stays known while it is away; each outage is warned of once', async () => {
  await remote.renew(0);
  const offer = remote.offer();
  peer.replies = {};
  await remote.renew(0);
  await remote.renew(0);
  expect([remote.well(), remote.offer()]).toEqual([false, offer]);
  const warning = [
    `a facilitator cannot be used: /supported at ${peer.host}: answered HTTP 500`,
    { code: 'TOLLHOUSE_REMOTE_FACILITATOR' },
  ];
  expect(told).toEqual([warning]);

  peer.replies = { '/supported': { body: supportedBy(peer.feePayer) } };
  await remote.renew(0);
  expect(remote.well()).toBe(true);
  peer.replies = {};
  await remote.renew(0);
  expect(told).toEqual([warning, warning]);
});

test('a fault at another call counts as well', async () => {
  await remote.renew(0);
  remote.failed(new RemoteFault('/verify broke off', true));
  remote.failed(new RemoteFault('/verify broke off again', true));
  expect(remote.well()).toBe(false);
  expect(told).toEqual([['a facilitator cannot be used: /verify broke off', expect.anything()]]);
});

test('an answer that is young enough is not asked for again, and one call at a time is made', async () => {
  const first = remote.renew(0);
  expect(remote.renew(60_000)).toBe(first);
  await first;
  expect(peer.calls).toHaveLength(1);

  await remote.renew(60_000);
  expect(peer.calls).toHaveLength(1);

  const second = remote.renew(0);
  expect(remote.renew(60_000)).toBe(second);
  await second;
  expect(peer.calls).toHaveLength(2);
});

import { remoteHealth } from '../../../../src/facilitator/remote/remote-backend.js';
import { DEVNET, newAddress } from '../../../helpers/fixtures/remote-peer.js';
import {
  AWAY,
  aPeer,
  backendOf,
  inspected,
  outage,
  remotesOf,
  stepOf,
  useRemotes,
} from '../../../helpers/fixtures/remotes.js';
import { rejectionOf } from '../../../helpers/nodes/fake-node.js';

useRemotes();

describe('what is offered', () => {
  test('is of the first that is well, and every signer that is known', async () => {
    const [away, well, unknown] = [await aPeer(), await aPeer(), await aPeer()];
    unknown.replies = { '/supported': 'silence' };
    const backend = backendOf(await remotesOf([away, 'away'], [well, 'well'], [unknown, 'unknown']));
    expect(await backend.supported()).toEqual({
      kinds: [{ scheme: 'exact', network: DEVNET, feePayer: well.feePayer }],
      extensions: ['bazaar'],
      signers: [away.feePayer, well.feePayer],
    });
  });

  test('is the last word of one that is away, without a wait for any', async () => {
    const [unknown, away] = [await aPeer(), await aPeer()];
    const remotes = await remotesOf([unknown, 'unknown'], [away, 'away']);
    for (const peer of [unknown, away]) peer.replies = { '/supported': 'silence' };
    const { kinds } = await backendOf(remotes).supported();
    expect(kinds).toEqual([{ scheme: 'exact', network: DEVNET, feePayer: away.feePayer }]);
  });

  test('is nothing, and an outage, where none was ever reached', async () => {
    const peer = await aPeer();
    peer.replies = {};
    const message = 'The facilitator cannot be reached at the moment; send the same payment again later.';
    const error = await rejectionOf(backendOf(await remotesOf([peer, 'unknown'])).supported());
    expect(error).toEqual(outage(message));
    expect(error).toMatchObject({ context: { retryAfterSeconds: 2 } });
  });
});

describe('health', () => {
  test.each([
    ['active', ['well', 'well'], 0, []],
    ['degraded', ['well', 'away'], 0, ['facilitator_unreachable']],
    ['degraded', ['away', 'well'], 1, ['facilitator_unreachable']],
    ['down', ['away', 'away'], 0, ['facilitator_unreachable']],
  ] as const)(
    'is %s where they are %j, and names the wallet that is offered',
    async (status, states, offered, faults) => {
      const peers = [await aPeer(), await aPeer()] as const;
      const remotes = await remotesOf([peers[0], states[0]], [peers[1], states[1]]);
      expect(await remoteHealth(remotes)).toEqual({ status, wallet: peers[offered].feePayer, faults });
    },
  );

  test('of one that was never reached is down, without a wallet', async () => {
    const peer = await aPeer();
    peer.replies = {};
    expect(await remoteHealth(await remotesOf([peer, 'unknown']))).toEqual({
      status: 'down',
      wallet: '',
      faults: ['facilitator_unreachable'],
    });
  });
});

describe('who is asked', () => {
  const isValid = { body: { isValid: true } };

  test('is who signs for the terms: one that was never reached is passed over', async () => {
    const [unknown, well] = [await aPeer(), await aPeer()];
    unknown.replies = { '/supported': 'silence' };
    well.replies = { ...well.replies, '/verify': isValid };
    const backend = backendOf(await remotesOf([unknown, 'unknown'], [well, 'well']));
    const payment = await inspected(backend, well);
    expect(await backend.verify(payment)).toEqual({ ok: true, payer: payment.payer });
    expect(unknown.count('/verify')).toBe(0);
  });

  test('is first who is well, and each once', async () => {
    const key = newAddress();
    const [away, broken, well] = [await aPeer(key), await aPeer(key), await aPeer(key)];
    well.replies = { ...well.replies, '/verify': isValid };
    const backend = backendOf(await remotesOf([away, 'away'], [well, 'well']));
    expect(await backend.verify(await inspected(backend, well))).toMatchObject({ ok: true });
    expect([away.count('/verify'), well.count('/verify')]).toEqual([0, 1]);

    const lost = backendOf(await remotesOf([away, 'away'], [broken, 'well']));
    const error = await rejectionOf(lost.verify(await inspected(lost, well)));
    expect(error).toEqual(outage(AWAY));
    const last = `/verify at ${away.host}: answered HTTP 500`;
    expect(error).toMatchObject({ context: { retryAfterSeconds: 2, cause: { message: last } } });
    expect([away.count('/verify'), broken.count('/verify')]).toEqual([1, 1]);
  });

  test('is nobody where nobody signs for the terms: an outage, and the note is taken back', async () => {
    const peer = await aPeer();
    const backend = backendOf(await remotesOf([peer, 'well']));
    const payment = await inspected(backend, peer);
    peer.replies = { ...peer.replies, '/verify': isValid };
    await backend.verify(payment);
    const elsewhere = { ...payment, terms: { ...payment.terms, feePayer: newAddress() } };
    const step = stepOf();
    const error = await rejectionOf(backend.settle(elsewhere, step));
    expect(error).toEqual(outage(AWAY));
    expect(error).toMatchObject({ context: { cause: { message: 'no facilitator signs for these terms' } } });
    expect(step.noted).toEqual([{}, 'withdrawn']);
    expect(peer.count('/settle')).toBe(0);
  });
});

import { createLeases } from '../../../../src/facilitator/payments/leases.js';
import { createClaim } from '../../../../src/facilitator/payments/payment-claim.js';
import type { Receipt, Settlement } from '../../../../src/protocol/types.js';
import type { Ledger } from '../../../../src/storage/ledger/ledger.js';
import { createMemoryLedger } from '../../../../src/storage/ledger/memory-ledger.js';
import { LEASE_MS, newClaim, rivalOf } from '../../../contracts/ledger-samples.js';
import { ledgerWith } from '../../../helpers/storage/ledgers.js';
import { until } from '../../../helpers/until.js';

const LANDED = { slot: 7, signature: '5'.repeat(88) };
const FAILED: Settlement = { status: 'failed', reason: 'insufficient_funds', message: 'Too little.' };
const BEATING_MS = 25;

interface Held {
  /** An earlier request has taken its money. */
  readonly landed?: boolean;
  readonly own?: Partial<Ledger>;
  /** Nobody is told of its end. */
  readonly untold?: boolean;
}

/** A payment that is held, and the claim of its holder. */
async function held({ landed = false, own = {}, untold = false }: Held = {}) {
  const memory = createMemoryLedger();
  const ledger = ledgerWith(memory, own);
  const leases = createLeases(memory, BEATING_MS);
  const request = newClaim();
  const { id, lease, payer, terms } = request;
  await memory.claim(request);
  const land = (state: 'confirmed' | 'served') => memory.recordOutcome(id, lease, { state, ...LANDED });
  if (landed) await land('confirmed');
  leases.hold(id, lease, LEASE_MS);
  const { network, payTo, asset, amount } = terms;
  const receipt: Receipt = { ...LANDED, network, payer, payTo, asset, amount };
  const chain: { settlement: Settlement | Error } = { settlement: { status: 'settled', receipt } };
  const asked: boolean[] = [];
  let drops = 0;
  const drop = (): void => {
    drops += 1;
  };
  const claim = createClaim({
    ledger,
    leases,
    record: (await memory.find(id))!,
    lease,
    resumed: landed,
    receipt: landed ? receipt : undefined,
    async settle({ served }) {
      asked.push(served);
      if (chain.settlement instanceof Error) throw chain.settlement;
      if (chain.settlement.status === 'settled') await land(served ? 'served' : 'confirmed');
      return chain.settlement;
    },
    ...(untold ? {} : { drop }),
  });
  const state = async () => (await memory.find(id))?.state;
  const rival = async () => (await memory.claim(rivalOf(request))).status;
  const settled = { status: 'settled', receipt } as const;
  return {
    claim,
    chain,
    asked,
    state,
    rival,
    settled,
    receipt,
    request,
    isHeld: () => leases.holds(id),
    drops: () => drops,
    leases,
  };
}

test('a claim tells whose payment it is and on what terms', async () => {
  const { claim, request } = await held();
  const { id, lease, payer, terms } = request;
  expect(claim).toMatchObject({ id, lease, payer, terms, resumed: false, receipt: undefined });
  expect((await held({ landed: true })).claim.resumed).toBe(true);
});

test('a claim is held by the one who works for it until it ends', async () => {
  const { claim, rival } = await held();
  expect(await claim.isHeld()).toBe(true);
  await claim.forget();
  expect(await claim.isHeld()).toBe(false);
  expect(await rival()).toBe('won');
});

test('a claim of whose end nobody wants to know ends all the same', async () => {
  const { claim, state, isHeld } = await held({ landed: true, untold: true });
  await claim.keep();
  expect([await state(), isHeld()]).toEqual(['confirmed', false]);
});

describe('before the money', () => {
  test('to forget is as if the payment had never been brought, and nobody holds it', async () => {
    const { claim, state, isHeld, drops } = await held();
    await claim.forget();
    expect([await state(), isHeld(), drops()]).toEqual([undefined, false, 1]);
  });

  test('to use a payment up, or to run its handler again, changes nothing', async () => {
    const { claim, state } = await held();
    for (let times = 0; times < 3; times += 1) expect(await claim.runAgain()).toBe(false);
    await claim.served();
    expect(await state()).toBe('claimed');
  });
});

describe('after the money', () => {
  test('to keep it leaves the payment to the one who may come again', async () => {
    const { claim, state, isHeld, rival } = await held();
    await claim.settle();
    await claim.keep();
    expect([await state(), isHeld(), await rival()]).toEqual(['confirmed', false, 'won']);
  });

  test('to forget it is impossible: the money stays paid', async () => {
    const { claim, state } = await held({ landed: true });
    await claim.forget();
    expect(await state()).toBe('confirmed');
  });

  test('served uses it up, once and for all', async () => {
    const { claim, state, isHeld, rival } = await held();
    await claim.settle();
    await claim.served();
    expect([await state(), isHeld(), await rival()]).toEqual(['served', false, 'closed']);
    await claim.keep();
    expect(await state()).toBe('served');
  });

  test('served can be written down with books of one’s own', async () => {
    const { claim, state, isHeld } = await held({ landed: true });
    let written = 0;
    await claim.served(async () => {
      written += 1;
    });
    expect([written, await state(), isHeld()]).toEqual([1, 'confirmed', false]);
  });

  test('written down with books of one’s own it is not written down once more by a later settlement', async () => {
    const { claim, state, settled } = await held({ landed: true });
    await claim.served(async () => undefined);
    expect(await claim.settle({ served: true })).toEqual(settled);
    expect(await state()).toBe('confirmed');
  });

  test('the handler may run again twice', async () => {
    const { claim } = await held({ landed: true });
    expect([await claim.runAgain(), await claim.runAgain(), await claim.runAgain()]).toEqual([true, true, false]);
  });
});

describe('while the ledger is away', () => {
  test.each(['served', 'settle with served'] as const)(
    '%s does not reject: the payment stays held, and is used up later',
    async (verb) => {
      let tries = 0;
      const { claim, state, isHeld, rival, settled, leases } = await held({
        landed: true,
        own: {
          async served() {
            tries += 1;
            throw new Error('the ledger is away');
          },
        },
      });
      if (verb === 'served') expect(await claim.served()).toBeUndefined();
      else expect(await claim.settle({ served: true })).toEqual(settled);
      expect([tries, await state(), isHeld(), await rival()]).toEqual([1, 'confirmed', true, 'busy']);
      await until(() => tries > 1);
      expect(await rival()).toBe('busy');
      leases.close();
    },
  );

  test('to forget and to keep reject, and the lease is not renewed any more', async () => {
    const away = () => Promise.reject(new Error('the ledger is away'));
    for (const verb of ['forget', 'keep'] as const) {
      const { claim, isHeld } = await held({ own: { forget: away, keep: away } });
      await expect(claim[verb]()).rejects.toThrow('the ledger is away');
      expect(isHeld()).toBe(false);
    }
  });
});

describe('taking the money', () => {
  test('happens once, however often it is asked for, and gives the receipt', async () => {
    const { claim, asked, settled, isHeld, state, receipt } = await held();
    expect(await Promise.all([claim.settle(), claim.settle()])).toEqual([settled, settled]);
    expect(await claim.settle()).toEqual(settled);
    expect([asked, claim.receipt, isHeld(), await state()]).toEqual([[false], receipt, true, 'confirmed']);
  });

  test('where the response is kept already uses the payment up in the same step', async () => {
    const { claim, asked, settled, isHeld, state } = await held();
    expect(await claim.settle({ served: true })).toEqual(settled);
    expect([asked, isHeld(), await state()]).toEqual([[true], false, 'served']);
  });

  test('where the response is kept already uses up a payment that had landed before', async () => {
    const { claim, asked, settled, isHeld, state, rival } = await held({ landed: true });
    for (let times = 0; times < 2; times += 1) expect(await claim.settle({ served: true })).toEqual(settled);
    expect([asked, isHeld(), await state(), await rival()]).toEqual([[], false, 'served', 'closed']);
  });

  test('whose response is kept only when the money is there already, or on its way, uses it up all the same', async () => {
    for (const first of ['landed', 'under way'] as const) {
      const { claim, asked, settled, isHeld, state } = await held();
      const settling = claim.settle();
      if (first === 'landed') await settling;
      expect(await claim.settle({ served: true })).toEqual(settled);
      expect([asked, isHeld(), await state()]).toEqual([[false], false, 'served']);
    }
  });

  test('that had landed before asks nobody, and is owed a response', async () => {
    const { claim, asked, settled, isHeld, state } = await held({ landed: true });
    expect(await claim.settle()).toEqual(settled);
    expect([asked, isHeld(), await state()]).toEqual([[], true, 'confirmed']);
  });

  test.each<[string, Settlement | Error]>([
    ['fails', FAILED],
    ['is pending', { status: 'pending', payer: 'payer' }],
    ['breaks down', new Error('a bug')],
  ])('that %s ends the claim, with the same answer to whoever asks again', async (_, settlement) => {
    const { claim, chain, asked, isHeld, drops } = await held();
    chain.settlement = settlement;
    for (let times = 0; times < 2; times += 1) {
      const answer = await claim.settle({ served: true }).catch((error: unknown) => error);
      expect(answer).toBe(settlement);
    }
    expect([asked, isHeld(), claim.receipt, drops()]).toEqual([[true], false, undefined, 1]);
  });
});

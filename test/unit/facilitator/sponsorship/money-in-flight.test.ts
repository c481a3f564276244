import fc from 'fast-check';
import {
  createMoneyInFlight,
  type MoneyInFlight,
  type Sight,
} from '../../../../src/facilitator/sponsorship/money-in-flight.js';
import { nameOfDelegate } from '../../../../src/facilitator/sponsorship/spending.js';
import { testClock } from '../../../helpers/test-clock.js';

const ACCOUNT = 'account';

/** A payment of so much from one account. */
function payment(id: string, amount: bigint, account = ACCOUNT, kind: 'token' | 'sol' = 'token') {
  return { id, payer: 'payer', spending: [{ account, kind, most: amount, least: amount }] };
}

function spendingOf([account, amount]: [string, bigint]) {
  return { account, kind: 'token', most: amount, least: amount } as const;
}

/** What the chain shows where the account holds so much. */
function sightOf(flight: MoneyInFlight, held: bigint, paid: bigint, slot: number): Sight {
  return { look: flight.nextLook(), slot, left: new Map([[ACCOUNT, held - paid]]), owners: [], delegates: [] };
}

function sightBy(flight: MoneyInFlight, delegates: Sight['delegates']): Sight {
  return { ...sightOf(flight, 100n, 10n, 1), owners: ['payer'], delegates };
}

test('payments of one account are taken up to what it holds, and not one unit beyond', () => {
  const flight = createMoneyInFlight();
  for (let at = 0; at < 20; at += 1) {
    const it = payment(`p${at}`, 10n);
    expect(flight.fits(it, sightOf(flight, 200n, 10n, 1))).toBe(true);
    flight.take(it);
  }
  expect(flight.fits(payment('late', 1n), sightOf(flight, 200n, 1n, 1))).toBe(false);
  flight.forget('p7');
  expect(flight.fits(payment('late', 11n), sightOf(flight, 200n, 11n, 1))).toBe(false);
  expect(flight.fits(payment('late', 10n), sightOf(flight, 200n, 10n, 1))).toBe(true);
});

test('a delegate counts among the spenders where he may take more than is left beside all that is on its way', () => {
  const flight = createMoneyInFlight();
  const [it, other] = [payment('p', 10n), payment('q', 4n)];
  const spendersWith = (allowance: bigint, left = new Map([[ACCOUNT, 20n]])) => {
    const delegates = [{ account: ACCOUNT, delegate: 'helper', allowance }];
    return flight.spendersOf(it, { look: flight.nextLook(), slot: 1, left, owners: ['payer'], delegates });
  };
  const both = ['payer', nameOfDelegate('helper')];
  expect([spendersWith(20n), spendersWith(21n)]).toEqual([['payer'], both]);
  flight.take(it);
  expect(spendersWith(20n)).toEqual(['payer']);
  flight.take(other);
  expect([spendersWith(16n), spendersWith(17n)]).toEqual([['payer'], both]);
  expect([spendersWith(0n, new Map()), spendersWith(1n, new Map())]).toEqual([both, both]);
  flight.forget('q');
  expect([spendersWith(0n, new Map()), spendersWith(1n, new Map())]).toEqual([['payer'], both]);
});

test('what a stranger to an account names is not on its way from it, and what a delegate of it does is', () => {
  const flight = createMoneyInFlight();
  const delegates = [{ account: ACCOUNT, delegate: 'helper', allowance: 10n }];
  const left = new Map([[ACCOUNT, 0n]]);
  const fits = () =>
    flight.fits(payment('p', 10n), { look: flight.nextLook(), slot: 1, left, owners: ['payer'], delegates });
  flight.take({ ...payment('q', 10n), payer: 'stranger' });
  expect(fits()).toBe(true);
  flight.take({ ...payment('r', 10n), payer: 'helper' });
  expect(fits()).toBe(false);
});

test('who may spend from an account is known for an hour, and whether whoever pays is one of them', () => {
  const { now, advance } = testClock();
  const flight = createMoneyInFlight(now);
  const it = payment('p', 10n);
  const knownTo = (payer: string) => flight.knownSpenders({ ...it, payer });
  expect(knownTo('payer')).toBeUndefined();
  flight.fits(it, sightBy(flight, []));
  const alone = { owners: ['payer'], areAlone: true };
  expect(knownTo('payer')).toEqual({ ...alone, isStranger: false });
  expect(knownTo('helper')).toEqual({ ...alone, isStranger: true });
  flight.fits(it, sightBy(flight, [{ account: ACCOUNT, delegate: 'helper', allowance: 1n }]));
  expect(knownTo('helper')).toEqual({ ...alone, areAlone: false, isStranger: false });
  flight.fits(it, sightBy(flight, [{ account: 'another', delegate: 'helper', allowance: 1n }]));
  expect(knownTo('helper')).toMatchObject({ areAlone: true, isStranger: true });
  advance(3_600_001);
  expect(knownTo('payer')).toBeUndefined();
});

test('a payment is not weighed against itself, and taking it twice takes it once', () => {
  const flight = createMoneyInFlight();
  const it = payment('p', 10n);
  flight.take(it);
  flight.take(it);
  expect(flight.hasOthers(it)).toBe(false);
  expect(flight.fits(it, sightOf(flight, 10n, 10n, 1))).toBe(true);
  expect(flight.fits(payment('q', 5n), sightOf(flight, 15n, 5n, 1))).toBe(true);
});

test('a payment from two accounts needs room in both, and meets whoever pays from either', () => {
  const flight = createMoneyInFlight();
  const amounts = { one: 10n, other: 30n };
  const both = { id: 'both', payer: 'payer', spending: Object.entries(amounts).map(spendingOf) };
  const seen = (one: bigint, other: bigint): Sight => ({
    look: flight.nextLook(),
    slot: 1,
    owners: [],
    delegates: [],
    left: new Map([
      ['one', one],
      ['other', other],
    ]),
  });
  expect(flight.hasOthers(both)).toBe(false);
  flight.take(payment('p', 1n, 'other'));
  expect(flight.hasOthers(both)).toBe(true);
  expect(flight.fits(both, seen(1n, 0n))).toBe(false);
  expect(flight.fits(both, seen(0n, 1n))).toBe(true);
  flight.take(both);
  for (const account of ['one', 'other']) expect(flight.hasOthers(payment('q', 1n, account))).toBe(true);
  // Beside 30 and 1 on their way.
  expect(flight.fits(payment('q', 1n, 'other'), seen(0n, 30n))).toBe(false);
  expect(flight.fits(payment('q', 1n, 'other'), seen(0n, 31n))).toBe(true);
  flight.forget('both');
  expect(flight.hasOthers(payment('q', 1n, 'one'))).toBe(false);
});

test('what was seen of two accounts is as old as the older look, and is known where both hold enough', () => {
  const flight = createMoneyInFlight();
  const [one, other] = [payment('p', 10n, 'one'), payment('q', 10n, 'other')];
  const both = { id: 'both', payer: 'payer', spending: [...one.spending, ...other.spending] };
  const looks = [flight.nextLook(), flight.nextLook()] as const;
  flight.fits(one, { look: looks[1], slot: 8, left: new Map([['one', 0n]]), owners: ['one'], delegates: [] });
  expect(flight.lastSight(both)).toBeUndefined();
  flight.fits(other, { look: looks[0], slot: 7, left: new Map([['other', 5n]]), owners: ['other'], delegates: [] });
  const left = new Map([
    ['one', 0n],
    ['other', 5n],
  ]);
  expect(flight.lastSight(both)).toEqual({ look: looks[0], slot: 7, left, owners: ['one', 'other'], delegates: [] });
  expect(flight.lastSight({ ...one, spending: [...one.spending, ...payment('', 16n, 'other').spending] })).toBe(
    undefined,
  );
});

test('who may empty an account is remembered with what was seen of it', () => {
  const flight = createMoneyInFlight();
  const one = payment('p', 10n);
  flight.fits(one, { ...sightOf(flight, 10n, 10n, 6), owners: ['somebody'] });
  expect(flight.lastSight(payment('q', 0n))?.owners).toEqual(['somebody']);
  flight.fits(one, sightOf(flight, 10n, 10n, 6));
  expect(flight.lastSight(payment('q', 0n))?.owners).toEqual([]);
});

test('a landing that is told again, later, is the one that was told first', () => {
  const flight = createMoneyInFlight();
  const next = payment('next', 10n);
  flight.take(payment('p', 10n));
  flight.landed('p', 6);
  const sight = sightOf(flight, 10n, 10n, 6);
  flight.landed('p', 7);
  expect(flight.fits(next, sight)).toBe(true);
});

test('of a payment that was not taken nothing is known, whatever is told of it', () => {
  const flight = createMoneyInFlight();
  flight.sent('p', 'signature');
  flight.landed('p', 6);
  flight.forget('p');
  expect([flight.has('p'), flight.sentOthers(payment('q', 1n))]).toEqual([false, []]);
});

test('a payment that is taken again stays as it is known', () => {
  const flight = createMoneyInFlight();
  const it = payment('p', 10n);
  flight.take(it);
  flight.sent('p', 'signature');
  flight.take(it);
  expect(flight.sentOthers(payment('q', 1n))).toEqual([['p', 'signature']]);
});

test('what landed in a later slot than a sight is of is told from what is under way', () => {
  const flight = createMoneyInFlight();
  const next = payment('next', 10n);
  for (const id of ['under way', 'landed']) flight.take(payment(id, 10n));
  const sight = sightOf(flight, 100n, 10n, 5);
  expect(flight.hasLandedAfter(next, sight)).toBe(false);
  flight.landed('landed', 5);
  expect(flight.hasLandedAfter(next, sight)).toBe(false);
  expect(flight.hasLandedAfter(next, { ...sight, slot: 4 })).toBe(true);
  expect(flight.hasLandedAfter(payment('landed', 10n), { ...sight, slot: 4 })).toBe(false);
});

test('one that has landed counts until a look shows the account without its money, and then no more', () => {
  const flight = createMoneyInFlight();
  const [first, second] = [payment('first', 10n), payment('second', 10n)];
  flight.take(first);
  const before = sightOf(flight, 20n, 10n, 5);
  flight.sent('first', 'signature');
  expect(flight.sentOthers(second)).toEqual([['first', 'signature']]);
  flight.landed('first', 6);
  expect(flight.sentOthers(second)).toEqual([]);
  expect([flight.fits(second, before), flight.hasLandedSince(second, before)]).toEqual([true, true]);

  // The node is behind: the money of the first is in what it shows.
  const behind = sightOf(flight, 19n, 10n, 5);
  expect([flight.fits(second, behind), flight.hasLandedSince(second, behind)]).toEqual([false, true]);
  const after = sightOf(flight, 10n, 10n, 6);
  expect([flight.fits(second, after), flight.hasLandedSince(second, after)]).toEqual([true, false]);
});

test('where the node does not show the account, a payment goes alone', () => {
  const flight = createMoneyInFlight();
  const blind = { look: flight.nextLook(), slot: 1, left: new Map<string, bigint>(), owners: [], delegates: [] };
  expect(flight.fits(payment('p', 1n), blind)).toBe(true);
  flight.take(payment('p', 1n));
  expect(flight.fits(payment('q', 1n), blind)).toBe(false);
  expect(flight.fits(payment('r', 1n, 'another account'), blind)).toBe(true);
});

test('of SOL, as much must be left as an account has to hold', () => {
  const flight = createMoneyInFlight();
  flight.take(payment('p', 1_000n, ACCOUNT, 'sol'));
  const held = 2_000n + 890_880n;
  expect(flight.fits(payment('q', 1_000n, ACCOUNT, 'sol'), sightOf(flight, held, 1_000n, 1))).toBe(true);
  expect(flight.fits(payment('q', 1_001n, ACCOUNT, 'sol'), sightOf(flight, held, 1_001n, 1))).toBe(false);
});

test('what nobody ends is forgotten when no blockhash can be alive any more', () => {
  let now = 0;
  const flight = createMoneyInFlight(() => now);
  flight.take(payment('p', 10n));
  expect(flight.has('p')).toBe(true);
  now = 179_999;
  expect(flight.fits(payment('q', 1n), sightOf(flight, 10n, 1n, 1))).toBe(false);
  now = 180_000;
  expect([flight.has('p'), flight.hasOthers(payment('q', 1n))]).toEqual([false, false]);
  expect(flight.fits(payment('q', 1n), sightOf(flight, 10n, 1n, 1))).toBe(true);
  flight.take(payment('p', 10n));
  expect(flight.has('p')).toBe(true);
});

test('what was seen for one payment is good for the next for ten seconds, the newest look first', () => {
  let now = 1;
  const flight = createMoneyInFlight(() => now);
  const next = payment('next', 30n);
  expect(flight.lastSight(next)).toBeUndefined();
  const old = sightOf(flight, 500n, 10n, 1);
  const newer = sightOf(flight, 100n, 10n, 2);
  flight.fits(payment('p', 10n), newer);
  flight.fits(payment('p', 10n), old);
  expect(flight.lastSight(next)).toEqual({
    look: newer.look,
    slot: 2,
    left: new Map([[ACCOUNT, 70n]]),
    owners: [],
    delegates: [],
  });
  expect(flight.lastSight(payment('more', 101n))).toBeUndefined();
  now = 10_002;
  expect(flight.lastSight(next)).toBeUndefined();
});

type Step =
  | { readonly do: 'look' | 'tick' }
  | { readonly do: 'take'; readonly sight: number; readonly amount: bigint }
  | { readonly do: 'land' | 'learn' | 'fail' | 'drop'; readonly which: number }
  | { readonly do: 'deposit'; readonly amount: bigint };

const which = fc.nat(50);
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof<fc.Arbitrary<Step>[]>(
    fc.record({ do: fc.constantFrom('look', 'tick') }),
    fc.record({ do: fc.constant('take'), sight: which, amount: fc.bigInt(1n, 40n) }),
    fc.record({ do: fc.constantFrom('land', 'learn', 'fail', 'drop'), which }),
    fc.record({ do: fc.constant('deposit'), amount: fc.bigInt(1n, 30n) }),
  ),
  { maxLength: 120 },
);

test('whatever happens in whatever order, what is on its way never exceeds the account, and nothing is left behind', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const flight = createMoneyInFlight(() => 0);
      let [held, slot] = [100n, 1];
      const looks: { readonly look: number; readonly slot: number; readonly held: bigint }[] = [];
      const open: { readonly id: string; readonly amount: bigint; landedIn?: number }[] = [];
      const onItsWay = () => open.filter(({ landedIn }) => landedIn === undefined);
      const chosen = <T>(from: readonly T[], index: number): T | undefined => from[index % Math.max(1, from.length)];
      const remove = (it: (typeof open)[number] | undefined) => it && open.splice(open.indexOf(it), 1);
      for (const [at, step] of all.entries()) {
        if (step.do === 'look') looks.push({ look: flight.nextLook(), slot, held });
        if (step.do === 'tick') slot += 1;
        if (step.do === 'deposit') held += step.amount;
        if (step.do === 'take') {
          const seen = chosen(looks, step.sight);
          const it = payment(`p${at}`, step.amount);
          if (seen === undefined || seen.held < step.amount) continue;
          const left = new Map([[ACCOUNT, seen.held - step.amount]]);
          if (!flight.fits(it, { look: seen.look, slot: seen.slot, left, owners: [], delegates: [] })) continue;
          flight.take(it);
          open.push({ id: it.id, amount: step.amount });
        }
        if (step.do === 'land') {
          const it = chosen(onItsWay(), step.which);
          if (it === undefined) continue;
          it.landedIn = slot;
          held -= it.amount;
        }
        if (step.do === 'learn') {
          const it = chosen(
            open.filter(({ landedIn }) => landedIn !== undefined),
            step.which,
          );
          if (it !== undefined) flight.landed(it.id, it.landedIn ?? 0);
        }
        if (step.do === 'fail' || step.do === 'drop') {
          const it = chosen(onItsWay(), step.which);
          if (it !== undefined) flight.forget(it.id);
          remove(it);
        }
        const sum = onItsWay().reduce((total, { amount }) => total + amount, 0n);
        // An expectation of jest's takes longer than all of the step.
        if (sum > held) throw new Error(`step ${at}: ${sum} on its way, ${held} held`);
      }
      for (const { id, landedIn } of open) {
        if (landedIn === undefined) flight.forget(id);
        else flight.landed(id, landedIn);
      }
      const everything = payment('everything', held);
      expect(flight.fits(everything, sightOf(flight, held, held, slot))).toBe(true);
    }),
    { numRuns: 500 },
  );
});

import { setImmediate } from 'node:timers/promises';
import type { InspectedPayment } from '../../../../src/facilitator/backend/backend.js';
import { createSendWindow } from '../../../../src/facilitator/sponsorship/send-window.js';
import { another, newInspected, openSponsorship, PRICE } from '../../../helpers/fixtures/sponsorship-fixture.js';

const MUCH = 1_000_000n;
/** As many as a new wallet may have on their way. */
const ROOM = 5;

describe('a wallet with as many payments on their way as it may have', () => {
  /** @param waitMs - how long the next one waits for room */
  async function crowded(waitMs?: number) {
    const opened = openSponsorship(MUCH, createSendWindow(waitMs));
    opened.chain.held = PRICE * 100n;
    const it = newInspected();
    for (let at = 0; at < ROOM; at += 1) expect(await opened.begin(another(it, `p${at}`))).toBeUndefined();
    return { ...opened, it, next: (id: string) => opened.begin(another(it, id)) };
  }

  const TOO_MANY = { reason: 'payer_must_wait', message: expect.stringContaining('Too many payments of this wallet') };

  test('is refused the next where none has landed in time', async () => {
    const { next } = await crowded(1);
    expect(await next('next')).toMatchObject(TOO_MANY);
  });

  test('that is refused has nothing taken by it', async () => {
    const { next, sponsorship, flight } = await crowded(1);
    await next('next');
    sponsorship.drop('next');
    expect(flight.has('next')).toBe(false);
    sponsorship.drop('p0');
    expect(await next('after')).toBeUndefined();
  });

  test('has room for two more when one lands, and for one when one expires', async () => {
    const landed = await crowded(1);
    landed.sponsorship.ended('p0', landed.it.payer, { status: 'landed', slot: 1 });
    for (const id of ['a', 'b']) expect(await landed.next(id)).toBeUndefined();
    expect(await landed.next('c')).toMatchObject(TOO_MANY);

    const expired = await crowded(1);
    expired.sponsorship.ended('p0', expired.it.payer, { status: 'expired' });
    expect(await expired.next('a')).toBeUndefined();
    expect(await expired.next('b')).toMatchObject(TOO_MANY);
  });

  test.each([
    ['the operator, whose he is', {}, 20],
    ['a seller', { seller: { owner: 'one' } }, 10],
    ['somebody elsewhere', { isPublic: true }, 10],
    ['whom the request named', { paysAnybody: true }, 10],
  ])('has room for twenty once twenty have landed that paid %s, or for ten', async (_whom, purpose, room) => {
    const { begin, chain, sponsorship } = openSponsorship(10_000_000_000n, createSendWindow(1));
    chain.held = PRICE * 100n;
    const it = newInspected();
    for (let at = 0; at < 20; at += 1) {
      expect(await begin(another(it, `bought${at}`), purpose)).toBeUndefined();
      sponsorship.ended(`bought${at}`, it.payer, { status: 'landed', slot: 1 });
    }
    const burst = await Promise.all(Array.from({ length: 30 }, (_, at) => begin(another(it, `next${at}`), purpose)));
    expect(burst.filter((refusal) => refusal === undefined).length).toBe(room);
  });

  test('is told to wait where one of them fails while the next waits for room', async () => {
    const { next, sponsorship, it } = await crowded();
    const waiting = next('next');
    await setImmediate();
    sponsorship.ended('p0', it.payer, { status: 'failed' });
    expect(await waiting).toMatchObject({
      reason: 'payer_must_wait',
      message: expect.stringContaining('Pay again in 60 seconds'),
    });
  });
});

describe('money', () => {
  test('that two want at once, beside one that is on its way, is taken by one of them', async () => {
    const { begin, chain } = openSponsorship(MUCH);
    chain.held = PRICE * 2n;
    const first = newInspected();
    expect(await begin(first)).toBeUndefined();
    const both = await Promise.all(['second', 'third'].map((id) => begin(another(first, id))));
    expect(both.map((refusal) => refusal?.reason)).toEqual([undefined, 'insufficient_funds']);
  });

  test('of hundreds on their way is asked for in one call, and for no more than a node answers', async () => {
    const { check, flight, chain } = openSponsorship();
    const it = newInspected();
    const spending = [{ account: it.transfer?.source ?? '', kind: 'token', most: PRICE, least: PRICE }] as const;
    for (let at = 0; at < 300; at += 1) {
      flight.take({ id: `p${at}`, payer: it.payer, spending });
      flight.sent(`p${at}`, `s${at}`);
    }
    expect(await check(it)).toMatchObject({ reason: 'insufficient_funds' });
    expect([chain.asked, chain.mostAsked]).toEqual([1, 256]);
  });
});

describe('the share of fees', () => {
  test('of a payer that was used up after a payment was verified stops it before it is signed', async () => {
    const { check, begin, chain } = openSponsorship();
    chain.held = PRICE * 9n;
    const it = newInspected();
    const verified = another(it, 'verified');
    expect(await check(verified)).toBeUndefined();
    for (const id of ['first', 'second']) expect(await begin(another(it, id))).toBeUndefined();
    expect(await begin(verified)).toMatchObject({ reason: 'payer_fee_limit_reached' });
  });

  const LIMIT = { code: 'fee_limit_reached', message: expect.stringContaining('seller') };

  test('of an owner is one, whichever of his wallets is paid, and no other owner uses it', async () => {
    const { begin } = openSponsorship();
    const sells = (owner: string) => ({ seller: { owner } });
    for (let times = 0; times < 2; times += 1) expect(await begin(newInspected(), sells('one'))).toBeUndefined();
    await expect(begin(newInspected(), sells('one'))).rejects.toMatchObject(LIMIT);
    expect(await begin(newInspected(), sells('other'))).toBeUndefined();
  });

  test('of a seller without an owner is that of the wallet that is paid', async () => {
    const { begin } = openSponsorship();
    const { payTo } = newInspected().terms;
    const paying = (it: InspectedPayment): InspectedPayment => ({ ...it, terms: { ...it.terms, payTo } });
    for (let times = 0; times < 2; times += 1)
      expect(await begin(paying(newInspected()), { seller: {} })).toBeUndefined();
    await expect(begin(paying(newInspected()), { seller: {} })).rejects.toMatchObject(LIMIT);
    expect(await begin(newInspected(), { seller: {} })).toBeUndefined();
  });
});

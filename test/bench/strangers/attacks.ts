import { randomBytes } from 'node:crypto';
import type { PaymentRequirements } from '@x402/core/types';
import { carry } from '../../helpers/transactions/payments.js';
import type { Attack } from '../driver.js';
import { presign } from '../presigned.js';
import type { Fields, Sent } from './client.js';
import type { HostileParties, HostileSettings } from './hostile-parties.js';

/** Signature of the payer in a transaction: behind a count and the fee payer's. */
const SIGNATURE = { from: 65, bytes: 64 };
const DAY_MS = 86_400_000;

/** What hostile owners and buyers do at full tilt, within what their keys and addresses are allowed. */
export function attacksOf(parties: HostileParties, { slugs, blockhash }: HostileSettings): readonly Attack[] {
  const { clients, owners, buyers, theirs, failing } = parties;
  let turn = 0;
  /** The next one of each, in turns that are seldom the same together. */
  const next = <T>(all: readonly T[], every = 1): T => all[Math.floor(turn / every) % all.length]!;
  const ask = (method: 'GET' | 'POST' | 'PATCH', path: string, sent: Sent) => {
    turn += 1;
    return next(clients).ask(method, path, sent);
  };
  const keys = buyers.flatMap((it) => it.keys);
  const call = (more: Fields = {}, slug = next(slugs)) =>
    ask('GET', `/v1/${slug}/x`, { headers: { ...next(keys), ...more } });
  /** What a wallet pays itself, by way of another one of its own. */
  const pay = (terms: PaymentRequirements) =>
    presign({ payer: next(buyers).wallet, accepted: terms, blockhash, count: 1 })[0]!.v2;
  const spoilt = presign({ payer: buyers[0]!.wallet, accepted: theirs, blockhash, count: 1 })[0]!.transaction;
  const own = (path: string, body: object) => ask('POST', path, { body, headers: next(owners).proof });
  let failed = 0;
  return [
    { name: 'calls without a payment', perSecond: 25, act: () => call() },
    { name: 'calls without a key', perSecond: 12, act: () => ask('GET', `/v1/${next(slugs)}/x`, {}) },
    {
      name: 'signatures of nothing',
      perSecond: 12,
      act: () => call({ 'x-service-payment': randomBytes(64).toString('base64') }),
    },
    { name: 'payments whose signature is wrong', perSecond: 12, act: () => call(spoil(spoilt, theirs), slugs[0]) },
    {
      name: 'wallets that pay themselves',
      perSecond: 2,
      act() {
        const at = turn % owners.length;
        const { path, key, terms } = owners[at]!.vain;
        return ask('GET', path, { headers: { ...key, ...pay(terms) } });
      },
    },
    {
      name: 'calls of upstreams that fail',
      perSecond: 6,
      act() {
        const at = turn % owners.length;
        const { path, key, terms } = owners[at]!.failing;
        // Each pays for the first ones; credit pays for the others.
        failed += 1;
        return ask('GET', path, { headers: { ...key, ...(failed <= 3 * owners.length ? pay(terms) : {}) } });
      },
    },
    {
      name: 'analytics of a month by the hour',
      perSecond: 10,
      act() {
        const { vain, proof } = next(owners);
        const from = new Date(Date.now() - 30 * DAY_MS).toISOString();
        return ask('GET', `/api/v1/projects/${vain.id}/analytics?interval=hour&from=${from}`, { headers: proof });
      },
    },
    {
      name: 'spending, events and the marketplace',
      perSecond: 10,
      act: () =>
        ask('GET', next(['/api/v1/spending', '/api/v1/events?limit=100', '/api/v1/marketplace?limit=100'], 3), {
          headers: next(owners).proof,
        }),
    },
    {
      name: 'changes that make events',
      perSecond: 3,
      act() {
        const { vain, proof } = next(owners);
        const body = { description: randomBytes(200).toString('base64') };
        return ask('PATCH', `/api/v1/projects/${vain.id}`, { body, headers: proof });
      },
    },
    {
      name: 'projects, as many as may be and more',
      perSecond: 2,
      act: () => own('/api/v1/projects', { ...offer(), upstream: { url: failing } }),
    },
    {
      name: 'keys, as many as may be and more',
      perSecond: 2,
      act: () => own('/api/v1/keys/generate', { name: 'more' }),
    },
    {
      name: 'webhooks, more than there may be',
      perSecond: 2,
      act: () => own('/api/v1/webhooks', { url: failing, events: ['*'] }),
    },
    {
      name: 'payments that are created, and never paid',
      perSecond: 6,
      act: () => ask('POST', '/create-payment', { body: { project: next(slugs) }, headers: next(keys) }),
    },
  ];
}

function offer(): object {
  const slug = `more-${randomBytes(8).toString('hex')}`;
  return { slug, name: slug, pricing: { amount: '0.000001', token: 'USDC' }, visibility: 'listed' };
}

/** A payment that looks good until its signature is checked, and is another one each time. */
function spoil(transaction: Uint8Array, accepted: PaymentRequirements): Fields {
  const changed = Uint8Array.from(transaction);
  changed.set(randomBytes(SIGNATURE.bytes), SIGNATURE.from);
  return carry(changed, accepted).v2;
}

import express, { type Request } from 'express';
import {
  type AdmissionOptions,
  type Collection,
  type CollectionQuery,
  createDelegations,
  createHoldingTimes,
  type Delegations,
  type DelegationsOptions,
  type Facilitator,
  type Gate,
  type HeldRule,
  type HeldTimes,
  type Holding,
  type HoldingTimes,
  type HoldingTimesOptions,
  type Identity,
  type OwnPage,
  type OwnTexts,
  type PageColours,
  type PageOptions,
  type PageTexts,
  type PaywallOffer,
  type PaywallStateTexts,
  type PaywallTerms,
  paywallScript,
  type RenderPaywall,
  requireTier,
  requireTokenBalance,
  type Sighting,
  type SignedDelegation,
  type SignInSessions,
  walletOf,
} from 'tollhouse';
import { holds, type Same } from './exact.mjs';

const WALLET = '2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4';

export async function count(facilitator: Facilitator): Promise<bigint> {
  const collection: Collection = { creator: WALLET };
  const query: CollectionQuery = { wallet: WALLET, collection, atLeast: 1n };
  const { amount }: Holding = await facilitator.readCollection(query);
  return amount;
}

export function gatesOf(facilitator: Facilitator): readonly Gate[] {
  const store: HeldTimes = facilitator.heldTimes;
  const options: HoldingTimesOptions = { store, now: Date.now };
  const holdingTimes: HoldingTimes = createHoldingTimes(options);
  const rule: HeldRule = { name: 'rule', heldForMs: 60_000, holds: () => true };
  holdingTimes.watch(rule);
  const admission: AdmissionOptions = { allow: [WALLET], deny: [], heldFor: '24h', holdingTimes };
  const state: Partial<PaywallStateTexts> = { comeIn: 'Entrar' };
  const pt: OwnTexts = { hasPrice: 'Esta página tem um preço', state };
  const colours: Partial<PageColours> = { accent: '#0a6b4f' };
  const write = ({ offers, card, style, script }: PaywallTerms): string =>
    `${style}${offers.map(({ price, buys }: PaywallOffer) => `${price} ${buys}`).join()}${card}${script}`;
  const render: RenderPaywall = async (terms, { path }): Promise<OwnPage> => ({ html: path + write(terms) });
  // @ts-expect-error a page is HTML
  requireTokenBalance({ facilitator, ...admission, page: { render: () => 7 } });
  const page: PageOptions = { name: 'The Club', colours: { light: colours }, texts: { pt }, render };
  // @ts-expect-error a length of time has a unit
  const wrong: AdmissionOptions = { heldFor: 24 };
  return [
    requireTokenBalance({ facilitator, collection: { address: WALLET }, ...admission, page }),
    requireTokenBalance({ facilitator, collection: [WALLET], ...wrong }),
    requireTier({ facilitator, tier: 'gold', ...admission }),
  ];
}

express().get('/tollhouse.js', paywallScript());

export async function standFor(facilitator: Facilitator, req: Request): Promise<string> {
  const options: DelegationsOptions = { facilitator, domain: 'club.example' };
  const delegations: Delegations = createDelegations(options);
  const delegate = walletOf(req)?.address ?? '';
  const signed: SignedDelegation = { message: delegations.statement({ holder: WALLET, delegate }), signature: '' };
  return delegations.accept(delegate, signed);
}

holds<Same<Sighting['at'], number>>();
holds<Same<PageTexts['state'], PaywallStateTexts>>();
holds<Same<Identity['sessions'], SignInSessions | undefined>>();

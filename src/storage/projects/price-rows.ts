import { defined } from '../../lib/defined.js';
import type { CallPrice, ProjectMoney, ProjectOffer, ProjectPass } from './call-price.js';
import type { ProjectRoute } from './project-routes.js';

/** A price as JSON: amounts as digits. */
export interface KeptPrice extends KeptMoney {
  readonly pass?: KeptPass;
  readonly prices?: readonly KeptMoney[];
  readonly offers?: readonly KeptOffer[];
  readonly former?: readonly KeptOffer[];
}

/** A route as JSON. */
export type KeptRoute = Omit<ProjectRoute, 'price'> & { readonly price?: KeptPrice };

type KeptMoney = Pick<ProjectMoney, 'token'> & { readonly amount: string };
type KeptPass = Omit<ProjectPass, 'cost'> & { readonly cost?: string };
type KeptOffer = KeptMoney & { readonly pass: KeptPass };

/** A price, to be kept as JSON. */
export function priceToKeep({ amount, token, pass, prices, offers, former }: CallPrice): KeptPrice {
  const kept = {
    pass: pass && passToKeep(pass),
    prices: prices?.map(moneyToKeep),
    offers: offers?.map(offerToKeep),
    former: former?.map(offerToKeep),
  };
  return { ...moneyToKeep({ amount, token }), ...defined(kept) };
}

/** A price that was kept. */
export function toPrice({ amount, token, pass, prices, offers, former }: KeptPrice): CallPrice {
  const known = {
    pass: pass && toPass(pass),
    prices: prices?.map(toMoney),
    offers: offers?.map(toOffer),
    former: former?.map(toOffer),
  };
  return { ...toMoney({ amount, token }), ...defined(known) };
}

/** A route, to be kept as JSON. */
export function routeToKeep({ price, ...route }: ProjectRoute): KeptRoute {
  return { ...route, ...defined({ price: price && priceToKeep(price) }) };
}

/** A route that was kept. */
export function toRoute({ price, ...route }: KeptRoute): ProjectRoute {
  return { ...route, ...defined({ price: price && toPrice(price) }) };
}

function moneyToKeep({ amount, token }: ProjectMoney): KeptMoney {
  return { amount: String(amount), token };
}

function toMoney({ amount, token }: KeptMoney): ProjectMoney {
  return { amount: BigInt(amount), token };
}

function offerToKeep({ pass, ...money }: ProjectOffer): KeptOffer {
  return { ...moneyToKeep(money), pass: passToKeep(pass) };
}

function toOffer({ pass, ...money }: KeptOffer): ProjectOffer {
  return { ...toMoney(money), pass: toPass(pass) };
}

function passToKeep({ cost, ...pass }: ProjectPass): KeptPass {
  return { ...pass, ...defined({ cost: cost?.toString() }) };
}

function toPass({ cost, ...pass }: KeptPass): ProjectPass {
  return { ...pass, ...(cost === undefined ? {} : { cost: BigInt(cost) }) };
}

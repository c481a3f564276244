import type { Request } from 'express';
import type { Identity, ProofScope } from '../../identity/types.js';
import { routeHandlers } from './route-handlers.js';

/** A sign-in that a gate takes. */
export interface SignInWanted {
  readonly identity: Identity;
  /** Address under which clients reach the server. Default: that of the identity. */
  readonly baseUrl?: string | undefined;
  /** What it has to be for. Default: the request. */
  readonly scope?: ProofScope | undefined;
}

/** Where a gate keeps the sign-ins that it takes; the same symbol in every copy of this package. */
const SIGN_INS: unique symbol = Symbol.for('tollhouse.sign-ins');

/** Notes on a gate which sign-ins it takes, for gates before it on a route. */
export function withSignIns<T extends object>(gate: T, wanted: readonly SignInWanted[]): T {
  return wanted.length === 0 ? gate : Object.assign(gate, { [SIGN_INS]: wanted });
}

/** The sign-ins that a gate takes; none for other middleware. */
export function signInsOf(handler: unknown): readonly SignInWanted[] {
  const wanted: unknown = Reflect.get(Object(handler), SIGN_INS);
  return Array.isArray(wanted) ? wanted : [];
}

/** The sign-ins that gates on the route of a request take; none before Express has found a route. */
export function signInsWanted(req: Request): readonly SignInWanted[] {
  return routeHandlers(req).flatMap(signInsOf);
}

/** Whether a gate on the route of a request takes sign-ins for the request only. */
export function isRequestWanted(req: Request, identity: Identity): boolean {
  return signInsWanted(req).some((it) => it.identity === identity && it.scope !== 'site');
}

import type { Request } from 'express';
import { TollhouseError } from '../../errors/errors.js';
import type { Identity, IdentityRequest, Proof } from '../../identity/types.js';
import { isPending, type MaybePromise } from '../../lib/maybe-promise.js';
import { createRequestNote } from '../gate/request-note.js';
import { absoluteUrl } from '../gate/request-url.js';

/** Who gates ask about their caller. */
export interface CallerParts {
  readonly identity: Identity;
  /** Address under which clients reach the server. Default: from the request. */
  readonly baseUrl: string | undefined;
}

const proofs = createRequestNote<Request, Map<Identity, MaybePromise<Proof>>>();
const offers = createRequestNote<Request, Map<Identity, IdentityRequest>>();

/** The proof that a request carries. Several gates on one request share it, since a sign-in is used up when it is read. */
export function proofOf(req: Request, { identity, baseUrl }: CallerParts): MaybePromise<Proof> {
  const known = proofs.of(req);
  const earlier = known?.get(identity);
  if (earlier !== undefined) return earlier;
  const proof = identity.prove(new CallerRequest(req, baseUrl));
  // A token that is good now is not used up by that, and asking again costs less than the note.
  if (!isPending(proof) && isToken(proof)) return proof;
  proofs.put(req, (known ?? new Map<Identity, MaybePromise<Proof>>()).set(identity, proof));
  return proof;
}

/** The proof that a request carries, looked at once more. A sign-in, which is used up, stays what it was. */
export async function proofAgain(req: Request, parts: CallerParts): Promise<Proof> {
  const before = await proofOf(req, parts);
  return isToken(before) ? parts.identity.prove(new CallerRequest(req, parts.baseUrl)) : before;
}

function isToken(proof: Proof): boolean {
  return proof.status === 'proven' && proof.wallet.by === 'jwt';
}

/** Notes that signing in would help this request: whichever gate answers it says how. */
export function offerSignIn(req: Request, { identity, baseUrl }: CallerParts): void {
  const noted = offers.of(req) ?? new Map<Identity, IdentityRequest>();
  offers.put(req, noted);
  noted.set(identity, new CallerRequest(req, baseUrl));
}

/**
 * Protocol extensions with a fresh challenge for each noted way to sign in, as they go over the wire; undefined where
 * none is noted, which is the rule.
 */
export function signInExtensions(req: Request): MaybePromise<Readonly<Record<string, unknown>> | undefined> {
  const noted = offers.of(req);
  return noted === undefined ? undefined : challengesOf([...noted]);
}

/**
 * The same for a 402, which can be answered with money alone: where the site has no name to sign in at, nothing is offered
 * instead of turning payers away.
 */
export function signInBesidePayment(req: Request): MaybePromise<Readonly<Record<string, unknown>> | undefined> {
  const extensions = signInExtensions(req);
  return isPending(extensions) ? extensions.catch(withoutName) : extensions;
}

function withoutName(error: unknown): undefined {
  if (!(error instanceof TollhouseError && error.code === 'not_configured')) throw error;
}

async function challengesOf(noted: readonly (readonly [Identity, IdentityRequest])[]) {
  const challenges = await Promise.all(noted.map(([identity, asked]) => identity.challenge(asked)));
  const all: Readonly<Record<string, unknown>> = Object.assign({}, ...challenges.map(({ extensions }) => extensions));
  return all;
}

/** What of a request may prove who is calling. A class, since one is made for every request. */
class CallerRequest implements IdentityRequest {
  readonly #req: Request;
  readonly #baseUrl: string | undefined;

  constructor(req: Request, baseUrl: string | undefined) {
    this.#req = req;
    this.#baseUrl = baseUrl;
  }

  get url(): string {
    return absoluteUrl(this.#req, this.#baseUrl);
  }

  get baseUrl(): string | undefined {
    return this.#baseUrl;
  }

  header(name: string): string | undefined {
    const value = this.#req.headers[name.toLowerCase()];
    return typeof value === 'string' ? value : value?.join(', ');
  }
}

import type { Request } from 'express';
import { z } from 'zod';
import { TollhouseError } from '../../errors/errors.js';
import { siteNoted } from '../../identity/identity-site.js';
import type { Identity, IdentityRequest, InspectedProof, Proof, ProofScope } from '../../identity/types.js';
import { isPending, type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import { CODECS } from '../../protocol/codecs/codecs.js';
import { varyBy } from '../gate/cache-control.js';
import { createRequestNote, type RequestNote } from '../gate/request-note.js';
import { absoluteUrl } from '../gate/request-url.js';

/** Who gates ask about their caller. */
export interface CallerParts {
  readonly identity: Identity;
  /** Address under which clients reach the server. Default: that of the router with the same identity, or from the request. */
  readonly baseUrl: string | undefined;
  /** What a sign-in has to be for. Default: the request. */
  readonly scope?: ProofScope | undefined;
}

/** What an identity of ours reads: as `Vary` lists it, and name by name. */
const PROOF_HEADERS = 'Authorization, SIGN-IN-WITH-X';
const PROOF_NAMES: ReadonlySet<string> = new Set(PROOF_HEADERS.toLowerCase().split(', '));

/** A proof of a request, and what came of using it up. */
interface HeldProof extends InspectedProof {
  taken?: Promise<Proof>;
}

type ProofNote = RequestNote<Request, Map<Identity, MaybePromise<HeldProof>>>;

const proofs: Readonly<Record<ProofScope, ProofNote>> = { request: createRequestNote(), site: createRequestNote() };
const offers = createRequestNote<Request, Map<Identity, IdentityRequest>>();

/** The proof that a request carries, not used up by this. Several gates on one request share it. */
export function inspectProof(req: Request, parts: CallerParts): MaybePromise<Proof> {
  return whenKnown(heldProof(req, parts), ({ proof }) => proof);
}

/**
 * The proof of a request that carries none, by its payment: that repeats the challenge which the client was asked with, and which was
 * answered by the request before it.
 */
export function recallProof(req: Request, parts: CallerParts): MaybePromise<Proof> {
  const { identity } = parts;
  const nonce = identity.recall === undefined ? undefined : challengeNonce(req);
  if (nonce === undefined || identity.recall === undefined) return ABSENT;
  return whenKnown(identity.recall(nonce, new CallerRequest(req, parts)), (held) => {
    if (held.proof.status === 'proven') noteProof(req, 'request', identity, { ...held });
    return held.proof;
  });
}

/** The nonce of the sign-in challenge that a payment repeats, as clients repeat all extensions. */
function challengeNonce(req: Request): string | undefined {
  for (const codec of CODECS) {
    const header = req.get(codec.requestHeader);
    const reading = header === undefined ? undefined : codec.read(header);
    const repeated = reading?.ok ? repeatedSchema.safeParse(reading.payment.extensions) : undefined;
    if (repeated?.success) return repeated.data['sign-in-with-x'].info.nonce;
  }
  return undefined;
}

const repeatedSchema = z.object({ 'sign-in-with-x': z.object({ info: z.object({ nonce: z.string().max(512) }) }) });
const ABSENT: Proof = { status: 'absent' };

/**
 * The proof that a request carries, used up for this request: whoever lets a request in asks for it, once the rest is decided.
 * Another request that came with the same sign-in at the same time finds it refused.
 */
export function proofOf(req: Request, parts: CallerParts): MaybePromise<Proof> {
  return whenKnown(heldProof(req, parts), (held) => {
    const { proof, use } = held;
    if (use === undefined) return proof;
    held.taken ??= use.take().then((refusal) => refusal ?? proof);
    return held.taken;
  });
}

/** Gives back what a request has used up of its proofs: it is asked to pay, and comes again with the same sign-in and a payment. */
export async function giveBackProofs(req: Request): Promise<void> {
  const all = [proofs.request, proofs.site].flatMap((note) => [...(note.of(req)?.values() ?? [])]);
  for (const held of await Promise.all(all)) {
    if ((await held.taken)?.status === 'proven') await held.use?.giveBack();
    delete held.taken;
  }
}

/** A proof for the request is good wherever one for the site is. */
function heldProof(req: Request, parts: CallerParts): MaybePromise<HeldProof> {
  if (req.res !== undefined) varyBy(req.res, PROOF_HEADERS);
  return whenKnown(heldFor(req, parts, 'request'), (held) => {
    const isForOther = held.proof.status === 'refused' && held.proof.code === 'invalid_sign_in';
    return isForOther && parts.scope === 'site' ? heldFor(req, parts, 'site') : held;
  });
}

function heldFor(req: Request, { identity, baseUrl }: CallerParts, scope: ProofScope): MaybePromise<HeldProof> {
  const earlier = proofs[scope].of(req)?.get(identity);
  if (earlier !== undefined) return earlier;
  const held = inspect(identity, new CallerRequest(req, { identity, baseUrl, scope }));
  // A token that is good now is not used up by that, and asking again costs less than the note.
  if (!isPending(held) && isToken(held.proof)) return held;
  noteProof(req, scope, identity, held);
  return held;
}

function noteProof(req: Request, scope: ProofScope, identity: Identity, held: MaybePromise<HeldProof>): void {
  const note = proofs[scope].of(req) ?? new Map<Identity, MaybePromise<HeldProof>>();
  proofs[scope].put(req, note.set(identity, held));
}

function inspect(identity: Identity, request: IdentityRequest): MaybePromise<HeldProof> {
  // Somebody else's identity may know of no proof that is not used up.
  if (identity.inspect === undefined) return whenKnown(identity.prove(request), (proof) => ({ proof }));
  return whenKnown(identity.inspect(request), ({ proof, use }) => (use === undefined ? { proof } : { proof, use }));
}

/** The proof that a request carries, looked at once more. A sign-in, which is used up, stays what it was. */
export async function proofAgain(req: Request, parts: CallerParts): Promise<Proof> {
  const before = await proofOf(req, parts);
  return isToken(before) ? parts.identity.prove(new CallerRequest(req, parts)) : before;
}

/** Whether a proof is good for many requests. */
export function isToken(proof: Proof): proof is Extract<Proof, { status: 'proven' }> {
  return proof.status === 'proven' && proof.wallet.by === 'jwt';
}

/** Notes that signing in would help this request: whichever gate answers it says how. */
export function offerSignIn(req: Request, parts: CallerParts): void {
  const noted = offers.of(req) ?? new Map<Identity, IdentityRequest>();
  offers.put(req, noted);
  const before = noted.get(parts.identity);
  // What is for the request opens every gate on its way.
  if (before === undefined || parts.scope !== 'site') noted.set(parts.identity, new CallerRequest(req, parts));
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
 * instead of turning payers away. The sign-in that a request came with is good for the one that pays, too.
 */
export function signInBesidePayment(req: Request): MaybePromise<Readonly<Record<string, unknown>> | undefined> {
  return proofs.request.of(req) === undefined
    ? extensionsBesidePayment(req)
    : giveBackProofs(req).then(() => extensionsBesidePayment(req));
}

function extensionsBesidePayment(req: Request): MaybePromise<Readonly<Record<string, unknown>> | undefined> {
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
  readonly #parts: CallerParts;

  constructor(req: Request, parts: CallerParts) {
    this.#req = req;
    this.#parts = parts;
  }

  get url(): string {
    return absoluteUrl(this.#req, this.baseUrl);
  }

  get method(): string {
    return this.#req.method;
  }

  get scope(): ProofScope | undefined {
    return this.#parts.scope;
  }

  get baseUrl(): string | undefined {
    return this.#parts.baseUrl ?? siteNoted(this.#parts.identity);
  }

  header(name: string): string | undefined {
    const value = this.#req.headers[name.toLowerCase()];
    // An identity of somebody else may read more, such as a cookie.
    if (this.#req.res !== undefined && !PROOF_NAMES.has(name)) varyBy(this.#req.res, name);
    return typeof value === 'string' ? value : value?.join(', ');
  }
}

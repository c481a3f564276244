import type { Request } from 'express';
import { z } from 'zod';
import { TollhouseError } from '../../errors/errors.js';
import type {
  Identity,
  IdentityRequest,
  InspectedProof,
  Proof,
  ProofScope,
  ProvenWallet,
} from '../../identity/types.js';
import { createRequestNote, type RequestNote } from '../../lib/http/request-note.js';
import { isPending, type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import { REASONS } from '../../protocol/reasons.js';
import { varyBy } from '../gate/cache-control.js';
import { undoAtFault } from '../gate/gate.js';
import { readPayment } from '../gate/presented-payment.js';
import { isRequestWanted } from '../gate/sign-ins-wanted.js';
import { type CallerParts, CallerRequest, PROOF_HEADERS } from './caller-request.js';
import { sessionProof } from './session-cookie.js';

/** A proof of a request, and what came of using it up. */
interface HeldProof extends InspectedProof {
  /** Of the cookie that keeps a page signed in. */
  readonly isOfCookie?: boolean;
  taken?: Promise<Proof>;
}

type ProofNote = RequestNote<Request, Map<Identity, MaybePromise<HeldProof>>>;

const proofs: Readonly<Record<ProofScope, ProofNote>> = { request: createRequestNote(), site: createRequestNote() };
const offers = createRequestNote<Request, Map<Identity, IdentityRequest>>();

/** The proof that a request carries, not used up by this. Several gates on one request share it. */
function inspectProof(req: Request, parts: CallerParts): MaybePromise<Proof> {
  return whenKnown(heldProof(req, parts), ({ proof }) => proof);
}

/** A proof that proves nobody. */
export type UnprovenProof = Exclude<Proof, { readonly status: 'proven' }>;

/** The proof that a request carries, or by its payment the one of the request before it; not used up by this. */
export function anyProof(req: Request, parts: CallerParts): MaybePromise<Proof> {
  return whenKnown(inspectProof(req, parts), (proof) => (proof.status === 'absent' ? recallProof(req, parts) : proof));
}

/**
 * The proof of a request that carries none, by its payment: that repeats the challenge which the client was asked with, and which was
 * answered by the request before it.
 */
function recallProof(req: Request, parts: CallerParts): MaybePromise<Proof> {
  const { identity } = parts;
  const nonce = identity.recall === undefined ? undefined : challengeNonce(req);
  if (nonce === undefined || identity.recall === undefined) return ABSENT;
  return whenKnown(identity.recall(nonce, new CallerRequest(req, parts)), (held) => {
    if (held.proof.status === 'proven') noteProof(req, 'request', identity, { ...held });
    return whenKnown(unlessSuspended(held, parts), ({ proof }) => proof);
  });
}

/** The nonce of the sign-in challenge that a payment repeats, as clients repeat all extensions. */
function challengeNonce(req: Request): string | undefined {
  const reading = readPayment(req)?.reading;
  return reading?.ok ? nonceIn(reading.payment.extensions) : undefined;
}

function nonceIn(extensions: unknown): string | undefined {
  return challengeSchema.safeParse(extensions).data?.['sign-in-with-x'].info.nonce;
}

const challengeSchema = z.object({ 'sign-in-with-x': z.object({ info: z.object({ nonce: z.string().max(512) }) }) });
const ABSENT: Proof = { status: 'absent' };

/**
 * The proof that a request carries, used up for this request: whoever lets a request in asks for it, once the rest is decided.
 * Another request that came with the same sign-in at the same time finds it refused.
 */
export function proofOf(req: Request, parts: CallerParts): MaybePromise<Proof> {
  return whenKnown(heldProof(req, parts), (held) => {
    const { proof, use } = held;
    if (use === undefined) return proof;
    if (held.taken === undefined) {
      held.taken = use.take().then((refusal) => refusal ?? proof);
      undoAtFault(req, () => giveBackSignIns(req));
      // Should this be asked to pay, the payment stands for the sign-in by repeating a challenge.
      offerSignIn(req, parts);
    }
    return held.taken;
  });
}

/**
 * Uses up the sign-in of a request that pays: the one that it carries, or the one that was given back when it was asked to pay.
 * Whoever has seen that could come in with it otherwise.
 */
export async function useUpSignIn(req: Request, parts: CallerParts): Promise<undefined> {
  if ((await proofOf(req, parts)).status === 'absent') await recallProof(req, parts);
  await proofOf(req, parts);
}

/**
 * Gives back what a request has used up of its proofs: it is asked to pay, and comes again with the same sign-in and a payment.
 * @param next - nonce of the challenge that it is asked with, which its payment may repeat in the place of the sign-in
 */
export async function giveBackSignIns(req: Request, next?: string): Promise<void> {
  const all = [proofs.request, proofs.site].flatMap((note) => [...(note.of(req)?.values() ?? [])]);
  for (const held of await Promise.all(all)) {
    if ((await held.taken)?.status === 'proven') await held.use?.giveBack(next);
    delete held.taken;
  }
}

/** A proof for the request is good wherever one for the site is. */
function heldProof(req: Request, parts: CallerParts): MaybePromise<HeldProof> {
  if (req.res !== undefined) varyBy(req.res, PROOF_HEADERS);
  return whenKnown(heldInScope(req, parts), (held) =>
    held.isOfCookie === true && parts.takesCookie === false ? NOBODY : held,
  );
}

const NOBODY: HeldProof = { proof: ABSENT };

function heldInScope(req: Request, parts: CallerParts): MaybePromise<HeldProof> {
  return whenKnown(heldFor(req, parts, 'request'), (held) => {
    const isForOther = held.proof.status === 'refused' && held.proof.code === 'invalid_sign_in';
    return isForOther && parts.scope === 'site' ? heldFor(req, parts, 'site') : held;
  });
}

function heldFor(req: Request, parts: CallerParts, scope: ProofScope): MaybePromise<HeldProof> {
  const { identity, baseUrl } = parts;
  const earlier = proofs[scope].of(req)?.get(identity);
  if (earlier !== undefined) return earlier;
  const asked = { identity, baseUrl, scope };
  const found = whenKnown(inspect(identity, new CallerRequest(req, asked)), (shown) =>
    shown.proof.status === 'absent'
      ? whenKnown(sessionProof(req, asked), (kept) => (kept === undefined ? shown : { isOfCookie: true, ...kept }))
      : shown,
  );
  const held = whenKnown(found, (it) => unlessSuspended(it, parts));
  // A token that is good now is not used up by that, and asking again costs less than the note.
  if (!isPending(held) && isToken(held.proof)) return held;
  noteProof(req, scope, identity, held);
  return held;
}

/** A wallet that an operator has suspended is refused whatever it shows, and its sign-in is not used up by that. */
function unlessSuspended(held: HeldProof, { suspensions }: CallerParts): MaybePromise<HeldProof> {
  const { proof } = held;
  if (suspensions === undefined || proof.status !== 'proven') return held;
  return whenKnown(suspensions.find('wallet', proof.wallet.address), (suspension) =>
    suspension === undefined ? held : SUSPENDED,
  );
}

const SUSPENDED: HeldProof = {
  proof: { status: 'refused', code: 'wallet_suspended', detail: REASONS.wallet_suspended },
};

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

/**
 * The wallet that a request proves to one of several who would ask, in this order; undefined without a proof that is good. Nothing is used
 * up, and what is found is not noted: each gate asks for itself.
 */
export function provenWallet(req: Request, callers: readonly CallerParts[]): MaybePromise<ProvenWallet | undefined> {
  const [parts, ...others] = callers;
  if (parts === undefined) return undefined;
  return whenKnown(peek(parts.identity, new CallerRequest(req, parts)), (proof) =>
    proof.status === 'proven' ? proof.wallet : provenWallet(req, others),
  );
}

function peek(identity: Identity, asked: CallerRequest): MaybePromise<Proof> {
  if (identity.inspect !== undefined) return whenKnown(identity.inspect(asked), ({ proof }) => proof);
  // Somebody else's identity would use a sign-in up.
  const { url, method, baseUrl } = asked;
  const header = (name: string) => (name === 'authorization' ? asked.header(name) : undefined);
  return whenKnown(identity.prove({ url, method, baseUrl, header }), (proof) => (isToken(proof) ? proof : ABSENT));
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
  const scope = parts.scope === 'site' && isRequestWanted(req, parts.identity) ? 'request' : parts.scope;
  if (before === undefined || scope !== 'site') noted.set(parts.identity, new CallerRequest(req, { ...parts, scope }));
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
  return proofs.request.of(req) === undefined ? extensionsBesidePayment(req) : challengeAgain(req);
}

async function challengeAgain(req: Request) {
  const extensions = await extensionsBesidePayment(req);
  await giveBackSignIns(req, nonceIn(extensions));
  return extensions;
}

/** The same, where a sign-in that the request came with stays used up. */
export function extensionsBesidePayment(req: Request): MaybePromise<Readonly<Record<string, unknown>> | undefined> {
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

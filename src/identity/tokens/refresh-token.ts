import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Counters } from '../../storage/counters/counters.js';

/** Who a session belongs to and what it may. */
export interface Session {
  /** Public name of the session; tells nothing about its tokens. */
  readonly id: string;
  /** The wallet, base58. */
  readonly address: string;
  readonly scopes: readonly string[];
}

/** What came out of using a refresh token. */
export type Rotation =
  | { readonly status: 'rotated'; readonly token: string; readonly session: Session }
  /** The token was used before: somebody has a copy. The session is over. */
  | { readonly status: 'reused'; readonly session: string }
  | { readonly status: 'unknown' };

/** Refresh tokens: opaque, each good for one use; a session is a family of them (RFC 9700 §4.14). */
export interface RefreshTokens {
  /** Opens a session and answers its first token. */
  open(owner: Omit<Session, 'id'>): Promise<{ readonly token: string; readonly session: Session }>;
  /** Uses a token up for the next one of its session. */
  rotate(token: string): Promise<Rotation>;
  /** Ends the session of a token, used or not; returns its id, undefined when there is no such session. */
  end(token: string): Promise<string | undefined>;
}

/** What refresh tokens are made with. */
export interface RefreshTokenSetup {
  readonly counters: Counters;
  /** How long a session lives from its sign-in, in milliseconds. */
  readonly sessionMs: number;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
  /** Random bytes, as many as asked for. */
  readonly random: (size: number) => Uint8Array;
}

// The handle names the session, the secret is new with every rotation.
const TOKEN = /^trt_([-_A-Za-z0-9]{22})\.([-_A-Za-z0-9]{43})$/;

const recordSchema = z.object({
  address: z.string(),
  scopes: z.array(z.string()),
  current: z.string(),
  endsAt: z.number(),
});
type SessionRecord = z.infer<typeof recordSchema>;

/**
 * Makes refresh tokens whose sessions live in the counters, one entry each, under hashes: who reads the store can use
 * nothing of it. An entry that the store forgets early ends its session.
 */
export function createRefreshTokens({ counters, sessionMs, now, random }: RefreshTokenSetup): RefreshTokens {
  const newText = (size: number): string => Buffer.from(random(size)).toString('base64url');
  const timeLeft = (record: SessionRecord): number => Math.max(1, record.endsAt - now());

  async function open(owner: Omit<Session, 'id'>): Promise<{ token: string; session: Session }> {
    const [handle, secret] = [newText(16), newText(32)];
    const { address, scopes } = owner;
    const record = { address, scopes: [...scopes], current: hash(secret), endsAt: now() + sessionMs };
    const id = sessionId(handle);
    await counters.put(sessionKey(id), JSON.stringify(record), timeLeft(record));
    return { token: tokenOf(handle, secret), session: { id, address, scopes } };
  }

  async function rotate(token: string): Promise<Rotation> {
    const [, handle, secret] = TOKEN.exec(token) ?? [];
    if (handle === undefined || secret === undefined) return { status: 'unknown' };
    const id = sessionId(handle);
    const stored = await counters.get(sessionKey(id));
    const record = stored === undefined ? undefined : recordSchema.parse(JSON.parse(stored));
    if (stored === undefined || record === undefined || record.endsAt <= now()) return { status: 'unknown' };
    const next = newText(32);
    const renewed = JSON.stringify({ ...record, current: hash(next) });
    const isCurrent = record.current === hash(secret);
    if (isCurrent && (await counters.replace(sessionKey(id), stored, renewed, timeLeft(record)))) {
      const { address, scopes } = record;
      return { status: 'rotated', token: tokenOf(handle, next), session: { id, address, scopes } };
    }
    // Only holders of a token of this session know its handle, so this one was used before, now or by somebody else.
    await counters.remove(sessionKey(id));
    return { status: 'reused', session: id };
  }

  async function end(token: string): Promise<string | undefined> {
    const [, handle] = TOKEN.exec(token) ?? [];
    if (handle === undefined) return undefined;
    const id = sessionId(handle);
    if ((await counters.get(sessionKey(id))) === undefined) return undefined;
    await counters.remove(sessionKey(id));
    return id;
  }

  return { open, rotate, end };
}

function tokenOf(handle: string, secret: string): string {
  return `trt_${handle}.${secret}`;
}

function sessionId(handle: string): string {
  return hash(handle).slice(0, 22);
}

function sessionKey(id: string): string {
  return `session:${id}`;
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

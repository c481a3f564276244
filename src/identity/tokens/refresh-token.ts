import { createHash, createHmac } from 'node:crypto';
import {
  createSessionStore,
  type KeptSession,
  type SessionRecord,
  type SessionSetup,
  type UsedSecret,
} from './session-store.js';

/** Who a session belongs to and what it may. */
export interface Session {
  /** Public name of the session; tells nothing about its tokens. */
  readonly id: string;
  /** The wallet, base58. */
  readonly address: string;
  readonly scopes: readonly string[];
  /** The site of its access tokens. */
  readonly audience: string;
}

/** What came out of using a refresh token. */
export type Rotation =
  | { readonly status: 'rotated'; readonly token: string; readonly session: Session }
  /** The token was used before: somebody has a copy. The session is over. */
  | { readonly status: 'reused'; readonly session: string }
  | { readonly status: 'unknown' };

/** Refresh tokens: opaque, each good for one use; a session is a family of them (RFC 9700 §4.14). */
export interface RefreshTokens {
  /** Opens a session and answers its first token. Of too many sessions of a wallet the one that was not used for longest ends. */
  open(owner: Omit<Session, 'id'>): Promise<{ readonly token: string; readonly session: Session }>;
  /**
   * Uses a token up for the next one of its session. The same token once more, within {@link REFRESH_GRACE_MS}, gets the current one
   * too: tabs that refresh at once, or a response that got lost.
   */
  rotate(token: string): Promise<Rotation>;
  /** Ends the session of a token, used or not; undefined when there is no such session. */
  end(token: string): Promise<Session | undefined>;
  /** The session of a token, used or not. */
  find(token: string): Promise<Session | undefined>;
  /** Ends all sessions of a wallet; returns their ids. */
  endAll(address: string): Promise<readonly string[]>;
}

/** How long a used token still gets the current one, in milliseconds. Whoever brings it later has a copy. */
export const REFRESH_GRACE_MS = 10_000;
/** So many are remembered beside the one that was used last. */
const MAX_EARLIER = 8;

// The handle names the session, the secret is new with every rotation.
const TOKEN = /^trt_([-_A-Za-z0-9]{22})\.([-_A-Za-z0-9]{43})$/;

/** Makes refresh tokens, whose sessions live in the counters. */
export function createRefreshTokens(setup: SessionSetup): RefreshTokens {
  const { sessionMs, network, now, random } = setup;
  const store = createSessionStore(setup);
  const newText = (size: number): string => Buffer.from(random(size)).toString('base64url');

  /** Puts the next secret of a session in the place of the current one; undefined when this is not that, or not any more. */
  async function advance(kept: KeptSession, secret: string): Promise<string | undefined> {
    const { record } = kept;
    if (record.current !== hash(secret)) return undefined;
    const salt = newText(16);
    const next = nextSecret(secret, salt);
    const used = { hash: record.current, salt, at: now() };
    const earlier = usedOf(record).slice(-MAX_EARLIER);
    return (await store.replace(kept, { ...record, current: hash(next), used, earlier })) ? next : undefined;
  }

  async function find(token: string): Promise<KeptSession | undefined> {
    const [, handle] = TOKEN.exec(token) ?? [];
    const kept = handle === undefined ? undefined : await store.find(sessionId(handle));
    // Identities of several networks may share a store.
    return kept?.record.network === network ? kept : undefined;
  }

  return {
    async open({ address, scopes, audience }) {
      const [handle, secret] = [newText(16), newText(32)];
      const id = sessionId(handle);
      const owner = { address, scopes: [...scopes], audience, network };
      await store.add(id, { ...owner, current: hash(secret), endsAt: now() + sessionMs, earlier: [] });
      return { token: tokenOf(handle, secret), session: { id, address, scopes, audience } };
    },
    async rotate(token) {
      const [, handle, secret] = TOKEN.exec(token) ?? [];
      const kept = await find(token);
      if (handle === undefined || secret === undefined || kept === undefined) return { status: 'unknown' };
      // Who loses the race for a token finds it used, just now, by the one who won.
      const next = (await advance(kept, secret)) ?? currentOf(await store.find(kept.id), secret, now());
      if (next !== undefined) {
        await store.touch(kept.id, kept.record);
        return { status: 'rotated', token: tokenOf(handle, next), session: sessionOf(kept) };
      }
      // Only holders of a token of this session know its handle, so this one was used before, by somebody else.
      await store.end(kept);
      return { status: 'reused', session: kept.id };
    },
    async end(token) {
      const kept = await find(token);
      if (kept !== undefined) await store.end(kept);
      return kept && sessionOf(kept);
    },
    async find(token) {
      const kept = await find(token);
      return kept && sessionOf(kept);
    },
    endAll: store.endAll,
  };
}

/** The secrets that were used last, oldest first: each makes the next, and the last one the current. */
function usedOf({ used, earlier }: SessionRecord): readonly UsedSecret[] {
  return used === undefined ? earlier : [...earlier, used];
}

/** The current secret, for who shows one that was current a moment ago. */
function currentOf(kept: KeptSession | undefined, secret: string, time: number): string | undefined {
  const all = kept === undefined ? [] : usedOf(kept.record);
  const from = all.findIndex((it) => it.hash === hash(secret) && time - it.at <= REFRESH_GRACE_MS);
  if (from === -1) return undefined;
  return all.slice(from).reduce((before, { salt }) => nextSecret(before, salt), secret);
}

/** Made of the secret before it, which the store does not know, so that it can be given again without being kept. */
function nextSecret(secret: string, salt: string): string {
  return createHmac('sha256', secret).update(salt).digest('base64url');
}

function sessionOf({ id, record: { address, scopes, audience } }: KeptSession): Session {
  return { id, address, scopes, audience };
}

function tokenOf(handle: string, secret: string): string {
  return `trt_${handle}.${secret}`;
}

function sessionId(handle: string): string {
  return hash(handle).slice(0, 22);
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

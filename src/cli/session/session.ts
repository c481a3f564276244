import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { AUTH_PATHS, grantResponse } from '../../http/auth/schemas.js';
import { defined } from '../../lib/defined.js';
import { CommandError, RefusedError } from '../command.js';
import { forgetSignIn, type NewSignIn, renewSignIn, type SignIn, serverOf, signInAt } from './credentials.js';
import { postJson, readJson, readResponseText, type ServerAnswer, type ServerRequest, send } from './server-client.js';

/** Talks to a server as a wallet that is signed in; renews its tokens by itself. */
export interface ServerSession {
  readonly server: string;
  /** Sends a request; problems are thrown as {@link RefusedError}. The body is not read yet. */
  send(asked: ServerRequest): Promise<ServerAnswer>;
  /** The JSON that is answered. */
  get(path: string): Promise<unknown>;
  /** The JSON that is answered. */
  post(path: string, body?: object): Promise<unknown>;
  /** The JSON that is answered. */
  patch(path: string, body: object): Promise<unknown>;
  delete(path: string): Promise<void>;
  /** All items of a list, page by page; a path may have a query. */
  list(path: string): Promise<readonly unknown[]>;
}

const PAGE = 100;
/** So long before its end an access token is no longer used, in milliseconds. */
const SPARE_MS = 10_000;
/** Tokens of another process may have been used up, and so the second renewal is the one that counts. */
const MAX_RENEWALS = 2;
const MAX_WAITS = 50;
const WAIT_MS = 200;

const listResponse = z.object({ data: z.array(z.unknown()), next_cursor: z.string().nullable() });

/**
 * Opens the session at a server.
 * @param named - address of the server; default: where the user signed in last
 * @throws CommandError when nobody is signed in there
 */
export function openSession(named: string | undefined): ServerSession {
  const server = serverOf(named);
  requireSignIn(server);

  async function sendSigned(asked: ServerRequest): Promise<ServerAnswer> {
    let signIn = await freshSignIn(server);
    for (let renewals = 0; ; renewals += 1) {
      const headers = { ...asked.headers, authorization: `Bearer ${signIn.access_token}` };
      const answer = await send(server, { ...asked, headers });
      if (answer.statusCode !== 401 || renewals === MAX_RENEWALS) return checked(answer);
      await answer.body.dump();
      signIn = await renew(server);
    }
  }

  const getJson = async (path: string) => readJson(await sendSigned({ method: 'GET', path }));
  return {
    server,
    send: sendSigned,
    get: getJson,
    post: async (path, body) => readJson(await sendSigned({ method: 'POST', path, ...defined({ body }) })),
    patch: async (path, body) => readJson(await sendSigned({ method: 'PATCH', path, body })),
    delete: async (path) => void (await readResponseText(await sendSigned({ method: 'DELETE', path }))),
    async list(path) {
      const found: unknown[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const query: string = cursor === '' ? `limit=${PAGE}` : `limit=${PAGE}&cursor=${encodeURIComponent(cursor)}`;
        const page = understood(listResponse, await getJson(`${path}${path.includes('?') ? '&' : '?'}${query}`));
        found.push(...page.data);
        cursor = page.next_cursor;
      }
      return found;
    },
  };
}

/** What a server answered, read by the schema of this version. */
export function understood<S extends z.ZodType>(schema: S, json: unknown): z.output<S> {
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  throw new CommandError('the server answered what this version does not understand; --json shows it as it is');
}

/** The sign-in that tokens make. */
export function signInFrom(wallet: string, json: unknown): NewSignIn {
  const { access_token, refresh_token, expires_in } = understood(grantResponse, json);
  return { wallet, access_token, refresh_token, expires_at: Date.now() + expires_in * 1_000 };
}

async function checked(answer: ServerAnswer): Promise<ServerAnswer> {
  if (answer.statusCode >= 400) await readResponseText(answer);
  return answer;
}

function requireSignIn(server: string): SignIn {
  const signIn = signInAt(server);
  if (signIn !== undefined) return signIn;
  throw new CommandError(`not signed in at ${server}; first ${howToSignIn(server)}`);
}

function howToSignIn(server: string): string {
  return `npx tollhouse login --server ${server} --keypair <file>`;
}

async function freshSignIn(server: string): Promise<SignIn> {
  const signIn = requireSignIn(server);
  return signIn.expires_at - SPARE_MS > Date.now() ? signIn : renew(server);
}

/**
 * Uses the refresh token up. When its response is lost, or two processes do it at once, the same request answers the same
 * tokens again, by its key.
 */
async function renew(server: string): Promise<SignIn> {
  const { wallet, refresh_token, renewal_key } = requireSignIn(server);
  for (let waits = 0; ; waits += 1) {
    try {
      const grant = await postJson(
        server,
        AUTH_PATHS.refresh,
        { refresh_token },
        { headers: { 'idempotency-key': renewal_key } },
      );
      return renewSignIn(server, signInFrom(wallet, grant));
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      if (error.status === 401) {
        forgetSignIn(server);
        throw new CommandError(`the sign-in at ${server} has ended; again ${howToSignIn(server)}`);
      }
      if (error.code !== 'idempotency_in_progress' || waits === MAX_WAITS) throw error;
      await sleep(WAIT_MS);
    }
  }
}

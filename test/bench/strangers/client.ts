import type { Keypair } from '@solana/web3.js';
import { Agent, request } from 'undici';
import { walletKeyOf } from '../../helpers/transactions/wallet-key.js';

/** Headers of a request. */
export type Fields = Readonly<Record<string, string>>;

/** A response, with its JSON; empty where it has none. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What is sent beside method and path. */
export interface Sent {
  readonly body?: unknown;
  readonly headers?: Fields;
  /** Ends it before its response. Default: nothing does. */
  readonly signal?: AbortSignal;
}

/** Somebody who speaks to a service from an address of its own. */
export interface Client {
  readonly url: string;
  /** Where it comes from. */
  readonly address: string;
  ask(method: Method, path: string, sent?: Sent): Promise<Reply>;
  /** The same; rejects where it is not welcome. */
  made(method: Method, path: string, sent?: Sent): Promise<Reply['body']>;
  /** Signs a wallet in: its access token. */
  signIn(wallet: Keypair): Promise<Fields>;
  /** A service key of the one who has signed in. */
  key(proof: Fields, wanted?: object): Promise<Fields>;
  close(): Promise<void>;
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

const PATIENCE_MS = 60_000;

/** Opens a client of the server at `url` that comes from a loopback address. */
export function openClient(url: string, localAddress: string, connections = 64): Client {
  const dispatcher = new Agent({ localAddress, connections, headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS });

  async function ask(method: Method, path: string, { body, headers = {}, signal }: Sent = {}): Promise<Reply> {
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const type: Fields = body === undefined ? {} : { 'content-type': 'application/json' };
    const answer = await request(url + path, {
      ...{ method, dispatcher, ...json, headers: { ...type, ...headers } },
      ...(signal === undefined ? {} : { signal }),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, headers: answer.headers, body: text.startsWith('{') ? JSON.parse(text) : {} };
  }

  async function made(method: Method, path: string, sent?: Sent): Promise<Reply['body']> {
    const { status, body } = await ask(method, path, sent);
    if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(body)}`);
    return body;
  }

  return {
    url,
    address: localAddress,
    ask,
    made,
    async signIn(keypair) {
      const { address: wallet, sign } = walletKeyOf(keypair.secretKey.subarray(0, 32));
      const { nonce, message } = await made('POST', '/api/v1/auth/challenge', { body: { wallet } });
      const signature = sign(String(message));
      const grant = await made('POST', '/api/v1/auth/token', { body: { wallet, nonce, signature } });
      return { authorization: `Bearer ${grant['access_token']}` };
    },
    async key(proof, wanted = {}) {
      const body = { name: 'a key', ...wanted };
      const { api_key, api_secret } = await made('POST', '/api/v1/keys/generate', { body, headers: proof });
      return { 'x-service-key': String(api_key), 'x-service-secret': String(api_secret) };
    },
    close: () => dispatcher.destroy(),
  };
}

/** The terms that a call is offered without a payment. */
export async function termsOf(client: Client, path: string, headers: Fields): Promise<string> {
  const { status, headers: told } = await client.ask('GET', path, { headers });
  if (status !== 402) throw new Error(`${path} answered ${status}, not 402`);
  return String(told['payment-required']);
}

import { type Keypair, VersionedTransaction } from '@solana/web3.js';
import { createConformance, type OpenApi } from './documented.js';
import type { ProofHeaders } from './sign-in.js';
import { walletKeyOf } from './wallet-key.js';

/** A response as it came; `body` is its JSON, empty where it has none. */
export interface ClientResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A project as its owner sees it, as far as tests look. */
export interface MadeProject {
  readonly id: string;
  readonly slug: string;
  readonly gateway_secret: string;
  readonly split: readonly { readonly recipient: string; readonly bps: number }[];
}

/** A service key. */
export interface MadeKey {
  readonly id: string;
  readonly secret: string;
  /** The two headers that show it. */
  readonly headers: ProofHeaders;
}

/** What is asked for a payment for a call. */
export interface WantedPayment {
  readonly project: MadeProject;
  readonly payer: Keypair;
  /** Under which key it is made; default none. */
  readonly key?: MadeKey | undefined;
  /** USDC, decimal; default {@link CALL_PRICE}. */
  readonly amount?: string;
}

/** A payment that was created and settled. */
export interface MadePayment {
  readonly id: string;
  /** Base58. */
  readonly signature: string;
  /** `X-Service-Payment` for it. */
  readonly header: ProofHeaders;
}

/** What a call of a project costs in tests, in atomic units and as text: not divisible by 10, so that splits have a rest. */
export const CALL_PRICE = 12_347n;
const CALL_PRICE_TEXT = '0.012347';

/** Speaks to a service with a gateway as owners and callers do; its responses must be as its OpenAPI document says. */
export type GatewayClient = Awaited<ReturnType<typeof connectGateway>>;

/** The header that shows a landed payment, as base64 of its signature's base58 text. */
export function proofHeader(signature: string): ProofHeaders {
  return { 'x-service-payment': Buffer.from(signature).toString('base64') };
}

/** Connects to a service at an address. */
export async function connectGateway(url: string) {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApi;
  const faultsOf = createConformance(document);

  async function request(path: string, init: RequestInit): Promise<ClientResponse> {
    const answer = await fetch(url + path, { redirect: 'manual', ...init });
    const { status, headers } = answer;
    const text = await answer.text();
    return { status, headers, text, body: /^\{/.test(text) ? JSON.parse(text) : {} };
  }

  async function ask(
    method: string,
    path: string,
    body?: unknown,
    headers: ProofHeaders = {},
  ): Promise<ClientResponse> {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await request(path, { method, headers: { ...type, ...headers }, ...sent });
    expect(faultsOf(method, path, answer)).toEqual([]);
    return answer;
  }

  async function made(path: string, body: unknown, headers: ProofHeaders): Promise<Readonly<Record<string, unknown>>> {
    const answer = await ask('POST', path, body, headers);
    expect([answer.status < 300, answer.text]).toEqual([true, answer.text]);
    return answer.body;
  }

  return {
    url,
    /** Asks an endpoint of the service. */
    ask,
    /** Calls below `/v1/`. What the gateway says by itself must be documented. */
    async call(path: string, init: RequestInit = {}): Promise<ClientResponse> {
      const answer = await request(`/v1/${path}`, init);
      const { status, headers } = answer;
      const isOwn = headers.get('x-service-error') === 'gateway';
      if (isOwn && answer.text !== '') expect(faultsOf('POST', '/v1/x', answer)).toEqual([]);
      expect(isOwn || status < 500).toBe(true);
      return answer;
    },
    /** Signs a wallet in. */
    async signIn(wallet: Keypair): Promise<ProofHeaders> {
      const { address, sign } = walletKeyOf(wallet.secretKey.subarray(0, 32));
      const { nonce, message } = await made('/api/v1/auth/challenge', { wallet: address }, {});
      const signature = sign(String(message));
      const grant = await made('/api/v1/auth/token', { wallet: address, nonce, signature }, {});
      return { authorization: `Bearer ${grant['access_token']}` };
    },
    /** Registers a project with {@link CALL_PRICE} in USDC. */
    async project(owner: ProofHeaders, wanted: { readonly slug: string; readonly [name: string]: unknown }) {
      const pricing = { amount: CALL_PRICE_TEXT, token: 'USDC', network: 'solana-devnet' };
      return (await made(
        '/api/v1/projects',
        { name: wanted.slug, pricing, ...wanted },
        owner,
      )) as object as MadeProject;
    },
    /** Makes a service key. */
    async key(owner: ProofHeaders, wanted: Readonly<Record<string, unknown>> = {}): Promise<MadeKey> {
      const { id, api_key, api_secret } = await made('/api/v1/keys/generate', { name: 'a key', ...wanted }, owner);
      const secret = String(api_secret);
      return { id: String(id), secret, headers: { 'x-service-key': String(api_key), 'x-service-secret': secret } };
    },
    /** Pays for a call through `/create-payment` and `/settle`. */
    async pay({ project, payer, key, amount = CALL_PRICE_TEXT }: WantedPayment): Promise<MadePayment> {
      const recipient = project.split[0]?.recipient;
      const asked = { amount, token: 'USDC', recipient, project: project.slug };
      const created = await made(
        '/create-payment',
        { ...asked, payer: payer.publicKey.toBase58() },
        key === undefined ? {} : key.headers,
      );
      const { serialized } = created['transaction'] as { readonly serialized: string };
      const transaction = VersionedTransaction.deserialize(Buffer.from(serialized, 'base64'));
      transaction.sign([payer]);
      const signed_transaction = Buffer.from(transaction.serialize()).toString('base64');
      const id = String(created['payment_id']);
      const settled = await made('/settle', { payment_id: id, signed_transaction }, {});
      const signature = String(settled['tx_signature']);
      return { id, signature, header: proofHeader(signature) };
    },
  };
}

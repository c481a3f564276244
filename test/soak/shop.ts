import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Keypair } from '@solana/web3.js';
import type { PaymentRequirements } from '@x402/core/types';
import { Agent, request } from 'undici';
import type { Sandbox } from '../../src/sandbox/start-sandbox.js';
import type { ProofHeaders } from '../helpers/http/sign-in.js';
import type { Chance } from './chance.js';
import type { Findings } from './findings.js';
import { STRANGER } from './goods.js';
import type { DatabaseKind } from './options.js';
import type { PaymentBook, SentPayment } from './payment-book.js';
import { HOME, runIn, useOf } from './use.js';

/** A seller as its clients see it, and what is noted of it. */
export interface Shop {
  readonly name: DatabaseKind;
  readonly url: string;
  readonly sandbox: Sandbox;
  readonly chance: Chance;
  readonly findings: Findings;
  readonly book: PaymentBook;
  readonly feePayer: Keypair;
  /** Wallet of its routes, base58. */
  readonly payTo: string;
  /** Wallet of the gateway's project, base58. */
  readonly owner: string;
  /** Address of the API behind the gateway. */
  readonly upstream: string;
  /** Who has made a project, and who bought of it. */
  readonly strangers: Stranger[];
  /** Terms of its routes, and of calls through the gateway. */
  readonly terms: PaymentRequirements;
  readonly callTerms: PaymentRequirements;
  /** A blockhash that is not old. */
  blockhash(): string;
  /** Seconds in which the process or its database was being disturbed, by `performance.now()`. */
  readonly disturbances: readonly Disturbance[];
}

/** A stranger's project: wallets of its owner and its one buyer, base58, and what the buyer had and may spend, atomic USDC. */
export interface Stranger {
  readonly owner: string;
  readonly buyer: string;
  readonly funds: bigint;
  readonly budget: bigint;
}

/** Something that a process cannot see coming: it was killed, or its database went away. */
export interface Disturbance {
  readonly from: number;
  /** Infinity while it lasts. */
  to: number;
}

/** Somebody who buys. */
export interface Buyer {
  readonly wallet: Keypair;
  /** Headers of a service key of the wallet. */
  readonly key: ProofHeaders;
}

/** What is sent; default a GET. */
export interface Sending {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Hangs up. */
  readonly signal?: AbortSignal;
  /** Address that it comes from, of this machine's own. */
  readonly from?: string;
}

/** A response as it came. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A response; without a status the connection broke, or was not to be had. */
export interface Reply {
  readonly status?: number;
  /** Code of the problem, or x402's reason. */
  readonly code?: string;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const PATIENCE_MS = 30_000;
/** Connections by the address that they come from. */
const AGENTS = new Map<string, Agent>();
const RETRY_MS = [100, 500] as const;
/** A payment must come to its end in this time, whatever goes wrong meanwhile. */
const MOST_INSISTENCE_MS = 240_000;
const JSON_TYPE = /^application\/([\w.]+\+)?json\b/;
/** Of a longer text its digest is noted. */
const MOST_NOTED = 1_000;
const NOTHING: Reply = { headers: new Headers(), text: '', body: {} };

/** Asks a seller, and notes its response. */
export async function ask(shop: Shop, path: string, sending: Sending = {}): Promise<Reply> {
  try {
    const { method = 'GET', from = HOME, ...rest } = sending;
    const dispatcher = agentAt(from);
    const { statusCode, headers, body } = await request(shop.url + path, { dispatcher, method, ...rest });
    return read(shop, path, { status: statusCode, headers: asHeaders(headers), text: await body.text() });
  } catch {
    shop.findings.count('answers', 'none: cut, gone or not up');
    return NOTHING;
  }
}

function agentAt(localAddress: string): Agent {
  const limits = { connections: 64, headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS };
  const agent = AGENTS.get(localAddress) ?? new Agent({ ...limits, localAddress });
  AGENTS.set(localAddress, agent);
  return agent;
}

function asHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Headers {
  return new Headers(Object.entries(headers).map(([name, value]): [string, string] => [name, String(value ?? '')]));
}

/** Reads a response, notes it, and sees to it that no door answers 500. */
function read(shop: Shop, path: string, answer: Answer): Reply {
  const { status, headers, text } = answer;
  const isJson = JSON_TYPE.test(headers.get('content-type') ?? '');
  const body = isJson ? (JSON.parse(text) as Record<string, unknown>) : {};
  const found = body['code'] ?? body['errorReason'] ?? body['invalidReason'];
  const code = typeof found === 'string' ? found : undefined;
  shop.findings.count('answers', code === undefined ? String(status) : `${status} ${code}`);
  // The contract has this status for a transaction of `/create-payment` that failed or expired.
  const isInContract = path === '/settle' && code === 'blockchain_error';
  const isUpstreams = path.startsWith(`/v1/${STRANGER}`) && !headers.has('x-service-error');
  if (status === 500 && !isInContract && !isUpstreams)
    shop.findings.broke(`${shop.name}: ${path} answered 500: ${text.slice(0, 300)}`);
  return { status, headers, text, body, ...(code === undefined ? {} : { code }) };
}

/** Asks again and again until the response is final. */
export async function insist(shop: Shop, path: string, sending: Sending = {}, first?: Reply): Promise<Reply> {
  const end = performance.now() + MOST_INSISTENCE_MS;
  let reply = first ?? (await ask(shop, path, sending));
  while (isOpen(reply)) {
    if (performance.now() > end) {
      const last = `${reply.status} ${reply.code} ${reply.text.slice(0, 200)}`;
      shop.findings.broke(`${shop.name}: ${path} came to no end in ${MOST_INSISTENCE_MS / 1_000} s; last: ${last}`);
      return reply;
    }
    await pause(shop.chance.between(...RETRY_MS));
    reply = await ask(shop, path, sending);
  }
  return reply;
}

const OPEN_CODES = new Set([
  'payment_in_progress',
  'idempotency_in_progress',
  'settlement_in_progress',
  'settlement_pending',
  'payment_not_confirmed',
]);
const OPEN_STATUSES = new Set([408, 429, 502, 503, 504]);

/** Whether the same request is to be sent again, as its client was told. */
export function isOpen({ status, code }: Reply): boolean {
  return status === undefined || OPEN_STATUSES.has(status) || (code !== undefined && OPEN_CODES.has(code));
}

/** Insists on what was paid for, and notes how it ended. */
export async function insistOnPaid(
  shop: Shop,
  payment: SentPayment,
  path: string,
  sending: Sending,
  first?: Reply,
): Promise<Reply> {
  payment.path = path;
  const reply = await insist(shop, path, sending, first);
  noteEnd(payment, useOf(path, sending), reply);
  return reply;
}

/** Asks again for what was paid for and had: it is the same, and marked; that it is what it was, the checks see. */
export async function askAgain(shop: Shop, payment: SentPayment, path: string, sending: Sending): Promise<void> {
  const last = payment.deliveries.at(-1);
  const begun = last?.at ?? performance.now();
  const again = await insistOnPaid(shop, payment, path, sending);
  const isKept = isKeptFirst(path) || !wasDisturbed(shop, begun, performance.now());
  if (isServed(again)) return;
  if (!isKept)
    return shop.findings.count('told', `${shop.name}: a response was not to be had again after a disturbance`);
  shop.findings.broke(
    `${shop.name}: the repeat of ${payment.signature} got ${again.status} ${again.text.slice(0, 200)} after ${last?.text}`,
  );
}

/** Whether the response of an address is kept before its money is taken: its handler never runs again. */
export function isKeptFirst(path: string): boolean {
  return path.startsWith('/after/');
}

/** Notes the last response for a payment. Of several copies the one that was served counts. */
export function noteEnd(payment: SentPayment, use: string, reply: Reply): void {
  if (isServed(reply)) noteDelivery(payment, { use, text: reply.text, headers: reply.headers, isWhole: true });
  payment.end = payment.deliveries.length > 0 ? 'served' : `${reply.status} ${reply.code ?? reply.text.slice(0, 80)}`;
}

/** What a client has read of a response. */
export interface Received {
  readonly use: string;
  readonly text: string;
  readonly headers: Headers;
  readonly isWhole: boolean;
}

/** Notes what somebody got for a payment. */
export function noteDelivery({ deliveries }: SentPayment, { use, text, headers, isWhole }: Received): void {
  const run = runIn(text);
  const isReplay = headers.get('idempotency-replayed') === 'true';
  const kept = text.length > MOST_NOTED ? createHash('sha256').update(text).digest('hex') : text;
  deliveries.push({ at: performance.now(), use, text: kept, isReplay, isWhole, ...(run === undefined ? {} : { run }) });
}

/** Whether a response gives what was paid for. */
export function isServed({ status, body }: Reply): boolean {
  return status === 200 && body['success'] !== false;
}

/** Whether a process or its database was disturbed between two moments, or shortly before. */
export function wasDisturbed(shop: Shop, from: number, to: number): boolean {
  return shop.disturbances.some((it) => it.from <= to && it.to >= from - AFTERMATH_MS);
}

const AFTERMATH_MS = 5_000;

/** A POST of JSON. */
export function post(body: unknown, headers: Readonly<Record<string, string>> = {}): Sending {
  return { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}

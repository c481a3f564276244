import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:http';
import fc from 'fast-check';
import { readConfiguration } from '../../src/server/configuration/configuration.js';
import { startServer } from '../../src/server/start-server.js';
import type { OpenApi } from '../helpers/http/documented.js';
import { walletKey } from '../helpers/transactions/wallet-key.js';
import { header, PAYLOAD_V1, PAYLOAD_V2, SIGNATURE } from '../unit/protocol/samples.js';
import { type Dictionary, type FuzzRequest, requestsFor } from './requests.js';

/** A started server with something in it. */
export interface FuzzedServer {
  /** Answers by status. */
  readonly answers: ReadonlyMap<number, number>;
  /** Sends so many requests; throws with the first ones that are not answered as they must be. */
  run(requests: number): Promise<void>;
  close(): Promise<void>;
}

/** Gateways behind us may fail, and outcomes be unknown; everything else from 500 on is a fault of ours. */
const ALLOWED = new Set([502, 503, 504]);
const PATIENCE_MS = 60_000;
const AT_ONCE = 4;

/** Starts the server as `npm start` does, with a wallet signed in, a project, a key and a payment. */
export async function openFuzzedServer(): Promise<FuzzedServer> {
  const faults: unknown[] = [];
  const note = (fault: unknown) => void faults.push(fault);
  const noteWarning = (warning: Error) => {
    if (Reflect.get(warning, 'code') === 'TOLLHOUSE_INTERNAL') note(warning);
  };
  process.on('unhandledRejection', note);
  process.on('uncaughtExceptionMonitor', note);
  process.on('warning', noteWarning);
  const environment = { PORT: '0', DATABASE_URL: 'memory:', RATE_LIMIT_SCALE: '100000', LOG_LEVEL: 'silent' };
  const server = await startServer(readConfiguration(environment));
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApi;
  const dictionary = await furnish(server.url);
  const answers = new Map<number, number>();

  async function check(wanted: FuzzRequest): Promise<void> {
    const status = await send(server.url, agent, wanted);
    answers.set(status, (answers.get(status) ?? 0) + 1);
    if (status >= 500 && !ALLOWED.has(status)) throw new Error(`answered ${status}`);
    if (faults.length > 0) throw new Error(`a fault in the server: ${String(faults.splice(0)[0])}`);
  }

  return {
    answers,
    async run(requests) {
      const some = fc.array(requestsFor(document, dictionary), { minLength: AT_ONCE, maxLength: AT_ONCE });
      const rule = fc.asyncProperty(some, async (list) => void (await Promise.all(list.map(check))));
      // What a server answers depends on what it was asked before: smaller requests would prove nothing.
      await fc.assert(rule, { numRuns: Math.ceil(requests / AT_ONCE), endOnFailure: true });
    },
    async close() {
      agent.destroy();
      await server.close();
      process.off('unhandledRejection', note);
      process.off('uncaughtExceptionMonitor', note);
      process.off('warning', noteWarning);
    },
  };
}

/** Returns the status; what never ends is left after its head. */
async function send(url: string, agent: Agent, { method, path, headers, body }: FuzzRequest): Promise<number> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const { hostname, port } = new URL(url);
  const asked = request({ hostname, port, path, method, headers: { ...headers }, agent, signal });
  asked.end(body);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  if (answer.headers['content-type']?.startsWith('text/event-stream')) answer.destroy();
  else for await (const chunk of answer) void chunk;
  return answer.statusCode ?? 0;
}

async function furnish(url: string): Promise<Dictionary> {
  const wallet = walletKey('alice');
  const post = async (path: string, body: object, headers: Readonly<Record<string, string>> = {}) => {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    };
    return (await (await fetch(url + path, init)).json()) as Readonly<Record<string, string>>;
  };
  const { message = '', nonce } = await post('/api/v1/auth/challenge', { wallet: wallet.address });
  const grant = await post('/api/v1/auth/token', { wallet: wallet.address, nonce, signature: wallet.sign(message) });
  const token = { authorization: `Bearer ${grant['access_token']}` };
  const pricing = { amount: '0.01', token: 'USDC' };
  const upstream = { url };
  const project = await post(
    '/api/v1/projects',
    { slug: 'fuzzed', name: 'Fuzzed', upstream, pricing, visibility: 'listed' },
    token,
  );
  const key = await post('/api/v1/keys/generate', { name: 'fuzzer', mode: 'test' }, token);
  const hook = await post('/api/v1/webhooks', { url: `${url}/healthz`, events: ['call.succeeded'] }, token);
  const payment = await post('/create-payment', { amount: 1, token: 'USDC', recipient: wallet.address });
  const keyHeaders = { 'x-service-key': String(key['api_key']), 'x-service-secret': String(key['api_secret']) };
  const made = [project['id'], project['slug'], key['id'], key['api_key'], hook['id'], payment['payment_id']];
  return {
    texts: [
      ...made.flatMap((it) => (it === undefined ? [] : [it])),
      ...[wallet.address, SIGNATURE, String(nonce), String(grant['refresh_token'])],
      ...[header(PAYLOAD_V2), header(PAYLOAD_V1), '0.01', 'USDC', 'SOL', '10', 'hour', '2026-01-02T03:04:05Z', '"1"'],
      ...['https://example.invalid/hook', 'http://169.254.169.254/', url, 'projects:read', 'call', '10.0.0.0/8'],
    ],
    proofs: [token, token, keyHeaders, { ...token, ...keyHeaders }],
  };
}

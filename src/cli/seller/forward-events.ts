import { request } from 'undici';
import { newWebhookSecret, webhookHeaders, webhookKey } from '../../gateway/webhooks/webhook-signature.js';
import { UsageError } from '../command.js';
import { connectionFault } from '../output/system-words.js';
import type { StreamedEvent } from './follow-events.js';

/** Posts events to a receiver, signed as webhooks are. */
export interface Forwarder {
  /** What the receiver checks the signatures with. */
  readonly secret: string;
  /** Posts an event once; answers what came of it. Never rejects. */
  forward(event: StreamedEvent): Promise<string>;
}

/** As long as a webhook is waited for. */
const TIMEOUT_MS = 15_000;

/**
 * Makes a forwarder.
 * @param secret - `whsec_…`; default: a new one
 * @throws UsageError for an address or a secret that is none
 */
export function createForwarder(url: string, secret = newWebhookSecret()): Forwarder {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new UsageError(`--forward "${url}" is not an address such as http://127.0.0.1:3000/hook`);
  }
  if (webhookKey(secret) === undefined) {
    throw new UsageError('WEBHOOK_SECRET must be whsec_ and base64 of 24 to 64 bytes, as a webhook showed it');
  }
  return {
    secret,
    async forward(event) {
      const body = JSON.stringify(event);
      const timestamp = Math.floor(Date.now() / 1_000);
      const headers = {
        'content-type': 'application/json',
        ...webhookHeaders({ id: event.id, timestamp, body }, [secret]),
      };
      const since = performance.now();
      const took = () => `in ${Math.round(performance.now() - since)} ms`;
      try {
        const answer = await request(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(TIMEOUT_MS) });
        await answer.body.dump();
        return `${answer.statusCode} ${took()}`;
      } catch (error) {
        return `no answer ${took()} (${connectionFault(error)})`;
      }
    },
  };
}

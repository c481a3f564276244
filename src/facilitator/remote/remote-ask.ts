import type { Parsed } from '../../lib/parsed.js';
import type { Terms } from '../../protocol/types.js';
import { encodeFacilitatorRequest, type RemotePayment } from '../../protocol/wire/remote.js';
import type { InspectedPayment } from '../backend/backend.js';
import type { Remote } from './remote.js';
import { RemoteFault, type RemoteOperation } from './remote-client.js';

/** What a facilitator answered, or why none did. */
export type Asked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: RemoteFault };

/**
 * Asks the facilitators that can sign for these terms, those that are well first. The next is asked when one cannot be
 * reached; a settlement only when it provably was not begun there.
 */
export async function askInTurn<T>(
  remotes: readonly Remote[],
  { payment, terms, payer }: InspectedPayment,
  operation: RemoteOperation,
  timeoutMs: number,
  decode: (body: unknown, about: RemotePayment) => Parsed<T>,
): Promise<Asked<T>> {
  const request = encodeFacilitatorRequest(payment, terms);
  let fault = new RemoteFault('no facilitator signs for these terms', false);
  for (const remote of signersOf(remotes, terms)) {
    try {
      const read = (body: unknown) => decode(body, { terms, payer });
      return { ok: true, value: await remote.client.ask(operation, request, timeoutMs, read) };
    } catch (error) {
      if (!(error instanceof RemoteFault)) throw error;
      remote.failed(error);
      fault = error;
      if (operation === 'settle' && error.mayHaveActed) break;
    }
  }
  return { ok: false, fault };
}

function signersOf(remotes: readonly Remote[], { feePayer = '' }: Terms): readonly Remote[] {
  const able = remotes.filter((remote) => remote.offer()?.signers.has(feePayer));
  return [...able.filter((it) => it.well()), ...able.filter((it) => !it.well())];
}

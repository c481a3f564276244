import { z } from 'zod';
import { PAYMENTS_PATHS } from '../../http/payments/schemas.js';
import { CommandError, RefusedError } from '../command.js';
import { printJson, printStep, withProgress } from '../output/terminal.js';
import { postJson } from '../session/server-client.js';
import type { KeptPayment } from './kept-payment.js';
import { printAgain } from './pay-report.js';
import { type Attempt, repeatPayment } from './repeat-payment.js';

type Settled = Record<string, unknown>;

/** Schema of {@link SignedPayment}, which is also its form in a file. */
export const signedPayment = z.strictObject({
  server: z.url(),
  /** What is paid to whom, in words. */
  what: z.string(),
  settle: z.strictObject({ payment_id: z.string(), signed_transaction: z.string() }),
});

/** A created payment that its payer has signed: what `POST /settle` is asked with, as often as it takes. */
export type SignedPayment = z.output<typeof signedPayment>;

/**
 * Settles a payment, until the server tells what came of it, and shows that. Its file goes when that is known.
 * @returns the exit code: 0 when it is settled
 */
export async function settleCreated(signed: SignedPayment, kept: KeptPayment, json: boolean): Promise<number> {
  const outcome = await repeatPayment({
    attempt: (signal) => {
      const work = attemptSettle(signed, signal);
      return json ? work : withProgress('settling', 'waiting for the payment to be confirmed', work);
    },
    // As JSON the outcome stands alone on standard output.
    onPause: (text) => (json ? console.error(text) : printStep('no word', text)),
  });
  if (!outcome.known) return tellUnknown(signed, outcome.told, kept.command, json);
  kept.forget();
  const { response } = outcome;
  if (response instanceof CommandError) throw response;
  if (json) printJson(response);
  else {
    printStep('settled', `transaction ${String(response['tx_signature'])}`);
    printStep('explorer', String(response['explorer_url']));
  }
  return 0;
}

function tellUnknown({ what, settle }: SignedPayment, told: string, again: string, json: boolean): number {
  if (json) printJson({ payment_id: settle.payment_id, success: null, detail: told, again });
  else {
    printStep('not known', `whether ${what} was paid: ${told}`);
    printAgain(again, { tell: printStep });
  }
  return 1;
}

async function attemptSettle(
  { server, settle }: SignedPayment,
  signal: AbortSignal,
): Promise<Attempt<Settled | RefusedError>> {
  try {
    return { decided: true, response: await postJson(server, PAYMENTS_PATHS.settle, settle, { signal }) };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    if (!(error instanceof RefusedError)) return { decided: false, told: error.message };
    const { status, retryable = status >= 500, waitMs, message } = error;
    return retryable ? { decided: false, told: message, waitMs } : { decided: true, response: error };
  }
}

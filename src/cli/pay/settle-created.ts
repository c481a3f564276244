import { z } from 'zod';
import { PAYMENTS_PATHS } from '../../http/payments/schemas.js';
import { CommandError, RefusedError } from '../command.js';
import { jsonText, printStep, stepLine, tellStep, withProgress } from '../output/terminal.js';
import { writeOut } from '../output/write-out.js';
import { postJson } from '../session/server-client.js';
import { type KeptPayment, orAgain } from './kept-payment.js';
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

/** How {@link settleCreated} tells of it. */
export interface SettleCreatedOptions {
  readonly json: boolean;
  /** It was sent before, and nobody knows what became of it. */
  readonly isResumed: boolean;
}

/**
 * Settles a payment, until the server tells what came of it, and shows that. Its file goes when that is written, so that whatever ends
 * the process before leaves the payment to be settled again.
 * @returns the exit code: 0 when it is settled
 * @throws CommandError where it is refused; and where what came of it cannot be written, with the command that tells it again
 */
export async function settleCreated(
  signed: SignedPayment,
  kept: KeptPayment,
  { json, isResumed }: SettleCreatedOptions,
): Promise<number> {
  const outcome = await repeatPayment({
    attempt: (signal) => {
      const work = attemptSettle(signed, signal);
      return json ? work : withProgress('settling', 'waiting for the payment to be confirmed', work);
    },
    // As JSON the outcome stands alone on standard output.
    onPause: (text) => (json ? console.error(text) : printStep('no word', text)),
  });
  if (!outcome.known) return tellUnknown(signed, outcome.told, kept.command, json);
  const { response, doubts } = outcome;
  if (response instanceof CommandError) {
    if (!decides(response, doubts > 0 || isResumed)) return tellUnknown(signed, response.message, kept.command, json);
    kept.forget();
    throw response;
  }
  await orAgain(kept.command, () => writeOut(json ? `${jsonText(response, 2)}\n` : settledText(response)));
  kept.forget();
  return 0;
}

const UNKNOWN_PAYMENT = 'payment_not_found';

/**
 * Whether a refusal says that the payment is not made. One without a code is that of somebody before the server; and a server that has
 * started anew may have lost a payment that it had sent.
 */
function decides({ code }: RefusedError, wasSent: boolean): boolean {
  return code !== undefined && !(wasSent && code === UNKNOWN_PAYMENT);
}

function settledText(response: Settled): string {
  const steps = [
    stepLine('settled', `transaction ${String(response['tx_signature'])}`),
    stepLine('explorer', String(response['explorer_url'])),
  ];
  return `${steps.join('\n')}\n`;
}

async function tellUnknown(
  { what, settle }: SignedPayment,
  told: string,
  again: string,
  json: boolean,
): Promise<number> {
  if (json) {
    const outcome = { payment_id: settle.payment_id, success: null, detail: told, again };
    await orAgain(again, () => writeOut(`${jsonText(outcome, 2)}\n`));
  } else {
    tellStep('not known', `whether ${what} was paid: ${told}`);
    printAgain(again);
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

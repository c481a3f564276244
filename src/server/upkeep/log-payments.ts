import type { Facilitator } from '../../facilitator/types.js';
import type { ServerLogger } from '../logger.js';

/** Writes a line for each payment that was made, failed, expired or is still open. */
export function logPayments(facilitator: Pick<Facilitator, 'on'>, logger: ServerLogger): void {
  facilitator.on('payment.settled', ({ id, resource, receipt, durationMs }) => {
    const { signature, payer, payTo, asset, amount, slot } = receipt;
    const line = { payment: id, resource, signature, payer, payTo, asset, amount: String(amount), slot };
    logger.info({ ...line, ...(durationMs === undefined ? {} : { ms: Math.round(durationMs) }) }, 'payment settled');
  });
  facilitator.on('payment.failed', ({ id, resource, payer, reason }) => {
    logger.info({ payment: id, resource, payer, reason }, 'payment failed');
  });
  facilitator.on('payment.expired', ({ id, resource, payer }) => {
    logger.info({ payment: id, resource, payer }, 'payment expired');
  });
  facilitator.on('payment.overpaid', ({ request, receipt: { signature, payer, asset }, surplus }) => {
    logger.warn({ request: request.id, signature, payer, asset, surplus: String(surplus) }, 'payment overpaid');
  });
  facilitator.on('payment.unmatched', ({ request, signature, reason }) => {
    logger.warn({ request: request.id, signature, reason }, 'money came that pays nothing');
  });
  facilitator.on('payment.pending', ({ id, resource, payer }) => {
    logger.warn({ payment: id, resource, payer }, 'payment pending');
  });
  facilitator.on('payments.recovered', (found) => logger.info({ ...found }, 'payments recovered'));
}

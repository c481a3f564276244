import type { Request, Response } from 'express';
import { problem } from '../../errors/errors.js';
import { isClientGone } from '../../lib/http/connection-events.js';
import { interceptMethods, type Mode } from '../../lib/http/intercept-methods.js';
import { REQUEST_ID_HEADER } from '../gate/request-id.js';
import { sendProblem } from '../gate/respond.js';
import type { PassRefusal, Refuse } from './pass-types.js';

/**
 * Ends a response that nothing more can be taken for; what its handler does to it from then on is lost. A stream of events ends
 * with one that says why, `payment_required` with a problem as its data, another response by itself. Where nothing has left yet
 * it is a 402 with terms.
 */
export async function endOutOfCredit(
  req: Request,
  res: Response,
  cause: PassRefusal['cause'],
  refuse: Refuse,
): Promise<void> {
  if (res.writableEnded || isClientGone(res)) return;
  let mode: Mode = 'mute';
  const lastWords = res.headersSent ? () => sendEnd(res, cause) : undefined;
  interceptMethods(res, () => mode);
  const send =
    lastWords ?? (await refuse(req, res, cause).catch(() => () => sendProblem(res, cause.code, cause.detail)));
  mode = 'open';
  send();
  mode = 'out';
}

function sendEnd(res: Response, { code, detail }: PassRefusal['cause']): void {
  if (/^text\/event-stream\b/i.test(String(res.getHeader('Content-Type')))) {
    const id = res.getHeader(REQUEST_ID_HEADER);
    const data = JSON.stringify(problem(code, detail, typeof id === 'string' ? { request_id: id } : {}));
    // The handler may have been in the middle of an event.
    return void res.end(`\n\nevent: payment_required\ndata: ${data}\n\n`);
  }
  // Its client would wait for the rest of a response whose length was told.
  if (res.hasHeader('Content-Length')) res.once('finish', () => res.req.socket.end());
  res.end();
}

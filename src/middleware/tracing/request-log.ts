import type { Request, RequestHandler, Response } from 'express';
import { defined } from '../../lib/defined.js';
import { clientIp } from '../../lib/http/client-ip.js';
import { onceOver } from '../../lib/http/connection-events.js';
import { requestIdOf } from '../gate/request-id.js';
import { paymentOf, walletOf } from '../gate/request-properties.js';
import { problemCodeOf } from '../gate/respond.js';

/** Where log lines go; a pino logger is one. */
export interface RequestLogger {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const LONGEST_PATH = 500;
const LONGEST_AGENT = 200;
/** Secrets of ours by how they begin: of keys, of webhooks, of projects. Some people put them into addresses. */
const SECRETS = /(toll_sk_|whsec_|gws_)[\w+/=-]+/g;

/**
 * Express middleware that writes one line for each request when it is over: method, path, status, milliseconds, id, and the
 * wallet, if one paid or was proven. Queries, headers and bodies are not written: they hold tokens, keys and payments.
 */
export function logRequests(logger: RequestLogger): RequestHandler {
  return (req, res, next) => {
    const since = performance.now();
    const id = requestIdOf(res);
    const { method, originalUrl } = req;
    onceOver(res, () => {
      const line = {
        request_id: id,
        method,
        path: pathOf(originalUrl),
        status: res.statusCode,
        ms: Math.round((performance.now() - since) * 10) / 10,
        ...(res.writableFinished ? {} : { aborted: true }),
        ...outcomeOf(req, res),
      };
      if (res.statusCode >= 500) logger.error(line, 'request');
      else logger.info(line, 'request');
    });
    next();
  };
}

function outcomeOf(req: Request, res: Response): object {
  const code = problemCodeOf(res);
  const payer = paymentOf(req)?.payer;
  const wallet = walletOf(req)?.address;
  const agent = req.get('user-agent')?.slice(0, LONGEST_AGENT);
  return defined({ code, payer, wallet, ip: clientIp(req), agent });
}

function pathOf(url: string): string {
  const [path = ''] = url.split('?', 1);
  return path.slice(0, LONGEST_PATH).replace(SECRETS, '$1[redacted]');
}

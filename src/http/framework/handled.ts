import type { Request, RequestHandler, Response } from 'express';

/** A handler that answers later: its failure goes to the error handlers, in Express 4 as well, which does not wait for promises. */
export function handled(handle: (req: Request, res: Response) => Promise<void>): RequestHandler {
  return (req, res, next) => {
    handle(req, res).catch(next);
  };
}

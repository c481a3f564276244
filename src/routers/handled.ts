import type { Request, RequestHandler, Response } from 'express';

/** A handler that may be asynchronous: Express 4 does not wait for promises. */
export function handled(handle: (req: Request, res: Response) => Promise<void>): RequestHandler {
  return (req, res, next) => {
    handle(req, res).catch(next);
  };
}

// An app that has properties of these names itself, and does nothing else about it: its own declarations win.
import type { Express as App } from 'express';
import { type Gate, paymentOf, serviceKeyOf, tierOf, walletOf } from 'tollhouse';
import { holds, type Same } from '../exact.mjs';

interface Own {
  readonly mine: true;
}

declare global {
  namespace Express {
    interface Request {
      payment?: Own;
      wallet?: Own;
      tier?: Own;
      serviceKey?: Own;
    }
  }
}

export function routes(app: App, gate: Gate): void {
  app.get('/b/:id', gate, (req, res) => {
    holds<Same<typeof req.payment, Own | undefined>>();
    holds<Same<typeof req.params.id, string>>();
    const told = [req.wallet?.mine, req.tier?.mine, req.serviceKey?.mine];
    res.json([told, paymentOf(req)?.payer, walletOf(req)?.address, tierOf(req)?.id, serviceKeyOf(req)?.owner]);
  });
}

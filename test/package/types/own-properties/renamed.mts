// The same app where library checks are on, or its declarations come first: it says which names are its own.
import type { Express as App } from 'express';
import { type Gate, paymentOf, type RequestPayment } from 'tollhouse';
import { holds, type Same } from '../exact.mjs';

interface Own {
  readonly mine: true;
}

declare global {
  namespace Tollhouse {
    interface RequestNames {
      payment: 'x402';
      wallet: false;
    }
  }
  namespace Express {
    interface Request {
      payment?: Own;
      wallet: Own;
    }
  }
}

export function routes(app: App, gate: Gate): void {
  app.get('/b/:id', gate, (req, res) => {
    holds<Same<typeof req.payment, Own | undefined>>();
    holds<Same<typeof req.x402, RequestPayment | undefined>>();
    res.json([req.wallet.mine, req.params.id, req.tier?.id, paymentOf(req)?.payer]);
  });
}

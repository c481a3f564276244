import { Router } from 'express';
import type { Facilitator } from '../facilitator/types.js';
import { VERSION } from './version.js';

/** `GET /health` (interface-specification.md): always quick, 200 while the process can serve. */
export function createHealthRouter(facilitator: Facilitator): Router {
  const router = Router();
  router.get('/health', async (_req, res, next) => {
    try {
      const { status, wallet } = await facilitator.health();
      res.json({
        status: status === 'active' ? 'healthy' : 'degraded',
        version: VERSION,
        networks: { [facilitator.network]: status },
        facilitation: { status: status === 'down' ? 'disabled' : 'enabled', wallet },
      });
    } catch (error) {
      next(error);
    }
  });
  return router;
}

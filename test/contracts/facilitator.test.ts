import { remoteFacilitator } from '../../src/facilitator/remote/remote-facilitator.js';
import { SANDBOX_TOKENS } from '../../src/protocol/networks/tokens.js';
import { serveFacilitator } from '../helpers/facilitator-server.js';
import { QUICK } from '../helpers/toll-stand.js';
import { facilitatorContract } from './facilitator.js';

facilitatorContract('embedded', async (stand, options) => {
  const facilitator = stand.facilitatorWith(options, QUICK);
  return { facilitator, close: () => facilitator.close() };
});

facilitatorContract('remote, over HTTP', async (stand, options) => {
  const embedded = stand.facilitatorWith(options, QUICK);
  const server = await serveFacilitator(embedded);
  const facilitator = remoteFacilitator({ url: server.url, network: 'solana-devnet', tokens: SANDBOX_TOKENS });
  return {
    facilitator,
    async close() {
      await facilitator.close();
      await server.close();
      await embedded.close();
    },
  };
});

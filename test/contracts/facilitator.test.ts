import { remoteFacilitator } from '../../src/facilitator/remote/remote-facilitator.js';
import { SANDBOX_TOKENS } from '../../src/protocol/networks/tokens.js';
import { serveFacilitator } from '../helpers/fixtures/facilitator-server.js';
import { QUICK } from '../helpers/fixtures/toll-fixture.js';
import { facilitatorContract } from './facilitator.js';

facilitatorContract('embedded', async (fixture, options) => {
  const facilitator = fixture.facilitatorWith(options, QUICK);
  return { facilitator, close: () => facilitator.close() };
});

facilitatorContract('remote, over HTTP', async (fixture, options) => {
  const embedded = fixture.facilitatorWith(options, QUICK);
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

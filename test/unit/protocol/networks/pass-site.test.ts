import fc from 'fast-check';
import { networkOfSite, siteOfGate } from '../../../../src/protocol/networks/pass-site.js';
import { NETWORK_IDS } from '../../../../src/protocol/types.js';
import { walletKey } from '../../../helpers/transactions/wallet-key.js';

test('a site of a gate tells its network, whoever sells wherever', () => {
  const seller = walletKey('seller').address;
  const origins = fc.option(fc.webUrl(), { nil: undefined });
  fc.assert(
    fc.property(origins, fc.constantFrom(...NETWORK_IDS), (baseUrl, network) => {
      expect(networkOfSite(siteOfGate(baseUrl, seller, network))).toBe(network);
    }),
  );
});

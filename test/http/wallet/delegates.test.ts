import { createHoldingTimes } from '../../../src/access/holding-times.js';
import { createHoldings } from '../../../src/access/holdings.js';
import { createGateway } from '../../../src/gateway/create-gateway.js';
import { createDelegations, type Delegations } from '../../../src/identity/delegations.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { Storage } from '../../../src/storage/storage.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { signIn } from '../../helpers/http/sign-in.js';
import { type WalletKey, walletKey } from '../../helpers/transactions/wallet-key.js';

const HOUR = 3_600_000;
let names = 0;

describe('what a wallet may that stands for a holder', () => {
  let fixture: TollFixture;
  let storage: Storage;
  let delegations: Delegations;
  let mint: string;
  let url: string;
  let time = Date.parse('2026-01-01T00:00:00Z');
  let goOn: (hours: number) => Promise<void>;
  let suspend: (wallet: WalletKey) => Promise<unknown>;

  beforeAll(async () => {
    fixture = await openTollFixture({ slotMs: 0, confirmedAfterSlots: 0 });
    const now = () => time;
    storage = await openStorage('memory:', { now });
    const facilitator = fixture.facilitatorWith({ storage });
    ({ mint } = fixture.sandbox.createMint({ decimals: 0 }));
    delegations = createDelegations({ facilitator, domain: 'club.example', now });
    const times = createHoldingTimes({ store: storage.heldTimes, now });
    goOn = async (hours) => {
      for (let passed = 0; passed < hours; passed += 1) {
        time += HOUR;
        await times.look();
      }
    };
    const operator = fresh().address;
    const gateway = createGateway({ facilitator, storage, operators: [operator], now });
    suspend = ({ address }) => gateway.operator.suspend({ wallet: operator }, { kind: 'wallet', target: address });
    const held = { mint, minBalance: 1, holdings: createHoldings({ facilitator, staleMs: 0 }), delegations };
    const forLong = { ...held, heldFor: '24h', holdingTimes: times };
    const sold = { facilitator, payTo: fixture.payTo, price: '$0.01' };
    const holders = [{ ...held, allowance: { uses: 2, per: '30d' } }];
    url = await fixture.serve((app) => {
      app.get('/club', requireTokenBalance({ facilitator, ...held }), (_req, res) => void res.send('in'));
      app.get('/long', requireTokenBalance({ facilitator, ...forLong }), (_req, res) => void res.send('in'));
      app.get('/had', requirePayment({ ...sold, holders }), (_req, res) => void res.send('had'));
    });
  });
  afterAll(async () => {
    await fixture.close();
    await storage.close();
  });

  const fresh = () => walletKey(`delegate ${names++}`);
  function holder(): WalletKey {
    const wallet = fresh();
    fixture.sandbox.fundToken(wallet.address, mint, 1n);
    return wallet;
  }
  async function standsFor(cold: WalletKey): Promise<WalletKey> {
    const hot = fresh();
    const message = delegations.statement({ holder: cold.address, delegate: hot.address });
    await delegations.accept(hot.address, { message, signature: cold.sign(message) });
    return hot;
  }
  async function enter(path: string, wallet: WalletKey) {
    const answer = await fetch(url + path, { headers: await signIn(wallet, url + path) });
    const { code } = answer.status === 403 ? ((await answer.json()) as { readonly code?: string }) : {};
    return code ?? answer.status;
  }

  test('is to come in at once where holdings must last, for one that has held long enough, and again and again', async () => {
    const cold = holder();
    expect(await enter('/long', cold)).toBe('held_too_short');
    await goOn(24);
    const hot = await standsFor(cold);
    expect([await enter('/long', hot), await enter('/long', cold), await enter('/long', hot)]).toEqual([200, 200, 200]);
  });

  test('is not to pass a holding around that must last: another waits as long as that', async () => {
    const cold = holder();
    expect(await enter('/long', cold)).toBe('held_too_short');
    await goOn(24);
    const statuses: unknown[] = [];
    for (let strangers = 0; strangers < 5; strangers += 1) statuses.push(await enter('/long', await standsFor(cold)));
    expect(statuses).toEqual([200, ...Array(4).fill('held_too_short')]);
    const next = await standsFor(cold);
    await goOn(24);
    expect(await enter('/long', next)).toBe(200);
  });

  test('is to use the allowance of the holder, and none of its own', async () => {
    const cold = holder();
    const served = [await enter('/had', cold)];
    for (let delegates = 0; delegates < 3; delegates += 1) served.push(await enter('/had', await standsFor(cold)));
    expect(served).toEqual([200, 200, 402, 402]);
  });

  test('ends where an operator suspends the holder', async () => {
    const cold = holder();
    const hot = await standsFor(cold);
    expect(await enter('/club', hot)).toBe(200);
    await suspend(cold);
    expect([await enter('/club', hot), await enter('/had', hot)]).toEqual(['wallet_suspended', 402]);
  });
});

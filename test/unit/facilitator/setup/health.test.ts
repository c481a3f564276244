import { createHealthMonitor, type FacilitatorHealth } from '../../../../src/facilitator/setup/health.js';
import { GENESIS_HASHES } from '../../../../src/protocol/networks/networks.js';
import { createMemoryLedger } from '../../../../src/storage/ledger/memory-ledger.js';
import { NETWORK, OUTAGE } from '../../../helpers/fixtures/payment-service-fixture.js';
import { ledgerWith } from '../../../helpers/storage/ledgers.js';
import { testClock } from '../../../helpers/test-clock.js';

const WALLET = 'wallet';

/** A monitor; a test says what the chain and the ledger answer. */
function open() {
  const { now, advance } = testClock(0);
  const answers: { lamports: bigint | null | Error; genesis: string | Error; ledger: Error | undefined } = {
    lamports: 1_890_880n,
    genesis: GENESIS_HASHES[NETWORK],
    ledger: undefined,
  };
  let looks = 0;
  const ledger = ledgerWith(createMemoryLedger(), {
    async find() {
      if (answers.ledger !== undefined) throw answers.ledger;
      return undefined;
    },
  });
  const monitor = createHealthMonitor({
    network: NETWORK,
    wallet: WALLET,
    ledger,
    now,
    rpc: {
      async getAccounts() {
        looks += 1;
        if (answers.lamports instanceof Error) throw answers.lamports;
        return [answers.lamports === null ? null : { lamports: answers.lamports, owner: '', data: new Uint8Array() }];
      },
      async getGenesisHash() {
        if (answers.genesis instanceof Error) throw answers.genesis;
        return answers.genesis;
      },
    },
  });
  return { monitor, answers, advance, looks: () => looks };
}

type Answers = ReturnType<typeof open>['answers'];

test.each<[Partial<Answers>, FacilitatorHealth['status'], FacilitatorHealth['faults']]>([
  [{}, 'active', []],
  [{ lamports: 1_890_880n }, 'active', []],
  [{ lamports: 1_890_879n }, 'degraded', ['fee_payer_low']],
  [{ lamports: 900_880n }, 'degraded', ['fee_payer_low']],
  [{ lamports: 900_879n }, 'down', ['fee_payer_empty']],
  [{ lamports: null }, 'down', ['fee_payer_empty']],
  [{ lamports: OUTAGE }, 'down', ['rpc_unreachable']],
  [{ ledger: OUTAGE }, 'down', ['store_unreachable']],
  [{ genesis: GENESIS_HASHES.solana }, 'down', ['wrong_network']],
  [{ genesis: OUTAGE }, 'active', []],
  [
    { lamports: 0n, genesis: GENESIS_HASHES.solana, ledger: OUTAGE },
    'down',
    ['fee_payer_empty', 'wrong_network', 'store_unreachable'],
  ],
])('all faults are told, and how bad they are: %#', async (changed, status, faults) => {
  const { monitor, answers } = open();
  Object.assign(answers, changed);
  const { lamports } = answers;
  const held = lamports instanceof Error ? {} : { lamports: lamports ?? 0n };
  const health = await monitor.check();
  expect(health).toEqual({ status, wallet: WALLET, ...held, faults });
  expect(monitor.known()).toBe(health);
});

test('it is looked once in five seconds, however many ask', async () => {
  const { monitor, advance, looks } = open();
  expect(monitor.known()).toBeUndefined();
  const [one, other] = await Promise.all([monitor.check(), monitor.check()]);
  expect(one).toBe(other);
  await advance(4_999);
  expect(await monitor.check()).toBe(one);
  expect(looks()).toBe(1);
  await advance(1);
  expect(await monitor.check()).not.toBe(one);
  expect(looks()).toBe(2);
});

test('an endpoint that was the right one once is not asked again, and not blamed', async () => {
  const { monitor, answers, advance } = open();
  await monitor.check();
  answers.genesis = GENESIS_HASHES.solana;
  await advance(5_000);
  expect(await monitor.check()).toMatchObject({ status: 'active', faults: [] });
});

test('while it is down, who asks what is known has things looked at again', async () => {
  const { monitor, answers, advance, looks } = open();
  answers.lamports = 0n;
  await monitor.check();
  answers.lamports = 1_890_880n;
  await advance(5_000);
  expect(monitor.known()?.status).toBe('down');
  expect(looks()).toBe(2);
  await monitor.check();
  await advance(5_000);
  expect([monitor.known()?.status, looks()]).toEqual(['active', 2]);
});

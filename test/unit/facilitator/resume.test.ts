import { Keypair } from '@solana/web3.js';
import { inspectPayment } from '../../../src/facilitator/backend/inspect-payment.js';
import { createLandedReader } from '../../../src/facilitator/backend/landed-reader.js';
import { createChainBackend } from '../../../src/facilitator/chain/chain-backend.js';
import { createHealthMonitor } from '../../../src/facilitator/setup/health.js';
import { KNOWN_TOKENS } from '../../../src/protocol/networks/tokens.js';
import { createKeyedWallets } from '../../../src/solana/accounts/keyed-wallets.js';
import { createMintPolicy } from '../../../src/solana/accounts/mint-policy.js';
import { createReceivingAccounts } from '../../../src/solana/accounts/receiving-accounts.js';
import { buildPaymentTransaction } from '../../../src/solana/building/payment-transaction.js';
import { createBlockhashCache } from '../../../src/solana/confirmation/blockhash-cache.js';
import { createTransactionDelivery } from '../../../src/solana/confirmation/delivery.js';
import { createFeePayer } from '../../../src/solana/fee-payer.js';
import { createSolanaRpc } from '../../../src/solana/rpc/rpc-client.js';
import { createMemoryLedger } from '../../../src/storage/ledger/memory-ledger.js';
import { newSponsorship } from '../../helpers/sponsorship.js';

const network = 'solana-devnet';
const SIGNATURE = '5'.repeat(88);

function newPayment(feePayer: string) {
  const [usdc] = KNOWN_TOKENS[network];
  const { mint: asset, program: tokenProgram, decimals } = usdc!;
  const payTo = Keypair.generate().publicKey.toBase58();
  const [amount, blockhash] = [10_000n, Keypair.generate().publicKey.toBase58()];
  const terms = { scheme: 'exact', network, asset, amount, payTo, maxTimeoutSeconds: 60, feePayer } as const;
  const input = { payer: Keypair.generate(), feePayer, asset, tokenProgram, decimals, amount, payTo, blockhash };
  return { terms, payment: { scheme: 'exact', network, transaction: buildPaymentTransaction(input) } as const };
}

test('a payment that was sent before is pending, not free, when the chain cannot be asked any more', async () => {
  const feePayer = createFeePayer(Keypair.generate(), 'test');
  const rpc = createSolanaRpc({ urls: 'http://127.0.0.1:1' });
  const delivery = createTransactionDelivery({ rpc });
  const policy = { managedKeys: new Set([feePayer.address]), maxFeeLamports: 100_000n };
  const ledger = createMemoryLedger();
  const backend = createChainBackend({
    network,
    rpc,
    delivery,
    policy,
    blockhashes: createBlockhashCache({ rpc }),
    receiving: createReceivingAccounts(rpc),
    wallets: createKeyedWallets(rpc),
    mintPolicy: createMintPolicy({ rpc, allowedMints: new Set(), trustedMints: new Set() }),
    feePayers: new Map([[feePayer.address, feePayer]]),
    landed: createLandedReader(rpc),
    monitor: createHealthMonitor({ rpc, network: 'solana-devnet', ledger, wallet: feePayer.address }),
    ...newSponsorship(rpc, 0n),
    settleTimeoutMs: 1_000,
  });
  const { payment, terms } = newPayment(feePayer.address);
  const inspection = inspectPayment(payment, terms, network, policy);
  if (!inspection.ok) throw new Error(inspection.refusal.message);
  const { inspected } = inspection;
  const { messageHash: id, blockhash } = inspected.transaction;
  const record = {
    id,
    state: 'broadcast',
    binding: 'x',
    payer: inspected.payer,
    terms,
    blockhash,
    claimedAt: 0,
  } as const;
  const note = async () => true;
  await delivery.close();

  const step = { commitment: 'confirmed', recordBroadcast: note, notSent: note } as const;
  const settlement = await backend.resume(inspected, { ...record, signature: SIGNATURE }, step);
  expect(settlement).toEqual({ status: 'pending', signature: SIGNATURE, payer: inspected.payer });
  await backend.close();
});

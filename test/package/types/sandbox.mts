import {
  type Calls,
  type CreatedMint,
  demoWallet,
  type Fault,
  type FaultKind,
  type Faults,
  type MintExtensions,
  type MintOptions,
  type PayLimits,
  type ProofHeaders,
  type RefusedResponse,
  type RuntimeAccount,
  type Sandbox,
  type SandboxNetwork,
  type SandboxOptions,
  startSandbox,
  type WalletFunds,
} from 'tollhouse/sandbox';
import { holds, type Same } from './exact.mjs';

export async function play(): Promise<Sandbox> {
  const network: SandboxNetwork = 'solana-devnet';
  const options: SandboxOptions = { network, slotMs: 0, confirmedAfterSlots: 1, maxBlockhashAgeBlocks: 300 };
  const sandbox = await startSandbox(options);
  const funds: WalletFunds = { sol: '1', usdc: '20' };
  const { publicKey } = await sandbox.createWallet(funds);
  const extensions: MintExtensions = { permanentDelegate: publicKey };
  const wanted: MintOptions = { decimals: 0, extensions };
  const created: CreatedMint = sandbox.createMint(wanted);
  sandbox.airdrop(publicKey, 1n);
  sandbox.fundToken(demoWallet(0).publicKey, created.mint, 1n);
  holds<Same<ReturnType<typeof sandbox.balance>, bigint>>();
  const state: RuntimeAccount | null = sandbox.account(publicKey);
  if (state !== null) sandbox.setAccount(publicKey, { ...state, lamports: state.lamports + 1n });
  const kind: FaultKind = 'delay';
  const fault: Fault = { kind, method: 'getAccountInfo', delayMs: 1 };
  const faults: Faults = sandbox.faults;
  faults.add(fault).remove();
  const limits: PayLimits = { maxAmount: '0.5' };
  const buyer = await sandbox.createWallet();
  const refused: RefusedResponse = await sandbox.fetchAs(buyer, limits)('http://localhost/', { method: 'POST' });
  const headers: ProofHeaders = {
    ...sandbox.signInHeaders(buyer, refused),
    ...sandbox.paymentHeaders(buyer, refused, limits),
  };
  await fetch('http://localhost/', { headers });
  const calls: Calls = sandbox.calls;
  holds<Same<typeof calls.total, number>>();
  // @ts-expect-error there is no such network
  await startSandbox({ network: 'solana-testnet' });
  return sandbox;
}

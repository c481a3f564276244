import { createFacilitator } from '../../facilitator/create-facilitator.js';
import type { SetupFinding } from '../../facilitator/setup/setup-finding.js';
import { addressOf } from '../../protocol/address.js';
import type { NetworkId } from '../../protocol/types.js';
import { readKeypair } from '../../solana/keypair.js';
import { createMemoryLedger } from '../../storage/ledger/memory-ledger.js';
import { connectChain } from '../chain-parts.js';
import type { ChainConfiguration } from '../configuration/chain-configuration.js';
import type { ServerConfiguration } from '../configuration/configuration.js';
import { withVariablesOf } from '../configuration/network-variables.js';
import { broken, type Examined, risky, well } from './examination.js';
import { examineRefunds, refundWallet } from './examine-refunds.js';

const WHERE = 'tollhouse doctor';
/** What the demo route costs. */
const PRICE = '$0.01';

/** Looks at the chain as the server would use it: RPC, WebSocket, keys, and the wallets that are to be paid. */
export async function examineChain(configuration: ServerConfiguration): Promise<readonly Examined[]> {
  const { otherChains = [] } = configuration;
  const first = await examineOne(configuration);
  const others = otherChains.map(async (chain) => {
    const found = await examineOne({ ...configuration, chain, otherChains: [], tokens: [], payTo: undefined });
    return found.map((it) => ofFurther(chain.network, it));
  });
  return [...first, ...(await Promise.all(others)).flat()];
}

/** What was found of a network that is not the first one, by the names that its own variables have. */
function ofFurther(network: NetworkId, { what, fix, ...found }: Examined): Examined {
  const named = { ...found, what: `${withVariablesOf(network, what)} (${network})` };
  return fix === undefined ? named : { ...named, fix: withVariablesOf(network, fix) };
}

async function examineOne(configuration: ServerConfiguration): Promise<readonly Examined[]> {
  const { chain, payTo } = configuration;
  if (chain === undefined) {
    const detail = 'are not set: the server runs on a sandbox chain of its own, where nothing has any value';
    return [risky('SOLANA_NETWORK, FACILITATOR_KEYPAIR', detail, 'set both; npx tollhouse keygen makes a key')];
  }
  const feePayers = chain.keypair.map((key) => addressOf(readKeypair(key, WHERE).publicKey));
  const splitWallets = (chain.splitKeypair ?? []).map((key) => addressOf(readKeypair(key, WHERE).publicKey));
  if (splitWallets.some((it) => feePayers.includes(it))) {
    const detail = 'holds a key that pays network fees as well';
    return [broken('SPLIT_KEYPAIR', detail, 'give it a key of its own: npx tollhouse keygen --out split.json')];
  }
  const refunds = refundWallet(chain, [...feePayers, ...splitWallets]);
  if (!refunds.ok) return [refunds.fault];
  const recipients = [...new Set([payTo, splitWallets[0]].flatMap((it) => it ?? []))];
  return [
    ...examineKeys(chain, payTo, splitWallets),
    ...sorted(await findingsOf(configuration, recipients), chain, feePayers, recipients),
    ...(await examineRefunds(configuration, chain, refunds.wallet)),
  ];
}

function examineKeys(
  { network, rpcUrl }: ChainConfiguration,
  payTo: string | undefined,
  splitWallets: readonly string[],
): readonly Examined[] {
  const found: Examined[] = [];
  if (rpcUrl === undefined) {
    const detail = `is not set: the public RPC of ${network} serves few requests and promises nothing`;
    found.push(risky('SOLANA_RPC_URL', detail, 'SOLANA_RPC_URL=<the address of your RPC provider>'));
  }
  if (payTo !== undefined && splitWallets.includes(payTo)) {
    const detail = 'is a split wallet: what is yours there cannot be told from what is owed to others';
    found.push(risky('PAY_TO', detail, 'set PAY_TO to a wallet of your own'));
  }
  return found;
}

async function findingsOf(
  configuration: ServerConfiguration,
  payTo: readonly string[],
): Promise<readonly SetupFinding[]> {
  // What refunds need is looked at beside it: they are written down in the database, which is not opened here.
  const { refunds: _refunds, ...facilitatorOptions } = (await connectChain(configuration)).facilitatorOptions;
  const ledger = createMemoryLedger();
  const facilitator = createFacilitator({ ...facilitatorOptions, ledger, blockhashHints: false, check: false });
  try {
    return (await facilitator.check({ payTo, price: PRICE })).findings;
  } finally {
    await facilitator.close();
  }
}

/** What the findings are about, by how their codes begin. */
const AREAS: readonly { readonly name: string; readonly codes: RegExp }[] = [
  { name: 'RPC', codes: /^(rpc_|wrong_network|no_inner)/ },
  { name: 'WebSocket', codes: /^websocket_/ },
  { name: 'fee payer', codes: /^fee_payer_/ },
  { name: 'PAY_TO', codes: /^(recipient_|mint_|price_)/ },
];

function sorted(
  findings: readonly SetupFinding[],
  { network, wsUrl }: ChainConfiguration,
  feePayers: readonly string[],
  recipients: readonly string[],
): readonly Examined[] {
  const isBlind = findings.some(({ code, severity }) => severity === 'error' && AREAS[0]?.codes.test(code));
  const wells: readonly (string | undefined)[] = [
    `answers, and belongs to ${network}`,
    wsUrl === undefined ? 'is not set: confirmations are polled' : 'takes subscriptions',
    isBlind ? undefined : `${feePayers[0]} holds enough SOL`,
    isBlind ? undefined : recipientsWell(recipients),
  ];
  return AREAS.flatMap(({ name, codes }, index): readonly Examined[] => {
    const found = findings.filter(({ code }) => codes.test(code));
    const detail = wells[index];
    if (found.length === 0) return detail === undefined ? [] : [well(name, detail)];
    return found.map((it) => (it.severity === 'error' ? broken : risky)(name, it.detail, it.fix));
  });
}

function recipientsWell(recipients: readonly string[]): string {
  if (recipients.length === 0) return 'is not set: there is no demo route';
  return `${recipients.join(' and ')} can receive USDC`;
}

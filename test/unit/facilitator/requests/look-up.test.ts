import { lookUpSignature } from '../../../../src/facilitator/requests/look-up.js';
import type { Commitment } from '../../../../src/protocol/types.js';
import type { LandedTransaction } from '../../../../src/solana/rpc/landed-transaction.js';
import { RpcError, type SolanaRpc } from '../../../../src/solana/rpc/rpc.js';
import { NATIVE_SOL } from '../../../../src/solana/transaction/programs.js';
import { fakeNode, rejectionOf } from '../../../helpers/nodes/fake-node.js';
import { solTransfer } from '../../../helpers/request-parts.js';
import { walletKey } from '../../../helpers/transactions/wallet-key.js';

const SIGNATURE = 'signature';
const [from, to] = ['from', 'to'].map((name) => walletKey(name).address) as [string, string];
const TRANSFER = { asset: NATIVE_SOL, amount: 5n, decimals: 9, from, to };

const RECEIVED = TRANSFER;
const NOTHING = { received: [], transfers: [] };

const LANDED: LandedTransaction = {
  slot: 95,
  blockTime: undefined,
  messageHash: '',
  blockhash: '',
  err: null,
  requiredSignatures: 1,
  feeLamports: 5_000n,
  computeUnits: 150,
  accounts: [from, to, NATIVE_SOL],
  instructions: [{ program: NATIVE_SOL, accounts: [from, to], data: solTransfer(5) }],
  signedInstructions: [],
  lamports: new Map([
    [from, { before: 5_010n, after: 5n }],
    [to, { before: 0n, after: 5n }],
  ]),
  tokenAccounts: new Map(),
};

interface State {
  readonly slot?: number;
  readonly commitment: Commitment;
  readonly err?: unknown;
}

function lookUp(state: State | null, landed: LandedTransaction | null = LANDED) {
  const asked: unknown[] = [];
  const node: SolanaRpc = fakeNode({
    async getSignatureStatuses(signatures, options) {
      asked.push([signatures, options]);
      return { slot: 100, states: [state === null ? null : { slot: 90, err: null, ...state }] };
    },
    async getTransaction(signature, commitment) {
      asked.push([signature, commitment]);
      return landed;
    },
  });
  return { asked, answer: lookUpSignature(SIGNATURE, node) };
}

const STATUS_CALL = [[SIGNATURE], { searchHistory: true }];
const TRANSACTION_CALL = [SIGNATURE, 'confirmed'];

test.each<[string, State | null, LandedTransaction | null, object, unknown[]]>([
  ['of which nothing is known', null, LANDED, { status: 'not_found', ...NOTHING }, [STATUS_CALL]],
  [
    'that is processed only',
    { commitment: 'processed' },
    LANDED,
    { status: 'pending', slot: 90, confirmations: 10, ...NOTHING },
    [STATUS_CALL],
  ],
  [
    'that is processed and failed',
    { commitment: 'processed', err: 'x' },
    LANDED,
    { status: 'failed', slot: 90, confirmations: 10, ...NOTHING },
    [STATUS_CALL],
  ],
  [
    'that the node cannot tell yet',
    { commitment: 'confirmed' },
    null,
    { status: 'pending', slot: 90, confirmations: 10, ...NOTHING },
    [STATUS_CALL, TRANSACTION_CALL],
  ],
  [
    'that failed',
    { commitment: 'finalized', err: { InstructionError: [0, 'x'] } },
    LANDED,
    { status: 'failed', slot: 90, confirmations: 10, ...NOTHING },
    [STATUS_CALL, TRANSACTION_CALL],
  ],
  [
    'that is confirmed',
    { commitment: 'confirmed' },
    LANDED,
    { status: 'confirmed', slot: 95, confirmations: 10, received: [RECEIVED], transfers: [TRANSFER] },
    [STATUS_CALL, TRANSACTION_CALL],
  ],
  [
    'that is finalized',
    { commitment: 'finalized' },
    LANDED,
    { status: 'finalized', slot: 95, confirmations: 10, received: [RECEIVED], transfers: [TRANSFER] },
    [STATUS_CALL, TRANSACTION_CALL],
  ],
  [
    'of which the node says another thing than of its status',
    { commitment: 'confirmed' },
    { ...LANDED, err: { InstructionError: [0, 'x'] } },
    { status: 'failed', slot: 95, confirmations: 10, ...NOTHING },
    [STATUS_CALL, TRANSACTION_CALL],
  ],
  [
    'that is newer than the tip of the node',
    { slot: 101, commitment: 'processed' },
    null,
    { status: 'pending', slot: 101, confirmations: 0, ...NOTHING },
    [STATUS_CALL],
  ],
])('a signature %s', async (_name, state, landed, expected, calls) => {
  const { asked, answer } = lookUp(state, landed);
  expect(await answer).toEqual(expected);
  expect(asked).toEqual(calls);
});

test('an outage is told as one', async () => {
  const node = fakeNode({ getSignatureStatuses: () => Promise.reject(new RpcError('unreachable', 'gone')) });
  expect(await rejectionOf(lookUpSignature(SIGNATURE, node))).toMatchObject({ code: 'chain_unavailable' });
});

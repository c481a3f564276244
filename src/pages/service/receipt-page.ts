import { modeOf } from '../../protocol/networks/networks.js';
import type { NetworkId } from '../../protocol/types.js';
import { RECEIPT_SCRIPT } from '../client-scripts.js';
import { type Markup, markup } from '../layout/markup.js';
import type { RenderedPage } from '../layout/page.js';
import { WALLET_NETWORKS } from '../paywall/paywall-content.js';
import { priceIn } from '../texts/amounts.js';
import { filledWith } from '../texts/filled-with.js';
import { momentIn } from './in-words.js';
import { type ServiceShell, servicePage } from './service-page.js';
import { webAddress } from './web-address.js';

/** A receipt as `GET /receipts/<payment>` answers it. */
export interface ReceiptContent {
  readonly status: 'settled' | 'created' | 'pending' | 'failed' | 'expired';
  readonly network: NetworkId;
  readonly payment_id: string | null;
  readonly tx_signature: string | null;
  readonly explorer_url: string | null;
  /** ISO 8601. */
  readonly paid_at: string | null;
  readonly block_number: number | null;
  readonly memo: string | null;
  readonly reason: string | null;
  readonly lines: readonly ReceiptLine[];
}

interface ReceiptLine {
  readonly to: string;
  readonly from: string | null;
  readonly amount: string;
  readonly token: string;
}

const WORDS = {
  settled: 'paid',
  created: 'notPaid',
  pending: 'pending',
  failed: 'failed',
  expired: 'expired',
} as const;

/** A receipt, to be looked at and printed. */
export function receiptPage(shell: ServiceShell, receipt: ReceiptContent): RenderedPage {
  const { texts } = shell;
  const { status, network, lines, explorer_url: explorer } = receipt;
  const address = explorer === null ? undefined : webAddress(explorer);
  const look = address && markup`<p class="no-print"><a href="${address}" rel="noreferrer">${texts.explorer}</a></p>`;
  return servicePage(shell, {
    title: texts.receipt,
    content: markup`<article class="card receipt">
${testMark(shell, network)}<div class="row"><h1>${texts.receipt}</h1><strong class="state ${status}">${texts[WORDS[status]]}</strong></div>
${lines.map((it) => lineOf(shell, it))}
<dl>${facts(shell, receipt)}
<dt>${texts.network}</dt><dd>${WALLET_NETWORKS[network][0]}</dd></dl>
<p class="soft small">${texts.receiptNote}</p>
${look}<button id="print" class="plain no-print" type="button" hidden>${texts.print}</button>
</article>`,
    style: STYLE,
    script: RECEIPT_SCRIPT,
  });
}

/** First of all and larger than the rest, where what was paid is worth nothing. */
function testMark({ texts }: ServiceShell, network: NetworkId): Markup | undefined {
  if (modeOf(network) === 'live') return undefined;
  const said = filledWith(texts.testPayment, { network: WALLET_NETWORKS[network][0] });
  return markup`<p class="test"><strong>${said}</strong></p>
`;
}

function lineOf({ texts }: ServiceShell, { to, from, amount, token }: ReceiptLine): Markup {
  const payer = from === null ? undefined : markup`<dt>${texts.from}</dt><dd class="mono">${from}</dd>`;
  return markup`<section class="line"><p><strong class="price">${priceIn(texts.language, { amount, token })}</strong></p>
<dl>${payer}<dt>${texts.to}</dt><dd class="mono">${to}</dd></dl></section>
`;
}

function facts({ texts }: ServiceShell, receipt: ReceiptContent): readonly (Markup | undefined)[] {
  const { paid_at: paidAt, block_number: slot, tx_signature: signature } = receipt;
  const at = paidAt === null ? undefined : momentIn(texts.language, new Date(paidAt));
  const rows: readonly (readonly [string, Markup | string | number | null | undefined])[] = [
    [texts.date, at],
    [texts.memo, receipt.memo],
    [texts.reason, receipt.reason],
    [texts.payment, receipt.payment_id],
    [texts.transaction, signature === null ? null : markup`<span class="mono">${signature}</span>`],
    [texts.block, slot],
  ];
  return rows.map(([name, value]) => (value ? markup`<dt>${name}</dt><dd>${value}</dd>\n` : undefined));
}

const STYLE = `
.receipt { max-width: 40rem; width: 100%; margin: 0 auto; padding: 2rem 1.75rem; }
.receipt .line { border-top: 1px solid var(--line); margin-top: 1rem; padding-top: .5rem; }
.receipt .line + dl { border-top: 1px solid var(--line); padding-top: 1rem; }
.receipt .test { margin: 0 0 1rem; padding: .6rem 1rem; border: 2px dashed var(--bad); border-radius: 8px; color: var(--bad); font-size: 1.2rem; text-align: center; }
.state { align-self: center; border: 1px solid currentColor; border-radius: 99px; padding: .1rem .8rem; }
.state.failed, .state.expired { color: var(--bad); }
.receipt button { width: auto; }
@media (max-width: 17rem) { .receipt { padding: .75rem; } .receipt .test { padding: .5rem; font-size: 1rem; } }
`;

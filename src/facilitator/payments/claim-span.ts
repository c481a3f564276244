import type { Ledger, PaymentRecord } from '../../storage/ledger/ledger.js';
import { inSpan, type SpanAttributes, type TraceSpan } from '../../telemetry/trace.js';

type Claim = Ledger['claim'];
type Claimed = Pick<PaymentRecord, 'id' | 'payer' | 'terms'>;

const NOTHING_YET: SpanAttributes = {};

/** Claims a payment as a span of its own, which says what it is and whether it was won. */
export function claimInSpan(ledger: Pick<Ledger, 'claim'>, request: Parameters<Claim>[0]): ReturnType<Claim> {
  return inSpan('tollhouse.claim', NOTHING_YET, (span) =>
    span === undefined ? ledger.claim(request) : toldClaim(ledger, request, span),
  );
}

async function toldClaim(
  ledger: Pick<Ledger, 'claim'>,
  request: Parameters<Claim>[0],
  span: TraceSpan,
): ReturnType<Claim> {
  span.set(about(request));
  const claimed = await ledger.claim(request);
  span.set({ 'tollhouse.claim.status': claimed.status });
  return claimed;
}

function about({ id, payer, terms: { network, asset, amount } }: Claimed): SpanAttributes {
  return {
    'tollhouse.payment.id': id,
    'tollhouse.payer': payer,
    'tollhouse.network': network,
    'tollhouse.asset': asset,
    'tollhouse.amount': String(amount),
  };
}

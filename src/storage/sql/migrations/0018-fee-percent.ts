/** Shares of the network fees of an hour that operators have set for what wallets sell. */
export function feePercent(): readonly string[] {
  return ['alter table tollhouse_owner add column fee_percent integer'];
}

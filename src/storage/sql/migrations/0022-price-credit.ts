/**
 * Looks up who has credit for the price of a route. And what the paid request has of a pass of uses is a debit like others, which can
 * be given back.
 */
export function priceCredit(): readonly string[] {
  return [
    `create index tollhouse_pass_price on tollhouse_pass (scope) where over_at is null and scope like 'price of %'`,
    `insert into tollhouse_pass_debit (pass_id, request, amount, at)
      select id, payment_id, 1, opened_at from tollhouse_pass where kind = 'uses' on conflict do nothing`,
  ];
}

/** When it is looked for what has come for a payment request, unasked; those that were made before are looked at when somebody asks. */
export function requestLooks(): readonly string[] {
  return [
    'alter table tollhouse_payment_request add column look_at bigint',
    'create index tollhouse_request_look on tollhouse_payment_request (look_at) where look_at is not null',
  ];
}

/** How many payments operators let a wallet ask for a day that nobody makes; and what tells of asking, which is forgotten first. */
export function unpaidRequests(): readonly string[] {
  return [
    'alter table tollhouse_owner add column quota_unpaid_requests integer',
    `create index tollhouse_event_asked on tollhouse_event (at) where type = 'payment.created'`,
  ];
}

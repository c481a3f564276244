/** How many changes a day operators let a wallet make. */
export function dailyChanges(): readonly string[] {
  return ['alter table tollhouse_owner add column quota_daily_changes integer'];
}

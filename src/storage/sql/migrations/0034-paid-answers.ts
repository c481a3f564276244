/**
 * Which answers go first where there is no room: those that nobody has paid for. Runs without one do not, which say whose an id is. What
 * was kept before for no run was paid for.
 */
export function paidAnswers(): readonly string[] {
  return [
    'alter table "tollhouse_answer" add column "goes_first" integer not null default 0',
    `update "tollhouse_answer" set "goes_first" = 1 where "answer" is not null and "fingerprint" <> ''`,
    'drop index "tollhouse_answer_owner"',
    'create index "tollhouse_answer_room" on "tollhouse_answer" ("goes_first", "owner", "expires_at", "id", "size")',
  ];
}

/** Whether the last attempt at a webhook succeeded promptly. Those from before have to do so once more. */
export function promptWebhooks(): readonly string[] {
  return ['alter table "tollhouse_webhook" add column "prompt" integer default 0 not null'];
}

import type { IncomingMessage } from 'node:http';

/** Says through which proxies a call has come (RFC 8586). `Via` would do as well, but servers leave out compression where it stands. */
const FIELD = 'cdn-loop';
/** The same for every gateway: the ring of a call may go through several servers, and what it tells is no secret. */
const NAME = 'tollhouse';

type Headed = Pick<IncomingMessage, 'headers'>;

/** Through how many gateways a call has come, this one not among them. */
export function gatewayHops({ headers }: Headed): number {
  const names = textOf(headers[FIELD]).split(',');
  return names.filter((it) => it.split(';', 1)[0]?.trim().toLowerCase() === NAME).length;
}

/** The field by which the next gateway knows that the call has come through this one. */
export function hopFields({ headers }: Headed): Record<string, string> {
  const before = textOf(headers[FIELD]);
  return { [FIELD]: before === '' ? NAME : `${before}, ${NAME}` };
}

function textOf(value: string | readonly string[] | undefined): string {
  return [value ?? []].flat().join(', ');
}

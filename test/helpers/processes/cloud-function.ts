import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Express } from 'express';

/** A request as a function in a cloud is given it. */
export interface FunctionEvent {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What such a function answers. */
export interface FunctionResponse {
  readonly status: number;
  readonly headers: ReturnType<ServerResponse['getHeaders']>;
  readonly text: string;
}

/** In place of a connection, as the adapters that turn an app into such a function have it: it tells of nothing. */
const NO_CONNECTION = { remoteAddress: '127.0.0.1', readable: true, destroy() {}, end() {} };

/**
 * Calls an app as adapters for functions in a cloud do: there is no connection, the header fields are parsed ones only, and
 * the body is on the request before anybody reads it.
 */
export async function callAsFunction(app: Express, event: FunctionEvent): Promise<FunctionResponse> {
  const { method, url, body } = event;
  const req = new IncomingMessage(new Socket());
  const bytes = Buffer.from(body);
  Object.assign(req, { method, url, socket: NO_CONNECTION, complete: true, httpVersion: '1.1', body: bytes });
  Object.assign(req.headers, { ...event.headers, host: 'function.example', 'content-length': String(bytes.length) });
  req._read = () => {
    req.push(bytes);
    req.push(null);
  };
  const res = new ServerResponse(req);
  const written: Buffer[] = [];
  const connection = {
    _writableState: {},
    writable: true,
    on() {},
    removeListener() {},
    destroy() {},
    cork() {},
    uncork() {},
    // Without a response, where Node's says whether there is room for more.
    write(data: string | Uint8Array, encoding: unknown, sent = encoding): void {
      written.push(Buffer.from(data));
      if (typeof sent === 'function') sent();
    },
  };
  Reflect.apply(res.assignSocket, res, [connection]);
  res.useChunkedEncodingByDefault = false;
  res.shouldKeepAlive = false;
  const finished = once(res, 'finish');
  Reflect.apply(app, undefined, [req, res]);
  await finished;
  const [, text = ''] = Buffer.concat(written).toString().split('\r\n\r\n');
  return { status: res.statusCode, headers: res.getHeaders(), text };
}

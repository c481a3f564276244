import { isUsableInPieces } from '../../../../src/gateway/calls/usable-in-pieces.js';

test.each([
  'text/event-stream',
  'Text/Event-Stream; charset=utf-8',
  'application/x-ndjson',
  'application/jsonl ; charset=utf-8',
  'application/json-seq',
  'application/geo+json-seq',
  'multipart/x-mixed-replace; boundary=frame',
  'audio/mpeg',
  'video/mp2t',
])('of %s each piece is good for itself', (type) => {
  expect(isUsableInPieces(type)).toBe(true);
});

test.each([
  undefined,
  '',
  'application/json',
  'application/zip',
  'application/pdf',
  'application/octet-stream',
  'video/mp4',
  'text/html; of=text/event-stream',
  'text/event-stream-of-mine',
  'text/json-seq+json',
])('%s is a document, which is broken without its end', (type) => {
  expect(isUsableInPieces(type)).toBe(false);
});

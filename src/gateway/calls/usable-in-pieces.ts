/** Streams of which each piece is good for itself, whatever comes after it. */
const STREAMS: ReadonlySet<string> = new Set([
  'text/event-stream',
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/jsonlines',
  'application/x-jsonlines',
  'application/stream+json',
  'multipart/x-mixed-replace',
  'audio/mpeg',
  'audio/aac',
  'audio/aacp',
  'audio/ogg',
  'application/ogg',
  'audio/webm',
  'video/webm',
  'video/mp2t',
]);
/** JSON texts one after the other, of whatever kind (RFC 7464, RFC 8091). */
const JSON_SEQUENCE = /^application\/(?:[^;]+\+)?json-seq$/;

/**
 * Whether whoever has the beginning of a response has something for itself, by its `Content-Type`: a stream that is cut off at the bound
 * of a response was had up to there, a document is broken.
 */
export function isUsableInPieces(contentType: unknown): boolean {
  const [type = ''] = String(contentType).split(';', 1);
  const plain = type.trim().toLowerCase();
  return STREAMS.has(plain) || JSON_SEQUENCE.test(plain);
}

/** An endpoint's result does not have the shape that Solana's JSON-RPC documents. The message names the field. */
export class ResponseShapeError extends Error {
  override readonly name = 'AnswerShapeError';
}

/** Names a wallet whose share of the room responses take. A wallet has one, whatever they are kept for. */
export function walletOwner(wallet: string): string {
  return `wallet ${wallet}`;
}

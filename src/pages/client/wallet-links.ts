/** A wallet that may be had. */
export interface WalletLinks {
  readonly name: string;
  /** Where it is to be had. */
  readonly site: string;
  /** Opens an address in the wallet's own browser, on a phone. */
  readonly browse: string;
}

/** Wallets for Solana that open pages on phones, with the links that they document for that. */
const WALLETS: readonly WalletLinks[] = [
  { name: 'Phantom', site: 'https://phantom.com/download', browse: 'https://phantom.app/ul/browse/' },
  { name: 'Solflare', site: 'https://solflare.com/download', browse: 'https://solflare.com/ul/v1/browse/' },
  { name: 'Backpack', site: 'https://backpack.app/download', browse: 'https://backpack.app/ul/v1/browse/' },
];

/** Links for somebody without a wallet in this browser: on a phone into wallets, else to where they are to be had. */
export function walletLinks(canBeOpened: boolean): readonly { readonly name: string; readonly href: string }[] {
  const page = encodeURIComponent(location.href);
  const ref = encodeURIComponent(location.origin);
  return WALLETS.map(({ name, site, browse }) => ({ name, href: canBeOpened ? `${browse}${page}?ref=${ref}` : site }));
}

/** Whether this is a phone, where wallets are apps with a browser of their own. */
export function isPhone(): boolean {
  return /Android|iPhone|iPad|Mobile/i.test(navigator.userAgent);
}

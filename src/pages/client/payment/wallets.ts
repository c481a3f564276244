/** An account of a wallet (Wallet Standard). */
export interface WalletAccount {
  readonly address: string;
}

/** What Wallet Standard's features look like that are asked for here. */
export interface WalletFeatures {
  readonly 'standard:connect': {
    connect(): Promise<{ readonly accounts: readonly WalletAccount[] }>;
  };
  readonly 'solana:signTransaction'?: {
    signTransaction(input: {
      readonly account: WalletAccount;
      readonly chain: string;
      readonly transaction: Uint8Array;
    }): Promise<readonly { readonly signedTransaction: Uint8Array }[]>;
  };
  readonly 'solana:signMessage'?: {
    signMessage(input: {
      readonly account: WalletAccount;
      readonly message: Uint8Array;
    }): Promise<readonly { readonly signature: Uint8Array }[]>;
  };
}

/** A wallet as it registers itself (Wallet Standard). */
export interface Wallet {
  readonly name: string;
  /** A `data:` address. */
  readonly icon: string;
  readonly chains: readonly string[];
  readonly accounts: readonly WalletAccount[];
  readonly features: WalletFeatures;
}

/**
 * Finds wallets by the events of Wallet Standard, whichever of the two sides comes first.
 * @param found - called with each wallet that can connect and sign for Solana
 * @param signal - ends the search
 */
export function findWallets(found: (wallet: Wallet) => void, signal = new AbortController().signal): void {
  const known = new Set<Wallet>();
  const register = (...wallets: readonly Wallet[]) => {
    for (const wallet of wallets) {
      if (known.has(wallet) || !isUsable(wallet)) continue;
      known.add(wallet);
      found(wallet);
    }
    return () => undefined;
  };
  const api = Object.freeze({ register });
  const onRegister = (event: Event) => {
    const callback: unknown = Reflect.get(event, 'detail');
    if (typeof callback === 'function') callback(api);
  };
  window.addEventListener('wallet-standard:register-wallet', onRegister, { signal });
  window.dispatchEvent(new CustomEvent('wallet-standard:app-ready', { detail: api }));
}

function isUsable({ chains, features }: Wallet): boolean {
  return (
    chains.some((chain) => chain.startsWith('solana:')) &&
    'standard:connect' in features &&
    ('solana:signTransaction' in features || 'solana:signMessage' in features)
  );
}

/** The account that a wallet gives to this page, asking its owner where it must. */
export async function connect(wallet: Wallet): Promise<WalletAccount> {
  const [had] = wallet.accounts;
  if (had !== undefined) return had;
  const { accounts } = await wallet.features['standard:connect'].connect();
  const [account] = accounts;
  if (account === undefined) throw new Error('no account');
  return account;
}

/**
 * What an account of no data that holds anything must hold, in lamports: the chain takes no fee and lets no transfer through that would
 * leave less. Source: the rent of 128 bytes for two years, https://solana.com/docs/core/accounts#rent
 */
export const LEAST_LAMPORTS = 890_880n;

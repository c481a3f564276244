import type { Command } from './command.js';

/** A command as it is listed; what it does is loaded when it is asked for. */
export interface ListedCommand {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  load(): Promise<Command>;
}

/** In the order in which a user meets them: the server, those who pay, those who sell, those who run it. */
export const COMMANDS: readonly ListedCommand[] = [
  {
    name: 'serve',
    summary: 'start the facilitator, on a local sandbox chain unless configured otherwise',
    load: async () => (await import('./operator/serve.js')).serve,
  },
  {
    name: 'pay',
    summary: 'pay an x402 URL and show each step',
    load: async () => (await import('./pay/pay.js')).pay,
  },
  {
    name: 'balance',
    summary: 'show what a wallet holds',
    load: async () => (await import('./pay/balance.js')).balance,
  },
  {
    name: 'create-payment',
    summary: 'ask for a payment, and pay it with a wallet',
    load: async () => (await import('./pay/create-payment.js')).createPayment,
  },
  {
    name: 'verify',
    summary: 'look a transaction signature up on the chain',
    load: async () => (await import('./pay/verify.js')).verify,
  },
  {
    name: 'passes',
    summary: 'passes that you have paid for: list, withdraw tokens',
    load: async () => (await import('./pay/passes.js')).passesCommand,
  },
  {
    name: 'marketplace',
    summary: 'the APIs that can be called here, and what they cost',
    load: async () => (await import('./buyer/marketplace.js')).marketplaceCommand,
  },
  {
    name: 'calls',
    summary: 'your calls, or with --of those of a project of yours',
    load: async () => (await import('./buyer/calls.js')).callsCommand,
  },
  {
    name: 'receipt',
    summary: 'the receipt of a payment that you have made, or got',
    load: async () => (await import('./buyer/receipt.js')).receiptCommand,
  },
  {
    name: 'spending',
    summary: 'what your keys have spent, their budgets, and credit',
    load: async () => (await import('./buyer/spending.js')).spendingCommand,
  },
  {
    name: 'events',
    summary: 'what has happened to your keys, calls and projects',
    load: async () => (await import('./buyer/events.js')).eventsCommand,
  },
  {
    name: 'login',
    summary: 'sign in with a wallet, to sell APIs and to see what it has bought',
    load: async () => (await import('./session/login.js')).login,
  },
  {
    name: 'logout',
    summary: 'end a sign-in',
    load: async () => (await import('./session/logout.js')).logout,
  },
  {
    name: 'projects',
    summary: 'sell an API that runs already: list, create, update, import, show, pause, resume, delete',
    load: async () => (await import('./seller/projects.js')).projectsCommand,
  },
  {
    name: 'keys',
    summary: 'service keys: list, create, update, rotate, revoke',
    load: async () => (await import('./seller/keys.js')).keys,
  },
  {
    name: 'analytics',
    summary: 'calls, revenue and durations of a project',
    load: async () => (await import('./seller/analytics.js')).analytics,
  },
  {
    name: 'webhooks',
    summary: 'events: list, create, delete, test; listen shows them as they come',
    load: async () => (await import('./seller/webhooks.js')).webhooksCommand,
  },
  {
    name: 'sandbox',
    summary: 'start a local Solana chain for development',
    load: async () => (await import('./operator/sandbox.js')).sandbox,
  },
  {
    name: 'keygen',
    summary: 'make a new key in a file, for the fee payer for instance',
    load: async () => (await import('./operator/keygen.js')).keygen,
  },
  {
    name: 'accounts',
    summary: 'make the token account that a wallet needs to be paid',
    load: async () => (await import('./operator/accounts.js')).accounts,
  },
  {
    name: 'doctor',
    summary: 'look at the configuration of a server before it goes live',
    load: async () => (await import('./operator/doctor.js')).doctor,
  },
  {
    name: 'db',
    summary: 'bring the database up to date, look at it, back it up, export its payments',
    load: async () => (await import('./books/db.js')).db,
  },
  {
    name: 'reconcile',
    summary: 'compare the books with the chain',
    load: async () => (await import('./books/reconcile.js')).reconcileCommand,
  },
  {
    name: 'payouts',
    summary:
      'payouts of splits: of your project (--project), or all that are stuck here; resolve them by what the chain says',
    load: async () => (await import('./books/payouts.js')).payoutsCommand,
  },
  {
    name: 'refund',
    summary: 'pay back on the chain what a payment has left its payer',
    load: async () => (await import('./books/refund.js')).refundCommand,
  },
  {
    name: 'operator',
    summary: 'look after strangers: owners, projects, keys, suspensions, suspend, resume, quotas, audit',
    load: async () => (await import('./operator/operator.js')).operatorCommand,
  },
];

/** All that the service's own pages say, in one language; words in braces are put in. */
export interface ServiceTexts {
  /** As in BCP 47. */
  readonly language: string;
  readonly skip: string;
  readonly home: string;
  readonly marketplace: string;
  readonly docs: string;
  readonly notFound: string;
  readonly notFoundNote: string;
  readonly forPrograms: string;

  readonly tagline: string;
  readonly about: string;
  readonly active: string;
  readonly degraded: string;
  readonly down: string;
  readonly network: string;
  readonly tokens: string;
  readonly feePayer: string;
  readonly version: string;
  readonly soldHere: string;
  readonly marketplaceIs: string;
  readonly docsAre: string;

  readonly search: string;
  readonly token: string;
  readonly sort: string;
  readonly byCalls: string;
  readonly byPrice: string;
  readonly byAge: string;
  readonly show: string;
  readonly nothingFound: string;
  readonly more: string;
  readonly price: string;
  readonly orElse: string;
  readonly calls: string;
  readonly answered: string;
  readonly speed: string;
  readonly within: string;
  readonly seller: string;
  readonly since: string;
  readonly unknown: string;
  readonly tryItNote: string;
  readonly example: string;
  readonly withClient: string;
  readonly fromTerminal: string;
  readonly withKey: string;
  readonly ownDocument: string;

  readonly receipt: string;
  readonly paid: string;
  readonly notPaid: string;
  readonly pending: string;
  readonly failed: string;
  readonly expired: string;
  readonly from: string;
  readonly to: string;
  readonly date: string;
  readonly memo: string;
  readonly payment: string;
  readonly transaction: string;
  readonly block: string;
  readonly reason: string;
  readonly receiptNote: string;
  readonly print: string;
  readonly explorer: string;

  readonly credentials: string;
  readonly credentialsNote: string;
  readonly accessToken: string;
  readonly serviceKey: string;
  readonly serviceSecret: string;
  readonly parameters: string;
  readonly required: string;
  readonly body: string;
  readonly responses: string;
  readonly schema: string;
  readonly tryOut: string;
  readonly send: string;
  readonly sending: string;
  readonly status: string;
  readonly headers: string;
  readonly noAnswer: string;
  readonly cut: string;
}

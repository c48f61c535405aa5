// The charges that wait to be announced: sql/announce.sql reads them as rows.

/** SQL of ours: accounts, and the number of the next charge of each that must still be a row. */
export const RECEIPTS_TO_ANNOUNCE =
  'select account, receipts_from as next from webhook_feeds where receipts_from is not null'

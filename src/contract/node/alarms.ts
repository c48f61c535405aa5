// The alarms that Ergon raises for its operator, each with the finding. `ergon admin alarm list` prints the findings,
// and docs/guide/operating.md has the same table.

const LEDGER_ALARMS = {
  lease_exceeded: 'a charge exceeded its lease',
  books_do_not_add_up: 'the sums of the books differ',
  ledger_set_back: 'the state lost records that it had',
  session_written_off:
    'unposted records of a session were given up; its leases returned to the wallets',
} as const

const NODE_ALARMS = {
  state_unsafe:
    'a setting of the PostgreSQL of DATABASE_URL can lose commits, hide damage or change transactions; the detail has the value that is wanted',
  journal_gap: 'a journal lost records, by number',
  journal_damaged: 'a file of a journal is damaged',
  journal_missing: 'a known journal is gone',
  journal_kept: 'a journal cannot be read',
  journal_dropped: 'the operator gave up a journal',
  task_dead: 'a background task failed at its last attempt',
} as const

const STORAGE_ALARMS = {
  blob_damaged: 'a stored body is damaged or missing',
  body_damaged: 'a stored body in a row of the state is damaged',
  page_damaged: 'a page of the state cannot be read',
  blobs_unnamed: 'more bodies without a row than a kill leaves',
  folders_wrong:
    'listings of a bucket by folders lacked keys or had folders without keys; the check mends them',
} as const

const INFERENCE_ALARMS = {
  model_stuck: 'a model made no step, or its process did not answer; it was restarted',
} as const

const DATABASE_ALARMS = {
  database_certificate_refused:
    'the files of the certificate of databases cannot be used; the certificate from before is served',
  route_certificate_refused:
    'the files of a certificate of routes cannot be used; the certificate from before is served',
  route_certificate_not_ordered:
    'orders of the certificate of a route failed three times or more; it is tried again at the time of the finding',
  database_failing:
    'the server of a database does not start; the detail has the last line of its log, or that its files are missing. It starts by itself once that is mended',
  database_log_waiting:
    'the log of a database could not be stored for five minutes, or 256 MB of it wait',
  database_backup_failing: 'the nightly backups of a database failed three times in a row',
  database_restore_failed:
    'a restored database was given up after five tries, for a fault of the service; the detail has the error of the last one',
  database_log_lost:
    'a part of the log of a database was never stored: times in it cannot be restored',
} as const

const RECEIPT_ALARMS = {
  signer_share_lost: 'a signer has lost its key share',
  receipts_set_back:
    'the signers have signed leaves that the state lacks, so an old copy of one of them was restored; a new shard of the log names the signed head',
} as const

const WEBHOOK_ALARMS = {
  webhooks_behind:
    'deliveries of webhooks have been due for ten minutes, and nothing was attempted at their endpoints: see the process webhooks in ergon status',
} as const

const BUNDLE_ALARMS = {
  charges_not_bundled:
    'old charges of an account did not come back equal out of a bundle, so they stay as rows',
  bundle_damaged: 'a bundle of old charges is damaged, or the bundles of an account do not add up',
} as const

const PAYMENT_ALARMS = {
  payment_mismatch:
    'a payment processor told of an amount, a currency or a payment that is not ours; nothing was posted',
  payment_stuck:
    'the processor failed each call for a payment or refund for an hour; it is asked again each minute',
  payment_event_failing:
    'an event of a payment processor could not be applied twice; later ones are, and it is tried again each minute',
  payment_disputed:
    'the bank of a payer took a payment back, or the block of a stablecoin payment left the chain',
  stablecoin_node_wrong: 'a node of ERGON_STABLECOINS answers for another chain; it is not heard',
  stablecoin_unsure:
    'for ten minutes the nodes of a chain did not answer or did not agree about a payment',
  stablecoin_unwatched:
    'ERGON_STABLECOINS no longer has the chain of payments that are not final: nobody looks for their transfers until it has',
  stablecoin_facilitator_unfit:
    'the facilitator of a chain does not name its network with x402 version 2 and scheme exact: payments by x402 are refused there',
  stablecoin_not_settled: 'a facilitator told of a settlement that the chain does not have',
} as const

const ACCOUNT_ALARMS = {
  account_deletion_failing:
    'a part of an account could not be deleted five times in a row; it is tried again',
  refund_to_make:
    'a deleted account has unspent money of a stablecoin payment: send the tokens back, see ergon admin refund list',
  account_money_left: 'a deleted account has money that no card takes back: pay it by other means',
} as const

export const ALARMS = {
  ...LEDGER_ALARMS,
  ...NODE_ALARMS,
  ...STORAGE_ALARMS,
  ...INFERENCE_ALARMS,
  ...DATABASE_ALARMS,
  ...RECEIPT_ALARMS,
  ...BUNDLE_ALARMS,
  ...WEBHOOK_ALARMS,
  ...PAYMENT_ALARMS,
  ...ACCOUNT_ALARMS,
} as const

export type AlarmKind = keyof typeof ALARMS

/** The finding of an alarm of the state, whose newer version may know further kinds. */
export const findingOf = (kind: string): string =>
  Object.hasOwn(ALARMS, kind) ? ALARMS[kind as AlarmKind] : ''

// PostgreSQL's advisory locks that the product takes, by number: SQL and TypeScript take no others
// (advisory-locks.test.ts). States of one database lie in schemas of their own (DATABASE_URL with a
// search_path), while advisory locks are the database's: so a lock of a session has the schema as its second number.
// Without it the jobs of one state would wait for the jobs of another, for ever.

export const ADVISORY_LOCKS = {
  /** One process applies schemas. */
  schemas: 4_207_701,
  /** Numbers of credential changes commit in their order (ledger/sessions.sql). */
  credentialChanges: 4_207_702,
  /** One sealer of receipts. */
  sealer: 4_207_703,
  /** One mover of blobs. */
  mover: 4_207_704,
  /** One process runs background tasks. */
  tasks: 4_207_705,
  /** A bucket, shared by its writes, exclusive for its deletion (objects/sql/common.sql). */
  bucket: 4_207_710,
  /** One of 1024 stripes of keys (objects/sql/common.sql). */
  objectStripe: 4_207_711,
  /** The number of buckets of an account (objects/sql/bucket.sql). */
  accountBuckets: 4_207_712,
  /** The number of endpoints of an account (webhooks/sql/deliveries.sql). */
  accountWebhooks: 4_207_713,
  /** The number of resources of an account, and their hosts (resources/resources.sql). */
  accountResources: 4_207_714,
  /** The number of open evidence packs of an account (compliance/packs.sql). */
  accountPacks: 4_207_715,
  /** Members, tokens, cards and payments of an account, and its deletion (identity/account-lock.sql). */
  account: 4_207_716,
  /** The account of a host (ingress/routes.sql). */
  routedHost: 4_207_717,
  /** The resources that stacks of an account have (deployments/plan/owned.ts). */
  stacks: 4_207_718,
  /** The number of running deployments of an account (deployments/deployments.sql). */
  accountDeployments: 4_207_719,
  /** One node has the state. */
  node: 4_207_720,
  /** A folder of a bucket, by depth and one of 1024 (objects/sql/folders.sql). */
  objectFolder: 4_207_721,
} as const

/** The schema, as the second number of a lock: `pg_try_advisory_lock(<lock>, ${SCHEMA_KEY})`. An oid has no sign. */
export const SCHEMA_KEY = "hashtext(coalesce(current_schema(), '')) & 2147483647"

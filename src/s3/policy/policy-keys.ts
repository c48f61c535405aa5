// Condition keys that only some actions have (Service Authorization Reference, "Actions, resources, and condition
// keys for Amazon S3"). For all other actions a request has no value of such a key.
import { S3_OPERATIONS, versionAction } from '#contract/storage/s3-operations.ts'

const namesOf = (action: string, isVersioned: true | undefined) => ({
  action,
  versionAction: isVersioned === true ? versionAction(action) : action,
})
const OPERATIONS = Object.values(S3_OPERATIONS).flatMap((row) =>
  row.action === null ? [] : [{ ...row, ...namesOf(row.action, row.isVersioned) }],
)
const OF_OBJECTS = OPERATIONS.filter(
  ({ answer, level }) => answer === 'served' && level === 'object',
)
const BYPASS = 'BypassGovernanceRetention'
const LISTS = ['ListBucket', 'ListBucketVersions']
/** Actions that are about no existing version. */
const OF_UPLOADS = ['PutObject', 'AbortMultipartUpload', 'ListMultipartUploadParts']
const DELETES = ['DeleteObject', 'DeleteObjectVersion']

const inPolicies = (actions: readonly string[], but: readonly string[] = []): ReadonlySet<string> =>
  new Set(actions.filter((action) => !but.includes(action)).map((action) => `s3:${action}`))

const allNames = (operations: typeof OPERATIONS) =>
  operations.flatMap(({ action, versionAction }) => [action, versionAction])

/** Every action that a request may have. */
export const ACTIONS: ReadonlySet<string> = inPolicies([...allNames(OPERATIONS), BYPASS])

/** Actions of AWS that policies name and no request here has. */
const ELSEWHERE = [
  'CreateAccessPoint',
  'DeleteAccessPoint',
  'DeleteAccessPointPolicy',
  'GetAccessPoint',
  'GetAccessPointPolicy',
  'GetAccessPointPolicyStatus',
  'GetObjectVersionForReplication',
  'GetObjectVersionTorrent',
  'InitiateReplication',
  'ListAccessPoints',
  'ListTagsForResource',
  'ObjectOwnerOverrideToBucketOwner',
  'PauseReplication',
  'PutAccessPointPolicy',
  'ReplicateDelete',
  'ReplicateObject',
  'ReplicateTags',
  'TagResource',
  'UntagResource',
]

/** Every action that a policy may name, in lower case. */
export const KNOWN_ACTIONS: readonly string[] = [...ACTIONS, ...inPolicies(ELSEWHERE)].map((name) =>
  name.toLowerCase(),
)

const OF_ACLS = inPolicies([
  'CreateBucket',
  'PutBucketAcl',
  'PutObject',
  'PutObjectAcl',
  'PutObjectVersionAcl',
])
const OF_TAGS = inPolicies(['PutObject', 'PutObjectTagging', 'PutObjectVersionTagging'])
const OF_RETENTIONS = inPolicies(['PutObject', 'PutObjectRetention', BYPASS])
const OF_WRITES = inPolicies(['PutObject'])

const eachOf = (
  keys: readonly string[],
  actions: ReadonlySet<string>,
): [string, ReadonlySet<string>][] => keys.map((key) => [`s3:${key}`, actions])

/**
 * The actions whose requests set the value of a key, by headers or by a document. AWS lists more for some keys
 * (s3:BypassGovernanceRetention, s3:PutObjectAcl) whose requests set no such value: a header without effect would be
 * believed.
 */
const SAID: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...eachOf(['requestobjecttag', 'requestobjecttagkeys'], OF_TAGS),
  ...eachOf(
    ['object-lock-mode', 'object-lock-retain-until-date', 'object-lock-remaining-retention-days'],
    OF_RETENTIONS,
  ),
  ...eachOf(['object-lock-legal-hold'], inPolicies(['PutObject', 'PutObjectLegalHold'])),
  ...eachOf(
    [
      'x-amz-acl',
      'x-amz-grant-full-control',
      'x-amz-grant-read',
      'x-amz-grant-read-acp',
      'x-amz-grant-write',
      'x-amz-grant-write-acp',
    ],
    OF_ACLS,
  ),
  ...eachOf(
    [
      'if-none-match',
      'x-amz-copy-source',
      'x-amz-metadata-directive',
      'x-amz-server-side-encryption',
      'x-amz-server-side-encryption-aws-kms-key-id',
      'x-amz-server-side-encryption-customer-algorithm',
      'x-amz-storage-class',
      'x-amz-website-redirect-location',
    ],
    OF_WRITES,
  ),
  ...eachOf(['if-match'], inPolicies(['PutObject', ...DELETES])),
  ...eachOf(['x-amz-object-ownership'], inPolicies(['CreateBucket'])),
])

/** The actions that have a key. Object tags are listed by the part before the name. */
const KEY_ACTIONS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...SAID,
  ['s3:prefix', inPolicies([...LISTS, 'ListBucketMultipartUploads'])],
  ['s3:delimiter', inPolicies([...LISTS, 'ListBucketMultipartUploads'])],
  ['s3:max-keys', inPolicies(LISTS)],
  ['s3:objectcreationoperation', OF_WRITES],
  [
    's3:versionid',
    inPolicies([...OF_OBJECTS.map(({ versionAction }) => versionAction), BYPASS], OF_UPLOADS),
  ],
  // A deletion is judged before its version is found.
  ['s3:existingobjecttag', inPolicies(allNames(OF_OBJECTS), [...OF_UPLOADS, ...DELETES])],
])

const OVERWRITES = inPolicies(['PutObject', ...DELETES])

const family = (key: string) => key.replace(/\/.*$/s, '')

/** The actions whose requests can have a value of the key; undefined: all. */
export const actionsWith = (key: string): ReadonlySet<string> | undefined =>
  KEY_ACTIONS.get(family(key))

/**
 * True when a condition on the key seems to apply to an action that does not have the key. It does for an action that
 * the statement names, except for keys that a request sets: AWS's own examples deny `["s3:PutObject",
 * "s3:PutObjectAcl"]` by encryption. It always does for overwriting and deleting: tags of an object cannot protect it
 * (S3, "Tagging and access control policies").
 */
export const mayHaveKey = (action: string, key: string, isNamed: boolean): boolean =>
  (isNamed && !SAID.has(family(key))) ||
  (family(key) === 's3:existingobjecttag' && OVERWRITES.has(action))

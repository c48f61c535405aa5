// Condition keys that only some actions have (Service Authorization Reference, "Actions, resources, and
// condition keys for Amazon S3"): what a request says of them is nothing to any other action.
import { S3_OPERATIONS, versionAction } from '#contract/s3-operations.ts'

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
/** What is about no version that there is. */
const OF_UPLOADS = ['PutObject', 'AbortMultipartUpload', 'ListMultipartUploadParts']
const DELETES = ['DeleteObject', 'DeleteObjectVersion']

const inPolicies = (actions: readonly string[], but: readonly string[] = []): ReadonlySet<string> =>
  new Set(actions.filter((action) => !but.includes(action)).map((action) => `s3:${action}`))

const allNames = (operations: typeof OPERATIONS) =>
  operations.flatMap(({ action, versionAction }) => [action, versionAction])

/** Every action that a request may have. */
export const ACTIONS: ReadonlySet<string> = inPolicies([...allNames(OPERATIONS), BYPASS])

/** Of AWS, in policies for its buckets and objects, that no request here has. */
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

/** Every action that a policy may name, in lower case as they are compared. */
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
 * By key, as below: the actions whose requests say what is set, by headers or by a document. AWS names more for
 * some (s3:BypassGovernanceRetention, s3:PutObjectAcl) whose requests set nothing of the kind: a header would be
 * believed that does nothing.
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

/** By key, of the tags of an object by what stands before the name: the actions that have it. */
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
  // What is deleted is not looked for before it is judged.
  ['s3:existingobjecttag', inPolicies(allNames(OF_OBJECTS), [...OF_UPLOADS, ...DELETES])],
])

const OVERWRITES = inPolicies(['PutObject', ...DELETES])

const family = (key: string) => key.replace(/\/.*$/s, '')

/** The actions whose requests can have a value of the key, as policyContext() knows both; undefined: all. */
export const actionsWith = (key: string): ReadonlySet<string> | undefined =>
  KEY_ACTIONS.get(family(key))

/**
 * Whether a policy looks as if it heeded the key for an action that has none. For one that it names it does; not
 * where the key is of what is set, as AWS's own examples deny `["s3:PutObject", "s3:PutObjectAcl"]` by encryption.
 * For overwriting and deleting it does however it names them: nobody can be kept from them by the tags of an
 * object (S3, "Tagging and access control policies").
 */
export const seemsToHaveKey = (action: string, key: string, isNamed: boolean): boolean =>
  (isNamed && !SAID.has(family(key))) ||
  (family(key) === 's3:existingobjecttag' && OVERWRITES.has(action))

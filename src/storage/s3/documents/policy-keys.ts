// Condition keys that only some actions have (Service Authorization Reference, "Actions, resources, and
// condition keys for Amazon S3"): what a request says of them is nothing to any other action.
import { S3_OPERATIONS, type S3Operation } from '#storage/s3/operations.ts'

const OPERATIONS = Object.values(S3_OPERATIONS).filter(({ action }) => action !== '')
const OF_OBJECTS = OPERATIONS.filter(
  ({ answer, binding }) => answer === 'served' && / object\b/.test(binding),
)
const BYPASS = 'BypassGovernanceRetention'
const LISTS = ['ListBucket', 'ListBucketVersions']
/** What is about no version that there is. */
const OF_UPLOADS = ['PutObject', 'AbortMultipartUpload', 'ListMultipartUploadParts']
const DELETES = ['DeleteObject', 'DeleteObjectVersion']

const inPolicies = (actions: readonly string[], but: readonly string[] = []): ReadonlySet<string> =>
  new Set(actions.filter((action) => !but.includes(action)).map((action) => `s3:${action}`))

const allNames = (operations: readonly S3Operation[]) =>
  operations.flatMap(({ action, versionAction }) => [action, versionAction])

/** Every action that a request may have. */
export const ACTIONS: ReadonlySet<string> = inPolicies([...allNames(OPERATIONS), BYPASS])

/** By key, of the tags of an object by what stands before the name: the actions that have it. */
const KEY_ACTIONS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['s3:prefix', inPolicies([...LISTS, 'ListBucketMultipartUploads'])],
  ['s3:delimiter', inPolicies([...LISTS, 'ListBucketMultipartUploads'])],
  ['s3:max-keys', inPolicies(LISTS)],
  ['s3:objectcreationoperation', inPolicies(['PutObject'])],
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
 * Actions for which a policy looks as if it heeded the key, however it names them: nobody can be kept by the tags
 * of an object from overwriting or deleting it (S3, "Tagging and access control policies").
 */
export const seemsToHaveKey = (action: string, key: string): boolean =>
  family(key) === 's3:existingobjecttag' && OVERWRITES.has(action)

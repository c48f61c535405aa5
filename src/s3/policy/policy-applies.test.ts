import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ErgonError } from '#base/errors.ts'
import { policyContext } from './policy-context.ts'
import { ACTIONS } from './policy-keys.ts'
import { ALLOW, FACTS, policyOf, request } from './policy.fixture.ts'
import { evaluatePolicy } from './policy.ts'

const OPEN = { 's3:ExistingObjectTag/class': 'open' }
const PREFIX = { 's3:prefix': 'home/' }
const DENY = { Effect: 'Deny' }

test('a condition on what none of the actions has is refused, whatever the effect', () => {
  const rows: [actions: string | string[], condition: object][] = [
    ['s3:PutObject', OPEN],
    ['s3:putobject', OPEN],
    [['s3:DeleteObject', 's3:DeleteObjectVersion', 's3:AbortMultipartUpload'], OPEN],
    ['s3:ListB*', OPEN],
    ['s3:GetObject*', PREFIX],
    ['s3:GetObject', { 's3:delimiter': '/' }],
    ['s3:PutObject', { 's3:max-keys': '7' }],
    [['s3:GetObject', 's3:PutObject'], { 's3:VersionId': 'v' }],
    [['s3:GetObject', 's3:PutObjectRetention'], { 's3:RequestObjectTag/team': 'red' }],
    ['s3:DeleteObject', { 's3:RequestObjectTagKeys': 'team' }],
    ['s3:Delete*', { 's3:object-lock-mode': 'GOVERNANCE' }],
    ['s3:PutObjectRetention', { 's3:object-lock-legal-hold': 'ON' }],
    ['s3:Get*', { 's3:x-amz-storage-class': 'STANDARD' }],
    [['s3:PutObjectAcl', 's3:PutObjectTagging'], { 's3:x-amz-server-side-encryption': 'AES256' }],
    ['s3:PutObjectTagging', { 's3:x-amz-acl': 'private' }],
    ['s3:GetObject', { 's3:if-match': 'x' }],
    ['s3:DeleteObject', { 's3:if-none-match': '*' }],
    ['s3:PutBucketOwnershipControls', { 's3:x-amz-object-ownership': 'ObjectWriter' }],
  ]
  for (const Effect of ['Allow', 'Deny'])
    for (const [Action, said] of rows)
      for (const operator of ['StringEquals', 'StringNotEquals', 'StringEqualsIfExists'])
        assert.throws(
          () => policyOf({ Effect, Action, Condition: { [operator]: said } }),
          ({ code, message }: ErgonError) =>
            code === 'MalformedPolicy' && message.startsWith('Conditions do not apply'),
          `${Effect} ${String(Action)}`,
        )
})

/** True when statements of these actions are taken, by effect and operator. */
const isTaken = (statement: object) => {
  try {
    policyOf(statement)
    return true
  } catch (error) {
    assert.equal((error as ErgonError).code, 'MalformedPolicy')
    return false
  }
}

test('a condition that would let some of the actions through is refused', () => {
  const MIXED = ['s3:GetObject', 's3:PutObject', 's3:DeleteObject']
  const rows: [statement: object, isTaken: boolean][] = [
    // It would deny reading, and neither overwriting nor deleting.
    [{ ...DENY, Action: MIXED, Condition: { StringEquals: OPEN } }, false],
    [{ ...DENY, Action: 's3:*', Condition: { StringEquals: OPEN } }, false],
    [{ ...DENY, Action: 's3:Delete*', Condition: { StringEquals: OPEN } }, false],
    [{ ...DENY, Action: MIXED, Condition: { Null: { 's3:ExistingObjectTag/a': 'false' } } }, false],
    [
      { ...DENY, Action: undefined, NotAction: 's3:Get*', Condition: { StringEquals: OPEN } },
      false,
    ],
    // It would let everybody delete.
    [{ Action: MIXED, Condition: { StringNotEquals: OPEN } }, false],
    [{ Action: MIXED, Condition: { Null: { 's3:ExistingObjectTag/a': 'true' } } }, false],
    [
      { ...DENY, Action: ['s3:ListBucket', 's3:GetObject'], Condition: { StringEquals: PREFIX } },
      false,
    ],
    // Nothing gets through that is not meant to: as AWS has it.
    [{ ...DENY, Action: MIXED, Condition: { StringNotEquals: OPEN } }, true],
    [{ Action: MIXED, Condition: { StringEquals: OPEN } }, true],
    [{ Action: 's3:*', Condition: { StringEqualsIfExists: PREFIX } }, true],
    [{ ...DENY, Action: 's3:*', Condition: { StringNotEquals: OPEN } }, true],
    [{ ...DENY, Action: 's3:Get*', Condition: { StringEquals: OPEN } }, true],
    [{ ...DENY, Action: 's3:List*', Condition: { StringEquals: PREFIX } }, true],
    [{ ...DENY, Action: '*', Condition: { StringEquals: { 'aws:Referer': 'x' } } }, true],
  ]
  for (const [statement, expected] of rows)
    assert.equal(isTaken(statement), expected, JSON.stringify({ ...ALLOW, ...statement }))
})

test('a condition on what a request sets is taken, as at AWS, where one of the actions has it', () => {
  const rows: [actions: string | string[], key: string][] = [
    [['s3:PutObject', 's3:PutObjectAcl'], 's3:x-amz-server-side-encryption'],
    ['s3:PutObject*', 's3:x-amz-acl'],
    ['s3:*', 's3:x-amz-storage-class'],
    [['s3:GetObject', 's3:PutObject'], 's3:RequestObjectTag/team'],
    [['s3:DeleteObject', 's3:PutObjectRetention'], 's3:object-lock-mode'],
    ['s3:BypassGovernanceRetention', 's3:object-lock-remaining-retention-days'],
    ['s3:DeleteObjectVersion', 's3:if-match'],
    [['s3:PutBucketAcl', 's3:DeleteBucket'], 's3:x-amz-grant-write'],
  ]
  for (const Effect of ['Allow', 'Deny'])
    for (const [Action, key] of rows)
      for (const operator of ['StringEquals', 'StringNotEquals', 'StringEqualsIfExists'])
        assert.ok(isTaken({ Effect, Action, Condition: { [operator]: { [key]: '1' } } }), key)
})

test('a header or a tag counts for the actions that set it, and for no other', () => {
  const headers = {
    'if-match': '"x"',
    'if-none-match': '*',
    'x-amz-acl': 'private',
    'x-amz-copy-source': 'from/key',
    'x-amz-grant-read': 'id=bob',
    'x-amz-metadata-directive': 'COPY',
    'x-amz-object-lock-legal-hold': 'ON',
    'x-amz-object-lock-mode': 'GOVERNANCE',
    'x-amz-object-lock-retain-until-date': '2030-01-01T00:00:00Z',
    'x-amz-object-ownership': 'ObjectWriter',
    'x-amz-server-side-encryption': 'aws:kms',
    'x-amz-server-side-encryption-aws-kms-key-id': 'k',
    'x-amz-server-side-encryption-customer-algorithm': 'AES256',
    'x-amz-storage-class': 'STANDARD',
    'x-amz-website-redirect-location': '/',
  }
  const LOCK = ['mode', 'retain-until-date', 'remaining-retention-days'].map(
    (name) => `s3:object-lock-${name}`,
  )
  const ACL = ['s3:x-amz-acl', 's3:x-amz-grant-read']
  const TAGS = ['s3:requestobjecttag/team', 's3:requestobjecttagkeys']
  const OF_WRITES = [
    's3:if-none-match',
    's3:x-amz-copy-source',
    's3:x-amz-metadata-directive',
    's3:x-amz-server-side-encryption',
    's3:x-amz-server-side-encryption-aws-kms-key-id',
    's3:x-amz-server-side-encryption-customer-algorithm',
    's3:x-amz-storage-class',
    's3:x-amz-website-redirect-location',
  ]
  const MATCH = 's3:if-match'
  const HOLD = 's3:object-lock-legal-hold'
  const keysOf: Record<string, string[]> = {
    PutObject: [...OF_WRITES, ...LOCK, HOLD, ...ACL, ...TAGS, MATCH],
    PutObjectTagging: TAGS,
    PutObjectVersionTagging: TAGS,
    PutObjectRetention: LOCK,
    BypassGovernanceRetention: LOCK,
    PutObjectLegalHold: [HOLD],
    PutObjectAcl: ACL,
    PutObjectVersionAcl: ACL,
    PutBucketAcl: ACL,
    CreateBucket: [...ACL, 's3:x-amz-object-ownership'],
    DeleteObject: [MATCH],
    DeleteObjectVersion: [MATCH],
  }
  const all = new Set(Object.values(keysOf).flat())
  for (const action of ACTIONS) {
    const context = policyContext({ ...FACTS, action, headers, requestTags: { team: 'red' } })
    const had = [...all].filter((key) => context(key) !== undefined)
    assert.deepEqual(had.sort(), [...(keysOf[action.slice(3)] ?? [])].sort(), action)
  }
})

test('the directive of metadata is said of copies of whole objects alone', () => {
  const says = (more: object, createsObject = true) =>
    policyContext({
      ...FACTS,
      action: 's3:PutObject',
      createsObject,
      headers: { 'x-amz-metadata-directive': 'COPY', ...more },
    })('s3:x-amz-metadata-directive')
  const copied = { 'x-amz-copy-source': 'from/key' }
  assert.deepEqual(says(copied), ['COPY'])
  assert.equal(says({}), undefined)
  assert.equal(says(copied, false), undefined)
})

test('a request has no values of what its action has not, whatever it says', () => {
  const query = new Map([['prefix', 'home/']])
  const policy = policyOf({ Action: 's3:*', Condition: { StringEquals: PREFIX } })
  const verdict = (action: string) => evaluatePolicy(policy, request({ action }, { query }))
  assert.equal(verdict('s3:ListBucket'), 'allow')
  assert.equal(verdict('s3:ListBucketVersions'), 'allow')
  assert.equal(verdict('s3:GetObject'), undefined)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ErgonError } from '#base/errors.ts'
import { allowedBy, mayAllowStranger, type AccessBucket, type AccessCheck } from './access-rules.ts'
import { cannedAcl, type Acl } from './acl.ts'
import { Judging } from './judging.ts'
import {
  checkAclAllowed,
  checkBucketAcl,
  ownerOfObject,
  parseOwnership,
  parseOwnershipHeader,
  printOwnership,
} from './ownership.ts'
import { parsePolicy } from './policy.ts'
import {
  checkAclBlocked,
  checkPolicyBlocked,
  parsePublicAccessBlock,
  printPublicAccessBlock,
  type PublicAccessBlock,
} from './public-access.ts'

const OWNERS = { owner: 'alice', bucketOwner: 'alice' }
const PRIVATE = cannedAcl('private', OWNERS)
const PUBLIC = cannedAcl('public-read-write', OWNERS)
const NO_BLOCK: PublicAccessBlock = {
  blockPublicAcls: false,
  ignorePublicAcls: false,
  blockPublicPolicy: false,
  restrictPublicBuckets: false,
}
const BUCKET: AccessBucket = {
  name: 'photos',
  owner: 'alice',
  acl: PRIVATE,
  policy: undefined,
  block: undefined,
  ownership: 'ObjectWriter',
}
const MINE = { owner: 'alice', acl: PRIVATE }
const refused =
  (code: string, status = 400) =>
  (error: ErgonError) =>
    error.code === code && error.status === status

const policy = (effect: string, action: string, principal: string) =>
  parsePolicy(
    JSON.stringify({
      Statement: [
        {
          Effect: effect,
          Principal: { AWS: principal },
          Action: action,
          Resource: ['arn:aws:s3:::photos', 'arn:aws:s3:::photos/*'],
        },
      ],
    }),
    'photos',
  )
const ask = (caller: string | undefined, bucket: Partial<AccessBucket>, more: object = {}) => {
  const check: AccessCheck = {
    caller,
    action: 's3:GetObject',
    bucket: { ...BUCKET, ...bucket },
    key: 'a',
    object: MINE,
    context: () => undefined,
    judging: new Judging(),
    ...more,
  }
  return allowedBy(check) !== undefined
}

test('allowedBy() is yes for the owner, no for others, unless a list or policy gives it', () => {
  assert.ok(ask('alice', {}))
  assert.ok(!ask('bob', {}))
  assert.ok(!ask(undefined, {}))
  assert.ok(ask(undefined, {}, { object: { owner: 'alice', acl: PUBLIC } }))
  // Writing is the bucket's to give, reading the object's.
  assert.ok(ask('bob', { acl: PUBLIC }, { action: 's3:PutObject' }))
  assert.ok(!ask('bob', { acl: PUBLIC }))
  assert.ok(ask('bob', { acl: PUBLIC }, { action: 's3:ListBucket', key: undefined }))
  assert.ok(ask('bob', { policy: policy('Allow', 's3:GetObject', 'bob') }))
  assert.ok(!ask('carol', { policy: policy('Allow', 's3:GetObject', 'bob') }))
  assert.ok(!ask('bob', {}, { object: undefined }))
})

test('allowedBy() lets who began an upload abort it, unless the policy denies that', () => {
  const abort = { action: 's3:AbortMultipartUpload', object: undefined }
  assert.ok(ask('bob', { acl: PUBLIC }, { ...abort, initiator: 'bob' }))
  assert.ok(!ask('bob', { acl: PUBLIC }, { ...abort, initiator: 'carol' }))
  assert.ok(!ask('bob', { acl: PUBLIC }, abort))
  assert.ok(!ask(undefined, { acl: PUBLIC }, abort))
  assert.ok(ask('alice', {}, { ...abort, initiator: 'bob' }))
  const text = JSON.stringify({
    Statement: [
      { Effect: 'Deny', Principal: '*', Action: 's3:Abort*', Resource: 'arn:aws:s3:::photos/*' },
    ],
  })
  assert.ok(!ask('bob', { policy: parsePolicy(text, 'photos') }, { ...abort, initiator: 'bob' }))
})

test('allowedBy() lets who writes by a list say the list and the tags of what is new, and no lock', () => {
  const may = (action: string, acl = PUBLIC, object?: AccessCheck['object']) =>
    ask('bob', { acl }, { action, object })
  for (const action of ['s3:PutObjectAcl', 's3:PutObjectTagging']) {
    assert.ok(may(action))
    assert.ok(!may(action, PRIVATE))
    assert.ok(!may(action, PUBLIC, MINE))
  }
  assert.ok(!may('s3:PutObjectRetention'))
  assert.ok(!may('s3:PutObjectLegalHold'))
  assert.ok(!may('s3:GetObjectAcl'))
})

test('allowedBy() keeps versions and uploads of others from who may write', () => {
  const all: Acl = { grants: [{ grantee: { account: 'bob' }, permission: 'FULL_CONTROL' }] }
  for (const action of ['s3:DeleteObjectVersion', 's3:AbortMultipartUpload'])
    for (const object of [undefined, MINE]) {
      for (const caller of ['bob', undefined])
        assert.ok(!ask(caller, { acl: PUBLIC }, { action, object }))
      assert.ok(!ask('bob', { acl: all }, { action, object }))
      assert.ok(ask('alice', { acl: PUBLIC }, { action, object }))
      assert.ok(ask('bob', { policy: policy('Allow', action, 'bob') }, { action, object }))
    }
  assert.ok(ask('bob', { acl: all }, { action: 's3:DeleteObject' }))
})

test('allowedBy() lets no list give tags or the parts of an upload, and READ all that a read tells', () => {
  const object = { owner: 'alice', acl: cannedAcl('public-read-write', OWNERS) }
  const may = (action: string) => ask('bob', { acl: PUBLIC }, { action, object })
  for (const version of ['', 'Version'])
    for (const verb of ['Get', 'Put', 'Delete'])
      assert.ok(!may(`s3:${verb}Object${version}Tagging`), verb + version)
  assert.ok(!may('s3:ListMultipartUploadParts'))
  for (const action of ['GetObject', 'GetObjectVersion', 'GetObjectAttributes'])
    assert.ok(may(`s3:${action}`), action)
})

const OF_OWN_OBJECT = [
  's3:GetObjectTagging',
  's3:PutObjectVersionTagging',
  's3:DeleteObjectTagging',
  's3:GetObjectAnnotation',
  's3:ListObjectAnnotations',
  's3:PutObjectAnnotation',
  's3:DeleteObjectAnnotation',
]

test('allowedBy() leaves tags and annotations to who put and kept an object, unless the policy denies it', () => {
  // Whatever its list says.
  const object = { owner: 'bob', acl: { grants: [] } }
  const denied = { policy: policy('Deny', 's3:*', '*') }
  for (const action of OF_OWN_OBJECT) {
    assert.ok(ask('bob', {}, { object, action }), action)
    assert.ok(!ask('bob', { ownership: 'BucketOwnerEnforced' }, { object, action }), action)
    assert.ok(!ask('bob', denied, { object, action }), action)
    for (const other of ['alice', 'carol', undefined])
      assert.ok(!ask(other, {}, { object, action }), action)
  }
  for (const action of ['s3:DeleteObject', 's3:PutObjectRetention', 's3:UpdateObjectEncryption'])
    assert.ok(!ask('bob', {}, { object, action }), action)
})

test('mayAllowStranger() is yes for what a list or policy could give to everybody', () => {
  const may = (bucket: Partial<AccessBucket>, action = 's3:DeleteObject') =>
    mayAllowStranger({ action, bucket: { ...BUCKET, ...bucket }, judging: new Judging() })
  const open = policy('Allow', 's3:*', '*')
  const block = { ...NO_BLOCK, ignorePublicAcls: true, restrictPublicBuckets: true }
  assert.ok(!may({}))
  assert.ok(may({ acl: PUBLIC }))
  assert.ok(!may({ acl: PUBLIC }, 's3:DeleteObjectVersion'))
  assert.ok(!may({ acl: PUBLIC, block }))
  assert.ok(!may({ acl: PUBLIC, ownership: 'BucketOwnerEnforced' }))
  assert.ok(may({ policy: open }, 's3:DeleteObjectVersion'))
  assert.ok(!may({ policy: open, block }))
  assert.ok(!may({ policy: policy('Allow', 's3:*', 'bob') }))
  assert.ok(!may({ policy: policy('Deny', 's3:*', '*') }))
})

test('allowedBy() is no where a policy denies, the owner included', () => {
  const bucket = { acl: PUBLIC, policy: policy('Deny', 's3:*', '*') }
  assert.ok(!ask('alice', bucket))
  assert.ok(!ask(undefined, bucket, { action: 's3:PutObject' }))
})

test('allowedBy() leaves the policy itself to the owner, whatever it denies, and to nobody else', () => {
  const bucket = { policy: policy('Deny', 's3:*', '*') }
  const verbs = ['Get', 'Put', 'Delete']
  for (const verb of verbs) {
    const more = { action: `s3:${verb}BucketPolicy`, key: undefined }
    assert.ok(ask('alice', bucket, more))
    for (const stranger of ['bob', undefined]) assert.ok(!ask(stranger, bucket, more))
    // AWS answers 405 where the policy gives the right but the caller is of another account.
    const open = { policy: policy('Allow', 's3:*', '*') }
    assert.ok(ask('alice', open, more))
    for (const stranger of ['bob', undefined])
      assert.throws(() => ask(stranger, open, more), refused('MethodNotAllowed', 405))
  }
  for (const action of ['s3:DeleteBucket', 's3:PutBucketAcl', 's3:GetBucketPolicyStatus'])
    assert.ok(!ask('alice', bucket, { action, key: undefined }))
})

test('allowedBy() keeps what others put from the owner of the bucket, but for deleting', () => {
  const object = { owner: 'bob', acl: cannedAcl('private', { owner: 'bob', bucketOwner: 'alice' }) }
  assert.ok(ask('bob', {}, { object }))
  assert.ok(!ask('alice', {}, { object }))
  assert.ok(!ask('alice', {}, { object, action: 's3:GetObjectAcl' }))
  assert.ok(ask('alice', {}, { object, action: 's3:DeleteObject' }))
  assert.ok(ask('alice', {}, { object, action: 's3:PutObjectRetention' }))
  for (const action of ['GetObjectAnnotation', 'ListObjectAnnotations', 'UpdateObjectEncryption'])
    assert.ok(!ask('alice', {}, { object, action: `s3:${action}` }), action)
  assert.ok(ask('alice', { ownership: 'BucketOwnerEnforced' }, { object }))
  assert.ok(!ask('bob', { ownership: 'BucketOwnerEnforced' }, { object }))
})

test('allowedBy() foresees what conditions could let in, and what no condition does', () => {
  const action = 's3:PutObjectTagging'
  const said = (...statements: object[]) => ({
    policy: parsePolicy(
      JSON.stringify({
        Statement: statements.map((one) => ({
          Principal: '*',
          Action: action,
          Resource: 'arn:aws:s3:::photos/*',
          ...one,
        })),
      }),
      'photos',
    ),
  })
  const Condition = { StringEquals: { 's3:RequestObjectTag/class': 'open' } }
  const conditional = said({ Effect: 'Allow', Condition })
  const foresight = { action, isForesight: true }
  assert.ok(!ask('bob', conditional, { action }))
  assert.ok(ask('bob', conditional, foresight))
  assert.ok(!ask('bob', conditional, { ...foresight, action: 's3:PutObject' }))
  assert.ok(!ask('bob', said({ Effect: 'Allow' }, { Effect: 'Deny' }), foresight))
  assert.ok(ask('bob', said({ Effect: 'Allow' }, { Effect: 'Deny', Condition }), foresight))
  assert.ok(!ask('bob', {}, foresight))
  const block = { ...NO_BLOCK, restrictPublicBuckets: true }
  assert.ok(!ask('bob', { ...said({ Effect: 'Allow' }), block }, foresight))
})

test('isAllowed() counts public grants and policies for nothing where a block says so', () => {
  const object = { owner: 'alice', acl: PUBLIC }
  assert.ok(!ask('bob', { block: { ...NO_BLOCK, ignorePublicAcls: true } }, { object }))
  assert.ok(ask('bob', { block: { ...NO_BLOCK, blockPublicAcls: true } }, { object }))
  const block = { ...NO_BLOCK, restrictPublicBuckets: true }
  const open = { policy: policy('Allow', 's3:GetObject', '*'), block }
  assert.ok(!ask(undefined, open))
  assert.ok(!ask('bob', open))
  assert.ok(ask('alice', open))
  assert.ok(ask('service:x', open))
  assert.ok(ask('bob', { policy: policy('Allow', 's3:GetObject', 'bob'), block }))
})

test('a public access block survives XML, and refuses what it blocks', () => {
  const blocks = fc.record(
    {
      blockPublicAcls: fc.boolean(),
      ignorePublicAcls: fc.boolean(),
      blockPublicPolicy: fc.boolean(),
      restrictPublicBuckets: fc.boolean(),
    },
    { noNullPrototype: true },
  )
  fc.assert(
    fc.property(blocks, (block) => {
      assert.deepEqual(parsePublicAccessBlock(Buffer.from(printPublicAccessBlock(block))), block)
    }),
  )
  assert.deepEqual(
    parsePublicAccessBlock(Buffer.from('<PublicAccessBlockConfiguration/>')),
    NO_BLOCK,
  )
  const block = { ...NO_BLOCK, blockPublicAcls: true, blockPublicPolicy: true }
  const denied = refused('AccessDenied', 403)
  assert.throws(() => checkAclBlocked(block, PUBLIC), denied)
  assert.throws(() => checkPolicyBlocked(block, policy('Allow', 's3:GetObject', '*')), denied)
  checkAclBlocked(block, PRIVATE)
  checkPolicyBlocked(block, policy('Allow', 's3:GetObject', 'bob'))
  checkAclBlocked(undefined, PUBLIC)
  checkPolicyBlocked(NO_BLOCK, policy('Allow', 's3:GetObject', '*'))
})

test('ownership controls survive XML, and have one rule of a known name', () => {
  for (const ownership of ['BucketOwnerEnforced', 'BucketOwnerPreferred', 'ObjectWriter'] as const)
    assert.equal(parseOwnership(Buffer.from(printOwnership(ownership))), ownership)
  const good = printOwnership('ObjectWriter')
  for (const xml of [good.replace('Writer', 'Reader'), good.replace(/(<Rule>.*<.Rule>)/, '$1$1')])
    assert.throws(() => parseOwnership(Buffer.from(xml)), refused('MalformedXML'))
  assert.throws(() => parseOwnershipHeader('me'), refused('InvalidArgument'))
})

test('enforced ownership takes no ACL but the one that holds anyway', () => {
  const unsupported = refused('AccessControlListNotSupported')
  const check = (canned: string) => checkAclAllowed('BucketOwnerEnforced', { canned }, 'alice')
  check('bucket-owner-full-control')
  checkAclAllowed('BucketOwnerEnforced', undefined, 'alice')
  checkAclAllowed('ObjectWriter', { canned: 'private' }, 'alice')
  assert.throws(() => check('private'), unsupported)
  const grants = [{ grantee: { account: 'bob' }, permission: 'READ' as const }]
  assert.throws(() => checkAclAllowed('BucketOwnerEnforced', { grants }, 'alice'), unsupported)
  assert.throws(
    () => checkBucketAcl('BucketOwnerEnforced', PUBLIC, 'alice'),
    refused('InvalidBucketAclWithObjectOwnership'),
  )
  checkBucketAcl('BucketOwnerEnforced', PRIVATE, 'alice')
  checkBucketAcl('ObjectWriter', PUBLIC, 'alice')
})

test('ownerOfObject() follows the controls', () => {
  const full = { canned: 'bucket-owner-full-control' }
  const rows = [
    ['BucketOwnerEnforced', undefined, 'bob', 'alice'],
    ['BucketOwnerPreferred', undefined, 'bob', 'bob'],
    ['BucketOwnerPreferred', full, 'bob', 'alice'],
    ['BucketOwnerPreferred', { canned: 'private' }, 'bob', 'bob'],
    ['ObjectWriter', full, 'bob', 'bob'],
    ['ObjectWriter', undefined, undefined, 'alice'],
  ] as const
  for (const [ownership, draft, writer, owner] of rows)
    assert.equal(ownerOfObject({ ownership, draft, writer, bucketOwner: 'alice' }), owner)
})

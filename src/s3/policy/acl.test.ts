import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ErgonError } from '#base/errors.ts'
import { parseAcl, parseAclHeaders, printAcl, resolveAcl, type Directory } from './acl-drafts.ts'
import {
  aclAllows,
  cannedAcl,
  ACL_GROUPS,
  isPrivateAcl,
  isPublicAcl,
  LOG_DELIVERY,
  PERMISSIONS,
  type Acl,
  type Group,
} from './acl.ts'

const OWNERS = { owner: 'alice', bucketOwner: 'bob' }
const DIRECTORY: Directory = {
  exists: async (account) => ['alice', 'bob', 'carol'].includes(account),
  accountOfEmail: async (email) => (email === 'carol@example.com' ? 'carol' : undefined),
}
const refused =
  (code: string, status = 400) =>
  (error: ErgonError) =>
    error.code === code && error.status === status

const grantees = fc.oneof(
  fc.constantFrom('alice', 'bob', 'carol').map((account) => ({ account })),
  fc.constantFrom<Group>('everyone', 'authenticated', 'log-delivery').map((group) => ({ group })),
)
const acls = fc
  .array(
    fc.record(
      { grantee: grantees, permission: fc.constantFrom(...PERMISSIONS) },
      { noNullPrototype: true },
    ),
  )
  .map((grants): Acl => ({ grants }))

test('an ACL survives XML, groups first', async () => {
  await fc.assert(
    fc.asyncProperty(acls, async (acl) => {
      const xml = printAcl(acl, 'alice', (account) => `${account} & co`)
      const again = await resolveAcl(parseAcl(Buffer.from(xml)), OWNERS, DIRECTORY)
      const isGroup = ({ grantee }: Acl['grants'][number]) => 'group' in grantee
      assert.deepEqual(again.grants, [
        ...acl.grants.filter(isGroup),
        ...acl.grants.filter((grant) => !isGroup(grant)),
      ])
    }),
    { numRuns: 50 },
  )
})

test('aclAllows() agrees with a list of who is in each group', () => {
  const callers = ['alice', 'bob', 'carol', LOG_DELIVERY, undefined]
  const members: Record<Group, readonly (string | undefined)[]> = {
    everyone: callers,
    authenticated: callers.filter((one) => one !== undefined),
    'log-delivery': [LOG_DELIVERY],
  }
  const permissions = ['READ', 'WRITE', 'READ_ACP', 'WRITE_ACP'] as const
  fc.assert(
    fc.property(acls, fc.boolean(), (acl, ignorePublic) => {
      const allowed = new Set(permissions.map((permission) => `alice ${permission}`))
      for (const { grantee, permission } of acl.grants) {
        const isPublic = 'group' in grantee && grantee.group !== 'log-delivery'
        if (isPublic && ignorePublic) continue
        const who = 'account' in grantee ? [grantee.account] : members[grantee.group]
        for (const one of who)
          for (const each of permission === 'FULL_CONTROL' ? permissions : [permission])
            allowed.add(`${one} ${each}`)
      }
      for (const caller of callers)
        for (const permission of permissions)
          assert.equal(
            aclAllows(acl, { permission, caller, owner: 'alice', ignorePublic }),
            allowed.has(`${caller} ${permission}`),
          )
    }),
  )
})

test('cannedAcl() knows the names of AWS', () => {
  const everyone = { caller: undefined, owner: 'alice' }
  const rows: [name: string, read: boolean, write: boolean, isPublic: boolean][] = [
    ['private', false, false, false],
    ['public-read', true, false, true],
    ['public-read-write', true, true, true],
    ['authenticated-read', false, false, true],
    ['log-delivery-write', false, false, false],
  ]
  for (const [name, read, write, isPublic] of rows) {
    const acl = cannedAcl(name, OWNERS)
    assert.equal(aclAllows(acl, { ...everyone, permission: 'READ' }), read, name)
    assert.equal(aclAllows(acl, { ...everyone, permission: 'WRITE' }), write, name)
    assert.equal(isPublicAcl(acl), isPublic, name)
    assert.equal(isPrivateAcl(acl, 'alice'), name === 'private')
  }
  const stranger = { caller: 'carol', owner: 'alice', permission: 'READ' } as const
  assert.ok(aclAllows(cannedAcl('authenticated-read', OWNERS), stranger))
  const owner = { caller: 'bob', owner: 'alice' }
  const readable = cannedAcl('bucket-owner-read', OWNERS)
  assert.ok(aclAllows(readable, { ...owner, permission: 'READ' }))
  assert.ok(!aclAllows(readable, { ...owner, permission: 'READ_ACP' }))
  const full = cannedAcl('bucket-owner-full-control', OWNERS)
  assert.ok(aclAllows(full, { ...owner, permission: 'WRITE_ACP' }))
  assert.equal(cannedAcl('bucket-owner-read', { owner: 'a', bucketOwner: 'a' }).grants.length, 1)
  assert.throws(() => cannedAcl('public', OWNERS), refused('InvalidArgument'))
})

test('parseAclHeaders() reads grants to ids, groups and e-mail addresses', async () => {
  assert.equal(parseAclHeaders({}), undefined)
  assert.deepEqual(parseAclHeaders({ 'x-amz-acl': 'private' }), { canned: 'private' })
  const draft = parseAclHeaders({
    'x-amz-grant-read': `id="bob", uri="${ACL_GROUPS.everyone}"`,
    'x-amz-grant-full-control': 'emailAddress=carol@example.com,id=alice',
  })
  assert.ok(draft !== undefined)
  assert.deepEqual(await resolveAcl(draft, OWNERS, DIRECTORY), {
    grants: [
      { grantee: { account: 'bob' }, permission: 'READ' },
      { grantee: { group: 'everyone' }, permission: 'READ' },
      { grantee: { account: 'carol' }, permission: 'FULL_CONTROL' },
      { grantee: { account: 'alice' }, permission: 'FULL_CONTROL' },
    ],
  })
  assert.throws(
    () => parseAclHeaders({ 'x-amz-acl': 'private', 'x-amz-grant-read': 'id=bob' }),
    refused('InvalidRequest'),
  )
  for (const value of ['bob', 'name=bob', 'uri="urn:x"', 'id="b"x', 'id=a,'.repeat(101)])
    assert.throws(
      () => parseAclHeaders({ 'x-amz-grant-write': value }),
      refused('InvalidArgument'),
      value,
    )
})

test('ACL documents are refused for what is not there', async () => {
  const xml = printAcl(cannedAcl('public-read', OWNERS), 'alice', () => undefined)
  const rows: [from: string, to: string, code: string][] = [
    ['<Permission>READ<', '<Permission>SEE<', 'MalformedACLError'],
    ['xsi:type="Group"', 'xsi:type="Crowd"', 'MalformedACLError'],
    [ACL_GROUPS.everyone, 'urn:x', 'InvalidArgument'],
    ['<Owner><ID>alice</ID></Owner>', '', 'MalformedXML'],
  ]
  for (const [from, to, code] of rows)
    assert.throws(() => parseAcl(Buffer.from(xml.replace(from, to))), refused(code), to)
  const resolve = (from: string, to: string) =>
    resolveAcl(parseAcl(Buffer.from(xml.replace(from, to))), OWNERS, DIRECTORY)
  await assert.rejects(
    resolve('<ID>alice</ID></Grantee>', '<ID>x</ID></Grantee>'),
    refused('InvalidArgument'),
  )
  await assert.rejects(
    resolve('<ID>alice</ID></Owner>', '<ID>bob</ID></Owner>'),
    refused('AccessDenied', 403),
  )
  const mail = '="AmazonCustomerByEmail"><EmailAddress>x@example.com</EmailAddress></Grantee>'
  await assert.rejects(
    resolve('="CanonicalUser"><ID>alice</ID></Grantee>', mail),
    refused('UnresolvableGrantByEmailAddress'),
  )
})

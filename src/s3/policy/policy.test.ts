import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ErgonError } from '#base/errors.ts'
import { policyContext, type PolicyFacts } from './policy-context.ts'
import { isPublicPolicy } from './policy-public.ts'
import { ALLOW, FACTS, policyOf, request } from './policy.fixture.ts'
import { evaluatePolicy, parsePolicy } from './policy.ts'

const under = (Condition: object, facts: Partial<PolicyFacts> = {}) => {
  const { action = 's3:GetObject' } = facts
  return (
    evaluatePolicy(policyOf({ Action: action, Condition }), request({ action }, facts)) === 'allow'
  )
}

test('parsePolicy() keeps the text as it was sent', () => {
  const text = `{ "Statement" : ${JSON.stringify(ALLOW)} }\n`
  assert.equal(parsePolicy(text, 'photos').text, text)
  assert.equal(parsePolicy(text, 'photos').statements.length, 1)
})

test('parsePolicy() refuses what could never take effect', () => {
  const statement = (more: object) => JSON.stringify({ Statement: [{ ...ALLOW, ...more }] })
  const bad = [
    '',
    'null',
    '[]',
    ' {"Statement":[]}',
    '{',
    '{"Version":"2012-10-17"}',
    '{"Version":"2012-10-17","Statement":[]}',
    `{"Version":"2020-01-01","Statement":${JSON.stringify(ALLOW)}}`,
    `{"Extra":1,"Statement":${JSON.stringify(ALLOW)}}`,
    statement({ Effect: 'allow' }),
    statement({ Effect: undefined }),
    statement({ Extra: 1 }),
    statement({ Principal: undefined }),
    statement({ Principal: [] }),
    statement({ Principal: { AWS: [] } }),
    statement({ Principal: { AWS: 'arn:aws:iam::acct_b:user/bob' } }),
    statement({ Principal: { Federated: 'cognito' } }),
    statement({ Principal: undefined, NotPrincipal: { AWS: 'arn:aws:iam::acct_b:root' } }),
    statement({ NotAction: 's3:PutObject' }),
    statement({ Action: 'ec2:RunInstances' }),
    statement({ Action: [] }),
    statement({ Action: 7 }),
    statement({ Resource: 'arn:aws:s3:::videos/*' }),
    statement({ Resource: 'photos/*' }),
    statement({ Condition: { StringMaybe: { 's3:prefix': 'a' } } }),
    statement({ Condition: { StringEquals: { 'aws:PrincipalOrgID': 'o-1' } } }),
    statement({ Condition: { StringEquals: { 's3:ExistingObjectTag/': 'x' } } }),
    statement({ Condition: { StringEquals: { 's3:prefix': [] } } }),
    statement({ Condition: { IpAddress: { 'aws:SourceIp': '10.0.0.0/33' } } }),
    statement({ Condition: { NumericLessThan: { 's3:max-keys': 'ten' } } }),
    statement({ Condition: { NullIfExists: { 's3:prefix': 'true' } } }),
    statement({ Sid: 'x'.repeat(30_000) }),
  ]
  for (const text of bad)
    assert.throws(
      () => parsePolicy(text, 'photos'),
      (error: ErgonError) => error.code === 'MalformedPolicy' && error.status === 400,
      text.slice(0, 200),
    )
})

test('evaluatePolicy() matches principals', () => {
  const rows: [principal: unknown, caller: string | undefined, allowed: boolean][] = [
    ['*', undefined, true],
    [{ AWS: '*' }, undefined, true],
    [{ AWS: 'acct_b' }, 'acct_b', true],
    [{ AWS: 'arn:aws:iam::acct_b:root' }, 'acct_b', true],
    [{ AWS: ['arn:aws:iam:::user/acct_c', 'arn:aws:iam:::user/acct_b'] }, 'acct_b', true],
    [{ CanonicalUser: 'acct_b' }, 'acct_b', true],
    [{ AWS: 'arn:aws:iam::acct_c:root' }, 'acct_b', false],
    [{ AWS: 'acct_b' }, undefined, false],
    [{ Service: 'logging.s3.amazonaws.com' }, 'service:logging.s3.amazonaws.com', true],
    [{ Service: 'logging.s3.amazonaws.com' }, 'acct_b', false],
  ]
  for (const [principal, caller, allowed] of rows)
    assert.equal(
      evaluatePolicy(policyOf({ Principal: principal }), request({ caller })),
      allowed ? 'allow' : undefined,
      JSON.stringify([principal, caller]),
    )
  const others = policyOf({
    Effect: 'Deny',
    Principal: undefined,
    NotPrincipal: { AWS: 'arn:aws:iam::acct_b:root' },
  })
  assert.equal(evaluatePolicy(others, request()), undefined)
  assert.equal(evaluatePolicy(others, request({ caller: undefined })), 'deny')
})

test('evaluatePolicy() matches actions in any case, resources as written', () => {
  const allowed = (statement: object, action: string, resource: string) =>
    evaluatePolicy(policyOf(statement), request({ action, resource })) === 'allow'
  assert.ok(allowed({ Action: 's3:get*' }, 's3:GetObjectTagging', 'photos/x'))
  assert.ok(allowed({ Action: '*' }, 's3:PutObject', 'photos/x'))
  assert.ok(!allowed({ Action: undefined, NotAction: 's3:Put*' }, 's3:PutObject', 'photos/x'))
  assert.ok(allowed({ Action: undefined, NotAction: 's3:Put*' }, 's3:GetObject', 'photos/x'))
  assert.ok(!allowed({}, 's3:GetObject', 'photos'))
  assert.ok(!allowed({ Resource: 'arn:aws:s3:::photos/A*' }, 's3:GetObject', 'photos/abc'))
  assert.ok(allowed({ Resource: 'arn:aws:s3:::*/*' }, 's3:GetObject', 'photos/abc'))
  assert.ok(
    !allowed(
      { Resource: undefined, NotResource: 'arn:aws:s3:::photos/private/*' },
      's3:GetObject',
      'photos/private/x',
    ),
  )
})

test('evaluatePolicy() lets a Deny win wherever it stands', () => {
  const deny = { Effect: 'Deny', Resource: 'arn:aws:s3:::photos/a/*' }
  for (const policy of [policyOf({}, deny), policyOf(deny, {})]) {
    assert.equal(evaluatePolicy(policy, request()), 'deny')
    assert.equal(evaluatePolicy(policy, request({ resource: 'photos/c' })), 'allow')
  }
})

test('conditions compare as IAM says', () => {
  const headers = {
    'x-amz-content-sha256': 'Public-Read',
    referer: 'http://www.example.com/index.html',
  }
  const query = new Map([['max-keys', '10']])
  const action = 's3:ListBucket'
  const rows: [condition: object, holds: boolean][] = [
    [{ StringEquals: { 's3:x-amz-content-sha256': 'Public-Read' } }, true],
    [{ StringEquals: { 's3:x-amz-content-sha256': 'public-read' } }, false],
    [{ StringEquals: { 's3:x-amz-content-sha256': ['private', 'Public-Read'] } }, true],
    [{ StringEqualsIgnoreCase: { 'S3:X-AMZ-CONTENT-SHA256': 'public-READ' } }, true],
    [{ StringNotEquals: { 's3:x-amz-content-sha256': ['private', 'Public-Read'] } }, false],
    [{ StringNotEqualsIgnoreCase: { 's3:x-amz-content-sha256': 'private' } }, true],
    [{ StringLike: { 'aws:Referer': 'http://www.example.com/*' } }, true],
    [{ StringNotLike: { 'aws:Referer': 'http://www.example.com/*' } }, false],
    [{ NumericLessThanEquals: { 's3:max-keys': 10 } }, true],
    [{ NumericLessThan: { 's3:max-keys': '10' } }, false],
    [{ NumericNotEquals: { 's3:max-keys': '10.0' } }, false],
    [{ DateGreaterThan: { 'aws:CurrentTime': '2026-11-21T11:00:00Z' } }, true],
    [{ DateLessThan: { 'aws:EpochTime': '2026-11-21T11:00:00Z' } }, false],
    [{ Bool: { 'aws:SecureTransport': 'true' } }, true],
    [{ Bool: { 'aws:SecureTransport': false } }, false],
    [{ IpAddress: { 'aws:SourceIp': ['10.0.0.0/8', '203.0.113.0/24'] } }, true],
    [{ NotIpAddress: { 'aws:SourceIp': '203.0.113.0/24' } }, false],
    [{ IpAddress: { 'aws:SourceIp': '2001:db8::/32' } }, false],
    // All keys and all operators must hold.
    [{ StringEquals: { 's3:x-amz-content-sha256': 'Public-Read', 's3:prefix': 'x' } }, false],
    [{ Bool: { 'aws:SecureTransport': 'true' }, Null: { 's3:prefix': 'false' } }, false],
  ]
  for (const [condition, holds] of rows)
    assert.equal(under(condition, { action, headers, query }), holds, JSON.stringify(condition))
})

test('conditions about absent keys hold for Null, IfExists and negated operators only', () => {
  const rows: [operator: string, value: string, holds: boolean][] = [
    ['StringEquals', 'x', false],
    ['StringEqualsIfExists', 'x', true],
    ['StringNotEquals', 'x', true],
    ['StringNotLikeIfExists', 'x', true],
    ['ForAllValues:StringEquals', 'x', true],
    ['ForAnyValue:StringEquals', 'x', false],
    ['ForAnyValue:StringNotEquals', 'x', false],
    ['Null', 'true', true],
    ['Null', 'false', false],
  ]
  const action = 's3:ListBucket'
  for (const [operator, value, holds] of rows)
    assert.equal(under({ [operator]: { 's3:prefix': value } }, { action }), holds, operator)
})

test('conditions about s3:prefix see the key that was looked for in vain', () => {
  const condition = { StringLike: { 's3:prefix': 'public/*' } }
  const query = new Map([['prefix', 'public/']])
  const action = 's3:ListBucket'
  assert.ok(under(condition, { action, query }))
  assert.ok(under(condition, { action, prefix: 'public/a' }))
  assert.ok(!under(condition, { action, prefix: 'private/a', query }))
})

test('conditions about tags see names, values and sets of names', () => {
  const existingTags = { security: 'public' }
  const requestTags = { Project: 'x', owner: 'y' }
  const rows: [condition: object, holds: boolean][] = [
    [{ StringEquals: { 's3:ExistingObjectTag/security': 'public' } }, true],
    [{ StringEquals: { 's3:ExistingObjectTag/Security': 'public' } }, false],
    [{ StringEquals: { 's3:ExistingObjectTag/constructor': 'public' } }, false],
    [{ StringEquals: { 's3:RequestObjectTag/Project': 'x' } }, true],
    [{ 'ForAllValues:StringEquals': { 's3:RequestObjectTagKeys': ['Project', 'owner'] } }, true],
    [{ 'ForAllValues:StringEquals': { 's3:RequestObjectTagKeys': ['Project'] } }, false],
    [{ 'ForAnyValue:StringEquals': { 's3:RequestObjectTagKeys': ['Project'] } }, true],
    [{ 'ForAnyValue:StringNotEquals': { 's3:RequestObjectTagKeys': ['Project'] } }, true],
  ]
  for (const [condition, holds] of rows)
    assert.equal(
      under(condition, { action: 's3:PutObjectTagging', existingTags, requestTags }),
      holds,
      JSON.stringify(condition),
    )
})

test('conditions about sources see copies without slash and version, and parts of ARNs', () => {
  const action = 's3:PutObject'
  const headers = { 'x-amz-copy-source': '/from/public/a%20b?versionId=null' }
  const copied = { StringEquals: { 's3:x-amz-copy-source': 'from/public/a b' } }
  assert.ok(under(copied, { action, headers }))
  // A key may hold what looks like a version: conditions see the key that is read.
  const seen = (source: string) => {
    const facts = { ...FACTS, action, headers: { 'x-amz-copy-source': source } }
    return policyContext(facts)('s3:x-amz-copy-source')
  }
  assert.deepEqual(seen('from/open?versionId=1?versionId=null'), ['from/open?versionId=1'])
  assert.deepEqual(seen('from/open?versionId=1&x'), ['from/open?versionId=1&x'])
  assert.equal(seen('from'), undefined)
  const sourceArn = 'arn:aws:s3:::from'
  assert.ok(under({ ArnLike: { 'aws:SourceArn': 'arn:aws:s3:*:*:fr*' } }, { sourceArn }))
  assert.ok(!under({ ArnLike: { 'aws:SourceArn': 'arn:aws:s3:*:*:to' } }, { sourceArn }))
  assert.ok(!under({ ArnLike: { 'aws:SourceArn': 'arn:*:x:*:*:*' } }, { sourceArn }))
})

test('isPublicPolicy() is true unless callers are named or narrowed to fixed values', () => {
  const rows: [statement: object, isPublic: boolean][] = [
    [{}, true],
    [{ Effect: 'Deny' }, false],
    [{ Principal: { AWS: 'arn:aws:iam::acct_b:root' } }, false],
    [{ Principal: { AWS: ['acct_b', '*'] } }, true],
    [{ Condition: { IpAddress: { 'aws:SourceIp': '10.0.0.0/32' } } }, false],
    [{ Condition: { IpAddress: { 'aws:SourceIp': '0.0.0.0/1' } } }, true],
    [{ Condition: { NotIpAddress: { 'aws:SourceIp': '10.0.0.0/8' } } }, true],
    [{ Condition: { StringEquals: { 'aws:PrincipalAccount': 'acct_b' } } }, false],
    [{ Condition: { StringEqualsIfExists: { 'aws:PrincipalAccount': 'acct_b' } } }, true],
    // Holds where the request has no such key, as for an anonymous caller.
    [{ Condition: { 'ForAllValues:StringEquals': { 'aws:PrincipalAccount': 'acct_b' } } }, true],
    [{ Condition: { 'ForAllValues:IpAddress': { 'aws:SourceIp': '10.0.0.0/32' } } }, true],
    [{ Condition: { 'ForAnyValue:StringEquals': { 'aws:PrincipalAccount': 'acct_b' } } }, false],
    [{ Condition: { StringLike: { 'aws:PrincipalAccount': 'acct_*' } } }, true],
    [{ Condition: { StringEquals: { 'aws:userid': 'acct_b' } } }, false],
    [{ Condition: { StringEquals: { 'aws:userid': 'anonymous' } } }, true],
    [{ Condition: { StringEquals: { 'aws:userid': ['acct_b', 'anonymous'] } } }, true],
    [{ Condition: { StringEqualsIgnoreCase: { 'aws:UserId': 'Anonymous' } } }, true],
    [{ Condition: { StringLike: { 'aws:Referer': 'http://example.com/*' } } }, true],
  ]
  for (const [statement, isPublic] of rows)
    assert.equal(isPublicPolicy(policyOf(statement)), isPublic, JSON.stringify(statement))
})

// The slow, obvious judgement: every statement with every caller, action and resource of a small world
// is spelled out as a set of triples, and the answer is looked up.
test('evaluatePolicy() agrees with a table of all that each statement means', () => {
  const callers = ['acct_a', 'acct_b', undefined]
  const actions = ['s3:GetObject', 's3:PutObject', 's3:GetObjectTagging']
  const resources = ['photos', 'photos/a', 'photos/a/b', 'photos/c']
  const meaning: Record<string, readonly (string | undefined)[]> = {
    '*': [...callers, ...actions, ...resources],
    acct_a: ['acct_a'],
    acct_b: ['acct_b'],
    's3:GetObject': ['s3:GetObject'],
    's3:GetObject*': ['s3:GetObject', 's3:GetObjectTagging'],
    's3:*': actions,
    'arn:aws:s3:::photos': ['photos'],
    'arn:aws:s3:::photos/*': ['photos/a', 'photos/a/b', 'photos/c'],
    'arn:aws:s3:::photos/a*': ['photos/a', 'photos/a/b'],
    'arn:aws:s3:::photos/?': ['photos/a', 'photos/c'],
  }
  const some = (...names: string[]) => fc.subarray(names, { minLength: 1 })
  const statement = fc.record({
    Effect: fc.constantFrom('Allow', 'Deny'),
    principals: some('*', 'acct_a', 'acct_b'),
    actions: some('*', 's3:GetObject', 's3:GetObject*', 's3:*'),
    resources: some(...Object.keys(meaning).filter((name) => name.startsWith('arn:'))),
    notAction: fc.boolean(),
    notResource: fc.boolean(),
  })
  const spelled = (names: string[], all: readonly (string | undefined)[], not: boolean) => {
    const meant = new Set(names.flatMap((name) => meaning[name] ?? []))
    return all.filter((one) => meant.has(one) !== not)
  }
  fc.assert(
    fc.property(fc.array(statement, { minLength: 1, maxLength: 4 }), (statements) => {
      const policy = policyOf(
        ...statements.map((one) => ({
          Effect: one.Effect,
          Principal: { AWS: one.principals },
          Action: undefined,
          Resource: undefined,
          [one.notAction ? 'NotAction' : 'Action']: one.actions,
          [one.notResource ? 'NotResource' : 'Resource']: one.resources,
          principals: undefined,
        })),
      )
      const table = new Map<string, string>()
      for (const one of [...statements].sort((a, b) => (a.Effect < b.Effect ? -1 : 1)))
        for (const caller of spelled(one.principals, callers, false))
          for (const action of spelled(one.actions, actions, one.notAction))
            for (const resource of spelled(one.resources, resources, one.notResource))
              table.set(`${caller} ${action} ${resource}`, one.Effect.toLowerCase())
      for (const caller of callers)
        for (const action of actions)
          for (const resource of resources)
            assert.equal(
              evaluatePolicy(policy, request({ caller, action, resource })),
              table.get(`${caller} ${action} ${resource}`),
            )
    }),
    { numRuns: 200 },
  )
})

test('s3:if-none-match has a value where nothing may be overwritten, and for no tag', () => {
  const says = (Condition: object, value: string) =>
    under(Condition, { action: 's3:PutObject', headers: { 'if-none-match': value } })
  const has = (value: string) => says({ Null: { 's3:if-none-match': 'false' } }, value)
  for (const value of ['*', ' * ', '"x", *']) assert.ok(has(value), value)
  for (const value of ['"x"', 'x', '', '**', 'W/"x", "y"']) assert.ok(!has(value), value)
  assert.ok(says({ StringEquals: { 's3:if-none-match': '*' } }, '"x", *'))
})

test('s3:ObjectCreationOperation is of s3:PutObject, and tells parts from objects', () => {
  const makes = (wanted: boolean, facts: Partial<PolicyFacts> = {}) =>
    under({ Bool: { 's3:ObjectCreationOperation': wanted } }, { action: 's3:PutObject', ...facts })
  for (const createsObject of [true, false]) {
    assert.ok(makes(createsObject, { createsObject }))
    assert.ok(!makes(!createsObject, { createsObject }))
  }
  const context = policyContext({ ...FACTS, action: 's3:PutObjectTagging' })
  assert.equal(context('s3:objectcreationoperation'), undefined)
})

test('policyContext() tells how a request was signed, and nothing of one that is not', () => {
  const rows = [
    [{ by: 'query', version: 2 }, 'AWS', 'REST-QUERY-STRING'],
    [{ by: 'header', version: 4 }, 'AWS4-HMAC-SHA256', 'REST-HEADER'],
    [{ by: 'form', version: 4 }, 'AWS4-HMAC-SHA256', 'POST'],
    [undefined, undefined, undefined],
  ] as const
  for (const [signing, version, type] of rows) {
    const context = policyContext({ ...FACTS, signing })
    assert.deepEqual(context('s3:signatureversion'), version && [version])
    assert.deepEqual(context('s3:authtype'), type && [type])
  }
  const isOlder = { StringEquals: { 's3:SignatureVersion': 'AWS' } }
  assert.ok(under(isOlder, { signing: { by: 'header', version: 2 } }))
  assert.ok(!under(isOlder))
})

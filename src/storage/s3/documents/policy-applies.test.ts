import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ErgonError } from '#base/errors.ts'
import { ALLOW, policyOf, request } from './policy.fixture.ts'
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
    ['s3:Unknown', OPEN],
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

/** Whether statements of these actions are taken, by effect and operator. */
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

test('a request has no values of what its action has not, whatever it says', () => {
  const query = new Map([['prefix', 'home/']])
  const policy = policyOf({ Action: 's3:*', Condition: { StringEquals: PREFIX } })
  const verdict = (action: string) => evaluatePolicy(policy, request({ action }, { query }))
  assert.equal(verdict('s3:ListBucket'), 'allow')
  assert.equal(verdict('s3:ListBucketVersions'), 'allow')
  assert.equal(verdict('s3:GetObject'), undefined)
})

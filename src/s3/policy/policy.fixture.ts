// A request of acct_b, and policies of the bucket `photos`, as the tests of policies judge them.
import { Judging } from './judging.ts'
import { policyContext, type PolicyFacts } from './policy-context.ts'
import { parsePolicy, type PolicyRequest } from './policy.ts'

export const FACTS: PolicyFacts = {
  headers: {},
  query: new Map(),
  sourceIp: '203.0.113.7',
  secure: true,
  nowMs: Date.parse('2026-11-21T12:00:00Z'),
  account: 'acct_b',
  action: 's3:GetObject',
  createsObject: true,
}
/** A request with more facts or others; its judging has cost nothing yet. */
export const request = (
  more: Partial<PolicyRequest> = {},
  facts: Partial<PolicyFacts> = {},
): PolicyRequest => ({
  caller: 'acct_b',
  action: 's3:GetObject',
  resource: 'photos/a/b.jpg',
  context: policyContext({ ...FACTS, action: more.action ?? FACTS.action, ...facts }),
  judging: new Judging(),
  ...more,
})

/** The common members of a statement. */
export const ALLOW = {
  Effect: 'Allow',
  Principal: '*',
  Action: 's3:GetObject',
  Resource: 'arn:aws:s3:::photos/*',
}
/** The policy of these statements, each of which says at least ALLOW. */
export const policyOf = (...statements: object[]) =>
  parsePolicy(
    JSON.stringify({
      Version: '2012-10-17',
      Statement: statements.map((one) => ({ ...ALLOW, ...one })),
    }),
    'photos',
  )

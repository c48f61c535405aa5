// The pace of acceptances: by network, and at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OperationCall } from '#http/reply.ts'
import type { Queryable, State } from '#state/connect.ts'
import { ACCEPTANCES_MAX, ACCEPTANCES_PER_MINUTE, createMemberAccept } from './member-accept.ts'

/** No code: its checksum is wrong, so the state is not asked for it. */
const body = { code: `inv_${'a'.repeat(38)}` }

/** An acceptance whose transactions begin when `begun` resolves; says the code of each refusal. */
function acceptance(begun: Promise<void> = Promise.resolve()) {
  let nowMs = 1000
  const transaction = async <T>(work: (transaction: Queryable) => Promise<T>) => {
    await begun
    return await work({} as Queryable)
  }
  const accept = createMemberAccept({
    state: { transaction } as unknown as State,
    clientOf: ({ headers }) => ({ address: String(headers['from']), isSecure: false }),
    clock: { wallMs: () => 0, monotonicMs: () => nowMs },
  })
  const codeOf = async (from: string): Promise<string> => {
    try {
      await accept({ body, headers: { from } } as unknown as OperationCall<typeof body>)
      return 'accepted'
    } catch (error) {
      return (error as { code: string }).code
    }
  }
  return { codeOf, pass: (ms: number) => (nowMs += ms) }
}

test('a network that tries many codes in a minute has to wait, and another one does not', async () => {
  const { codeOf, pass } = acceptance()
  for (let nth = 0; nth < ACCEPTANCES_PER_MINUTE; nth++)
    assert.equal(await codeOf(`2001:db8:1:2::${nth}`), 'invitation_not_found')
  assert.equal(await codeOf('2001:db8:1:2::ffff'), 'rate_limit_exceeded')
  assert.equal(await codeOf('2001:db8:1:3::1'), 'invitation_not_found')
  pass(60_000 / ACCEPTANCES_PER_MINUTE)
  assert.equal(await codeOf('2001:db8:1:2::ffff'), 'invitation_not_found')
})

test('a gateway works on a few acceptances at once', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { codeOf } = acceptance(promise)
  const running = Array.from({ length: ACCEPTANCES_MAX }, (_, nth) => codeOf(`10.0.0.${nth}`))
  assert.equal(await codeOf('10.0.1.1'), 'overloaded')
  resolve()
  assert.deepEqual(new Set(await Promise.all(running)), new Set(['invitation_not_found']))
  assert.equal(await codeOf('10.0.1.1'), 'invitation_not_found')
})

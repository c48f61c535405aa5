// The matrix's demands on an answer: its figures, its payer, its receipt, and its refusals.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import {
  chargeOf,
  chargesOf,
  joulesOf,
  milligramsOf,
  shareFaults,
  type ChargeRow,
  type Share,
} from '../books.ts'
import { energyHeaderFaults } from '../../acceptance/energy-headers.ts'
import { call, callers, ergon, SEALED_MAX_MS, type Answer } from './matrix-world.ts'

/** Answers of nobody share charges of a second: they are held against the ledger together, in the end. */
const shared: (Share & { readonly status: number })[] = []

/** Headers and ledger say the same of an answer, and `payer` paid. */
export async function assertCharged(
  answer: Answer,
  expected: { payer: string; operation: string; status?: number },
): Promise<ChargeRow> {
  const header = (name: string) => answer.headers.get(name)
  assert.deepEqual(energyHeaderFaults(Object.fromEntries(answer.headers)), [])
  const charge = await chargeOf(ergon, header('x-receipt-id') ?? '')
  assert.equal(charge.status, expected.status ?? answer.status)
  assert.equal(charge.account, expected.payer)
  assert.equal(charge.operation, expected.operation)
  assert.equal(header('x-energy-joules'), joulesOf(charge))
  assert.equal(header('x-carbon-mg'), milligramsOf(charge))
  assert.equal(header('x-routed-to'), charge.routed_to)
  assert.equal(header('x-tier'), charge.tier)
  return charge
}

/** An answer that nobody pays for has the headers; assertShared() looks at their figures. */
export function assertOfNobody(answer: Answer): void {
  const headers = Object.fromEntries(answer.headers)
  assert.deepEqual(energyHeaderFaults(headers), [])
  const { 'x-energy-joules': joules = '', 'x-carbon-mg': milligrams = '' } = headers
  shared.push({ receipt: headers['x-receipt-id'] ?? '', joules, milligrams, status: answer.status })
}

/** The figures of unattributed answers are those of their charges. */
export async function assertShared(): Promise<void> {
  assert.ok(shared.length > 0)
  const charges = await chargesOf(
    ergon,
    shared.map(({ receipt }) => receipt),
  )
  assert.deepEqual(shareFaults(charges, shared, 'others'), [])
  for (const { receipt, status } of shared) {
    const charge = charges.get(receipt)
    assert.deepEqual([charge?.account, charge?.operation], ['nobody', 'service.nobody'])
    assert.equal(charge?.status, status)
  }
}

type Problem = { title: string; status: number; error: { code: string; param: string | null } }

/** A refusal: problem+json of this code, charged as expected, or to nobody. */
export async function assertRefused(
  answer: Answer,
  [status, code]: readonly [number, string],
  expected?: { payer: string; operation: string },
): Promise<Problem> {
  assert.equal(answer.status, status, answer.text)
  assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/)
  const problem = JSON.parse(answer.text) as Problem
  assert.equal(problem.title, code)
  assert.equal(problem.error.code, code)
  if (expected === undefined) assertOfNobody(answer)
  else await assertCharged(answer, expected)
  return problem
}

/** The signed receipt of a charge holds the very bytes of the ledger's row. */
export async function assertReceipt(charge: ChargeRow): Promise<void> {
  const deadline = performance.now() + SEALED_MAX_MS
  for (;;) {
    const answer = await call(`/v1/receipts/${charge.id}`, {
      ...callers.owner,
      accept: 'application/json',
    })
    if (answer.status === 200) {
      const receipt = JSON.parse(answer.text) as { id: string; charge: ChargeRow }
      assert.equal(receipt.id, charge.id)
      assert.deepEqual(receipt.charge, charge)
      return
    }
    assert.equal(answer.status, 202, answer.text)
    if (performance.now() > deadline) throw new Error(`${charge.id} is not sealed`)
    await pause(100)
  }
}

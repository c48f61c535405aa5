// A function that writes without end: it waits for its readers, its log says how much is missing, others go on, and
// its account pays.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { functionClient, until } from './function-client.ts'

product(PLAIN)
const { deploy, textAt, logsOf } = functionClient(sharedErgon)

/** 500 MB of lines. */
const FLOOD = `export default () => {
  const line = 'x'.repeat(100)
  for (let nth = 0; nth < 5_000_000; nth++) console.log(line)
  return new Response('written')
}`

test('500 MB of log lines end with the time of the request, and a neighbour is answered', async () => {
  const { id } = await deploy('flood', FLOOD, { timeout_s: 3 })
  await deploy('neighbour', 'export default () => new Response("here")')
  const flooded = textAt('/flood')
  const answers: [number, string][] = []
  while (answers.length < 10) answers.push(await textAt('/neighbour'))
  assert.deepEqual(
    answers,
    Array.from({ length: 10 }, () => [200, 'here']),
  )
  const [status, text] = await flooded
  assert.equal(status, 504)
  assert.match(text, /function_timeout/)
  const log = await until(
    () => logsOf('flood'),
    (lines) => /The process ended: it did not answer any more/.test(lines),
  )
  assert.match(log, /\d+ lines were dropped: more than/)
  const { sql } = sharedErgon()
  await until(
    async () =>
      await sql('select 1 from charges where resource = $1 and energy_nj > 1000000', [id]),
    ({ length }) => length > 0,
  )
})

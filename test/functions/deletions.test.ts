// Deletions of functions whose requests run: the changes of other accounts do not wait for these requests.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { ask } from '../workloads/workload-client.ts'
import { functionClient, until } from './function-client.ts'

product(PLAIN)

/** As many as are worked on side by side. */
const ACCOUNTS = 4
/** A request of `deaf` would run for longer, and so would an end that waits for it. */
const SOON_MS = 20_000
const DEAF = `export default () => {
  console.log('asked')
  return new Promise(() => {})
}`

async function deaf(): Promise<{ remove(): Promise<void>; answered: Promise<unknown> }> {
  const ergon = sharedErgon()
  const { id } = await ergon.control('account.create', { env: 'test' })
  const { token } = await ergon.control('token.create', { account: id, scope: 'deploy' })
  const { deploy, api } = functionClient(() => ({ ...ergon, token: String(token) }))
  const made = await deploy('deaf', DEAF, { timeout_s: 60 })
  const { pathname } = new URL(made.url)
  const answered = ask(made.url, pathname).catch((error: unknown) => error)
  await until(
    () => ergon.sql('select from resource_logs where resource = $1', [made.id]),
    ({ length }) => length > 0,
  )
  return {
    answered,
    remove: async () => assert.equal((await api('DELETE', '/deaf')).status, 200),
  }
}

test('deletions of functions that are being asked do not hold up the changes of others', async () => {
  const all = await Promise.all(Array.from({ length: ACCOUNTS }, deaf))
  await Promise.all(all.map(({ remove }) => remove()))
  const beganMs = performance.now()
  const { live_version: live } = await functionClient(sharedErgon).deploy(
    'prompt',
    'export default () => new Response("here")',
  )
  const tookMs = performance.now() - beganMs
  assert.equal(live, 1)
  assert.ok(tookMs < SOON_MS, `${tookMs} ms`)
  await Promise.all(all.map(({ answered }) => answered))
})

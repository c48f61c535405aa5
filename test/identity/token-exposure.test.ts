// Tokens in wrong fields: their owner is informed, and no log contains them.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { CreateBucketCommand, GetObjectCommand } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { s3ClientOf } from '../s3-client.ts'
import { METERED } from '../settings.ts'

product(METERED)

const WAIT_MS = 30_000

let ergon: Ergon
before(() => {
  ergon = sharedErgon()
})

const mint = (name: string) =>
  ergon.control('token.create', { scope: 'deploy', account: ergon.account, name })

const eventsOf = (id: string) =>
  ergon.sql<{ data: Record<string, unknown> }>(
    "select data from events where type = 'token.exposed' and data ->> 'token_id' = $1",
    [id],
  )

async function untilExposed(id: string): Promise<void> {
  const deadline = performance.now() + WAIT_MS
  while ((await eventsOf(id)).length === 0) {
    assert.ok(performance.now() < deadline, `nobody was told of ${id}`)
    await pause(20)
  }
}

test('a token in an address is told to its owner once an hour, and nowhere else', async () => {
  const presigning = await mint('presigning')
  const asked = await mint('in a query')
  const escaped = await mint('escaped')
  const twice = await mint('escaped twice')
  const quiet = await mint('quiet')
  const s3 = s3ClientOf(ergon, presigning.token)
  await s3.send(new CreateBucketCommand({ Bucket: 'exposed' }))
  assert.deepEqual(await eventsOf(presigning.id), [], 'a header is no address')

  const place = { Bucket: 'exposed', Key: 'key' }
  for (let time = 0; time < 3; time++)
    assert.equal((await fetch(await getSignedUrl(s3, new GetObjectCommand(place)))).status, 404)
  await fetch(`${ergon.baseUrl}/v1/models?token=${asked.token}`)
  await fetch(`${ergon.baseUrl}/${place.Bucket}?key=${escaped.token.replace('_', '%5f')}`)
  const often = encodeURIComponent(twice.token.replace('_', '%5F').replace('v', '%76'))
  await fetch(`${ergon.baseUrl}/v1/models?token=${often}`)
  // A well-formed token that does not exist.
  await fetch(`${ergon.baseUrl}/v1/models?token=${'svc_'.padEnd(42, 'a')}`)
  const bearer = { headers: { authorization: `Bearer ${quiet.token}` } }
  assert.equal((await fetch(`${ergon.baseUrl}/v1/models`, bearer)).status, 200)
  for (const { id } of [presigning, asked, escaped, twice]) await untilExposed(id)
  assert.equal((await eventsOf(presigning.id)).length, 1)

  // Also over the gateway's life, which keeps no more than the state does.
  await ergon.killCell('gw-1')
  await ergon.answers()
  const later = await mint('later')
  for (const { token } of [asked, later]) await fetch(`${ergon.baseUrl}/v1/models?token=${token}`)
  await untilExposed(later.id)
  assert.equal((await eventsOf(asked.id)).length, 1)
  await ergon.sql("update tokens set exposed_at = exposed_at - interval '1 hour' where id = $1", [
    asked.id,
  ])
  await ergon.sql('select note_exposed_token($1)', [asked.id])
  assert.equal((await eventsOf(asked.id)).length, 2, 'an hour later it is told again')

  const listed = JSON.parse((await ergon.cli('admin', 'token', 'list', '--json')).stdout) as {
    id: string
    exposed_at: string | null
  }[]
  const exposed = new Set(listed.filter((one) => one.exposed_at !== null).map(({ id }) => id))
  assert.deepEqual(
    [presigning, asked, escaped, twice, later, quiet].map(({ id }) => exposed.has(id)),
    [true, true, true, true, true, false],
  )

  const [row] = await eventsOf(later.id)
  assert.ok(!JSON.stringify(row).includes(later.token.slice(4, 20)))
})

test('no log bears a token, also where a request fails that has it in its path and query', async () => {
  const { token } = await mint('logged')
  await ergon.sql('alter table object_versions rename to away')
  const escaped = token.replace('_', '%5f')
  const headers = { authorization: `Bearer ${token}`, cookie: `ergon_session=${token}` }
  try {
    for (const text of [token, escaped]) {
      const answer = await fetch(`${ergon.baseUrl}/exposed/${text}?x=${text}`, { headers })
      assert.equal(answer.status, 500)
    }
  } finally {
    await ergon.sql('alter table away rename to object_versions')
  }
  const failures = () => ergon.stderr().split('"A request failed"').length - 1
  const deadline = performance.now() + WAIT_MS
  while (failures() < 2) {
    assert.ok(performance.now() < deadline, 'the failures are not in the log')
    await pause(20)
  }
  assert.match(ergon.stderr(), /"path":"\/exposed\/svc_\*\*\*"/)
  assert.match(ergon.stderr(), /"path":"\/exposed\/svc%5f\*\*\*"/)
  assert.ok(!ergon.stderr().includes(token.slice(4, 20)), 'a token is in the log')
})

// Incidents of regions: the operator declares them, and the accounts that have something there hear of it once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { openOwner, type Owner } from '../webhooks/owner.ts'
import { commandLine } from './command-line.ts'

product(PLAIN)
const { run } = commandLine()

const outagesOf = async (owner: Owner) => {
  const { json } = await owner.call('GET', '/v1/events?limit=100')
  type Outage = {
    event: string
    data: { incident_id: string; region: string; summary: string; started_at: string }
  }
  return (json['data'] as Outage[]).filter(({ event }) => event === 'fleet.region_outage')
}

test('`ergon admin incident open`, list and close', async () => {
  const ergon = sharedErgon()
  const owner = await openOwner(ergon)
  const stranger = await openOwner(ergon)
  // A region of its own: other tests have something in that of the node.
  await ergon.sql(
    "insert into buckets (name, account, region) values ('incident-a', $1, 'moon'), ('incident-b', $1, 'moon')",
    [owner.account],
  )
  const admin = (...words: string[]) => run(['admin', 'incident', ...words])
  const list = () => run(['admin', 'incident', 'list'])
  const opened = await admin(
    'open',
    'moon',
    'No power',
    '--since',
    '2026-01-01T00:00:00Z',
    '--json',
  )
  assert.equal(opened.code, 0, opened.stderr)
  const incident = JSON.parse(opened.stdout) as { id: string; accounts: number }
  assert.equal(incident.accounts, 1)
  const [event, ...others] = await outagesOf(owner)
  assert.deepEqual(others, [])
  assert.equal(event?.data.incident_id, incident.id)
  assert.deepEqual(
    [event?.data.region, event?.data.summary, event?.data.started_at],
    ['moon', 'No power', '2026-01-01T00:00:00.000Z'],
  )
  assert.deepEqual(await outagesOf(stranger), [])

  const again = await admin('open', 'moon', 'No power')
  assert.equal(again.code, 1)
  assert.match(again.stderr, /the region "moon" has an open one/)
  assert.match((await admin('open', 'mars', 'x')).stderr, /no region is named "mars"/)
  const early = await admin('open', 'moon', 'x', '--since', '2999-01-01T00:00:00Z')
  assert.match(early.stderr, /2999-01-01T00:00:00Z is in the future/)
  assert.match((await list()).stdout, new RegExp(`${incident.id}.*moon.*open.*1.*No power`))

  assert.equal((await admin('close', incident.id)).code, 0)
  assert.match((await admin('close', incident.id)).stderr, /no open one has the id/)
  assert.equal((await outagesOf(owner)).length, 1, 'nobody was told twice')
  await ergon.sql("delete from buckets where region = 'moon'")
})

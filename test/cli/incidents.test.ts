// Incidents of regions: the operator declares them, and the accounts that have something there hear of it once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { present } from '#base/errors.ts'
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

test('`ergon admin incident open`, update, list and close', async () => {
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
  const foreseen = await admin('open', 'moon', 'No power', '--preview')
  assert.match(foreseen.stderr, /one account has its event/)
  assert.deepEqual(await outagesOf(owner), [], 'a preview tells nobody')
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
  const incidentOf = async () => {
    const found = (await ergon.control('incident.list')).find(({ id }) => id === incident.id)
    return present(found, 'the incident is listed')
  }
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

  const silent = await admin('update', incident.id)
  assert.match(silent.stderr, /Could not update the incident: nothing is said/)
  assert.match((await admin('update', 'inc_none', 'x')).stderr, /none has the id "inc_none"/)
  const update = ['update', incident.id, 'Half of it is back', '--lost', 'Nothing stored']
  const preview = await admin(...update, '--preview')
  assert.match(preview.stderr, /preview: nothing is changed; one account has its event/)
  assert.match(
    preview.stdout,
    /^No power\nRegion moon, since .*, open\nLost: Nothing stored\n.* {2}Half of it/,
  )
  assert.deepEqual((await incidentOf()).updates, [])
  assert.equal((await admin(...update)).code, 0)
  assert.equal((await admin('close', incident.id, '--preview')).code, 0)
  assert.equal((await incidentOf()).ended_at, null, 'a preview closes nothing')
  const ended = ['close', incident.id, 'All of it is back', '--unbilled', 'Its requests']
  assert.equal((await admin(...ended)).code, 0)
  const closed = await incidentOf()
  assert.deepEqual(
    [closed.lost, closed.unbilled, closed.updates.map(({ words }) => words)],
    ['Nothing stored', 'Its requests', ['All of it is back', 'Half of it is back']],
  )
  assert.match((await admin('close', incident.id)).stderr, /no open one has the id/)
  assert.equal((await outagesOf(owner)).length, 1, 'nobody was told twice')
  const told = await ergon.sql<{ action: string; token: string | null; details: object }>(
    'select action, token, details from audit_entries where target = $1 and account = $2 order by id',
    [incident.id, ergon.account],
  )
  assert.deepEqual(told, [
    {
      action: 'incident.open',
      token: null,
      details: { region: 'moon', summary: 'No power', started_at: '2026-01-01T00:00:00Z' },
    },
    {
      action: 'incident.update',
      token: null,
      details: { words: 'Half of it is back', lost: 'Nothing stored' },
    },
    {
      action: 'incident.close',
      token: null,
      details: { words: 'All of it is back', unbilled: 'Its requests' },
    },
  ])
  await ergon.sql("delete from buckets where region = 'moon'")
})

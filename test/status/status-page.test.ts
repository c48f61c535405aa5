// The status page of a running product: what it shows, and that it goes on without gateways and without the state.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { signalProcess } from '#cells/stop.ts'
import { readyProgramOf } from '../faults/processes.ts'
import { functionClient } from '../functions/function-client.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { EACH_SECOND, readStatus, stateOf, statusAddress, untilShown } from './status-page.ts'

product(PLAIN, EACH_SECOND)

const works = (document: Parameters<typeof stateOf>[0]) =>
  ['api', 'storage', 'ledger', 'portal'].every((id) => stateOf(document, id) === 'ok')

test('the page answers at the address of the ready line, and is written anew', async () => {
  const ergon = sharedErgon()
  assert.equal(ergon.ready['status_url'], `http://status.localhost:${ergon.port + 4}`)
  const shown = await untilShown(ergon, works)
  assert.match(shown.verdict.text, /^All (measured )?parts are working$/)
  assert.equal(shown.state_answered_at, shown.written_at)
  assert.equal(
    shown.parts.every(({ days }) => days.length === 90),
    true,
  )
  await untilShown(ergon, (next) => next.written_at > shown.written_at)
  const page = await (await fetch(statusAddress(ergon))).text()
  assert.match(page, /<h1>All (measured )?parts are working<\/h1>/)
  assert.match(page, /Where this time is more than 3 minutes ago/)
  assert.deepEqual(
    readdirSync(join(ergon.dataFolder, 'status'))
      .filter((name) => !name.endsWith('.new'))
      .toSorted(),
    ['feed.rss', 'index.html', 'known.json', 'status.json'],
  )
})

test('an incident is on the page within a period, with its words as text', async () => {
  const ergon = sharedErgon()
  const hostile = '<script>alert(1)</script>'
  const { id } = await ergon.control('incident.open', { region: 'local', summary: hostile })
  await ergon.control('incident.update', { incident: id, words: hostile, lost: hostile })
  const open = await untilShown(ergon, ({ incidents }) => incidents[0]?.lost === hostile)
  assert.equal(open.verdict.text, 'Region local is degraded')
  assert.deepEqual(open.regions, [{ name: 'local', state: 'degraded' }])
  const page = await (await fetch(statusAddress(ergon))).text()
  assert.equal(page.split('&lt;script&gt;').length, 4)
  assert.ok(!page.includes('<script'))
  const feed = await (await fetch(`${statusAddress(ergon)}/feed.rss`)).text()
  assert.match(feed, new RegExp(`<guid isPermaLink="false">${id}-`))
  await ergon.control('incident.close', { incident: id })
  const closed = await untilShown(ergon, ({ incidents }) => incidents[0]?.ended_at != null)
  assert.deepEqual(closed.regions, [{ name: 'local', state: 'ok' }])
})

test('without gateways the page is served, and says what is down', async () => {
  const ergon = sharedErgon()
  const shown = await untilShown(
    ergon,
    (document) => stateOf(document, 'api') === 'down',
    async () => await ergon.killCell('gw-1').catch(() => undefined),
  )
  assert.match(shown.verdict.text, /API.* down$/)
  assert.deepEqual([stateOf(shown, 'inference'), stateOf(shown, 'storage')], ['down', 'down'])
  await ergon.answers()
  await untilShown(ergon, works)
})

test('without the state the page is served, says so, and keeps what it knew', async () => {
  const ergon = sharedErgon()
  await untilShown(ergon, (document) => document.regions.length > 0)
  const shown = await untilShown(
    ergon,
    (document) => stateOf(document, 'ledger') === 'down',
    async () => await ergon.killCell('postgres').catch(() => undefined),
  )
  assert.ok((shown.state_answered_at ?? '') < shown.written_at)
  assert.deepEqual(
    shown.regions.map(({ name }) => name),
    ['local'],
  )
  const page = await (await fetch(statusAddress(ergon))).text()
  assert.match(
    page,
    /Incidents and error rates are of <time[^>]*>[^<]* UTC<\/time>: the state does not answer/,
  )
  await untilShown(ergon, works)
})

test('an ingress that stands still is down within a period', async () => {
  const ergon = sharedErgon()
  const { deploy, textAt } = functionClient(() => ergon)
  await deploy('counted', "export default () => new Response('here')", { route: '/counted' })
  assert.deepEqual(await textAt('/counted'), [200, 'here'])
  await untilShown(ergon, (document) => stateOf(document, 'functions') === 'ok')
  const ingress = await readyProgramOf(ergon, 'ingress')
  signalProcess(ingress, 'SIGSTOP')
  try {
    const shown = await untilShown(ergon, (document) => stateOf(document, 'functions') === 'down')
    assert.match(shown.verdict.text, /Functions and containers.* down$/)
    assert.equal(shown.parts.find(({ id }) => id === 'functions')?.days.length, 90)
    const feed = await (await fetch(`${statusAddress(ergon)}/feed.rss`)).text()
    assert.match(feed, /<title>Functions and containers: down<\/title>/)
  } finally {
    signalProcess(ingress, 'SIGCONT')
  }
  await untilShown(ergon, (document) => stateOf(document, 'functions') === 'ok')
})

test('a restart goes on from the history that is on disk', async () => {
  const ergon = sharedErgon()
  const before = await readStatus(ergon)
  await ergon.killCell('status-page')
  const after = await untilShownAgain(ergon, before.written_at)
  const troubled = after.parts.find(({ id }) => id === 'api')
  assert.notEqual(troubled?.up_percent, '100', 'the time without gateways is still counted')
})

/** The server is away for a moment. */
async function untilShownAgain(ergon: Parameters<typeof readStatus>[0], after: string) {
  for (let left = 100; left > 0; left--) {
    const document = await readStatus(ergon).catch(() => undefined)
    if (document !== undefined && document.written_at > after) return document
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  assert.fail('the page was not written again')
}

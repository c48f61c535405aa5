// Jobs are never lost, doubled, hurried or dropped, and a queue that does so is found.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import { SCHEMAS } from '#processes/schemas.ts'
import { openTestState } from '#state/test-database.fixture.ts'
import { PLANTED, playHistory, type PlantedFault } from './task-history.fixture.ts'

let server: TestUrl
before(async () => {
  if (whyNoState() === false) server = await openTestUrl()
})
after(() => server?.[Symbol.asyncDispose]())

async function wrongOf(planted?: PlantedFault): Promise<string[]> {
  const opened = await openTestState({ urlOf: server.of, schemas: SCHEMAS, connections: 6 })
  await using _ = opened.state
  return await playHistory(opened, planted)
}

const FOUND: Readonly<Record<PlantedFault, RegExp>> = {
  'a job is lost': /^a job by hand ran 0 times/,
  'a job is given out twice': /ran beside itself/,
  'a dead job is dropped': /^a dead job is not kept/,
  'a retry does not wait': /^a retry came too soon/,
}

// They wait for retries, so they run side by side.
describe('a history of tasks', { skip: whyNoState(), concurrency: true, timeout: 120_000 }, () => {
  test('has no job lost, doubled, hurried or dropped', async () => {
    assert.deepEqual(await wrongOf(), [])
  })
  for (const planted of Object.keys(PLANTED) as PlantedFault[])
    test(`shows that ${planted}`, async () => {
      assert.match((await wrongOf(planted)).join('; '), FOUND[planted])
    })
})

// A model whose process lives and answers nothing: it is ended and started again with an alarm, its caller gets an
// error and pays nothing, and the other model does not notice.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { readyProgramOf, statusOf } from '../faults/processes.ts'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { CHAT, EMBEDDING, MODELS } from '../settings.ts'

product(MODELS)

const NOTICED_MAX_MS = 90_000

let ergon: Ergon
before(async () => {
  ergon = sharedErgon()
  await ergon.waitForModel(CHAT)
  await ergon.waitForModel(EMBEDDING)
})

const post = async (path: string, body: object) => {
  const response = await fetch(`${ergon.baseUrl}/v1/${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${ergon.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  await response.text()
  return response
}
const chat = () =>
  post('chat/completions', {
    model: CHAT,
    max_tokens: 2,
    messages: [{ role: 'user', content: 'Hi' }],
  })
const embed = () => post('embeddings', { model: EMBEDDING, input: 'a' })

test('a model that answers nothing is started again, the other one goes on', async () => {
  const [pid, other] = [
    await readyProgramOf(ergon, `model-${CHAT}`),
    await readyProgramOf(ergon, `model-${EMBEDDING}`),
  ]
  process.kill(pid, 'SIGSTOP')
  const asked = chat()
  const stuck = () =>
    ergon.sql("select id, kind, detail ->> 'model' as model from alarms where kind = 'model_stuck'")
  const last = performance.now() + NOTICED_MAX_MS
  while ((await stuck()).length === 0) {
    assert.equal((await embed()).status, 200)
    assert.ok(performance.now() < last, 'nobody noticed')
    await pause(500)
  }
  assert.deepEqual(
    (await stuck()).map(({ model }) => model),
    [CHAT],
  )
  // Asked again by the gateway, it may find the new life of the model.
  assert.ok([200, 502, 503].includes((await asked).status))
  await ergon.waitForModel(CHAT)
  assert.equal((await chat()).status, 200)
  assert.equal(await readyProgramOf(ergon, `model-${EMBEDDING}`), other)
  const { cells } = await statusOf(ergon)
  assert.equal(cells.find(({ name }) => name === `model-${CHAT}`)?.restarts, 1)
  // Found as it should be: for the books of the other parts nothing is wrong.
  await ergon.sql("delete from alarms where kind = 'model_stuck'")
})

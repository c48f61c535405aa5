// A model is there for everybody when the command that adds it has answered, and gone for everybody when
// the one that removes it has.
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { startScriptedUpstream } from '#inference/testing/scripted-upstream.ts'
import { product, sharedErgon } from '../product.ts'
import { honest } from '../upstreams.ts'
import { PLAIN, TWO_GATEWAYS } from '../settings.ts'

product(PLAIN, TWO_GATEWAYS)

const CONNECTIONS = 8
const MODELS = 6

test('every gateway knows a model when `models add` answers', { timeout: 120_000 }, async () => {
  const ergon = sharedErgon()
  const upstream = await startScriptedUpstream('port', honest)
  // A connection of its own each time: the kernel chooses the gateway.
  const chat = (model: string) =>
    new Promise<number>((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${ergon.token}`,
        'content-type': 'application/json',
      }
      const url = `${ergon.baseUrl}/v1/chat/completions`
      const asked = request(url, { method: 'POST', headers, agent: false }, (answer) => {
        answer.resume().once('end', () => resolve(answer.statusCode ?? 0))
      })
      asked.once('error', reject)
      asked.end(JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }))
    })
  const all = (model: string) => Promise.all(Array.from({ length: CONNECTIONS }, () => chat(model)))
  for (let nth = 0; nth < MODELS; nth++) {
    const name = `model-${nth}`
    await ergon.control('model.add', {
      upstream: upstream.baseUrl,
      upstream_model: 'upstream-name',
      name,
    })
    assert.deepEqual(new Set(await all(name)), new Set([200]))
    await ergon.control('model.remove', { model: name })
    assert.deepEqual(new Set(await all(name)), new Set([404]))
  }
  await upstream.close()
})

// A server that nobody answers at, that refuses its key, or that has no API: said when it is added, in the model
// list, and no more once it serves.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answering, startScriptedUpstream } from '#inference/testing/scripted-upstream.ts'
import { product, sharedErgon } from '../product.ts'
import { honest } from '../upstreams.ts'
import { post } from './scripted-models.ts'
import { PLAIN } from '../settings.ts'

product(PLAIN)

test('a server that is added before it is up is unreachable until it is', async () => {
  const ergon = sharedErgon()
  const gone = await startScriptedUpstream('port', honest)
  await gone.close()
  const body = { upstream: gone.baseUrl, upstream_model: 'upstream-name', name: 'late' }
  const { warning } = await ergon.control('model.add', body)
  assert.match(warning ?? '', /does not answer \(connect ECONNREFUSED/)
  assert.equal(await ergon.modelState('late'), 'unreachable')

  const back = await startScriptedUpstream(Number(new URL(gone.baseUrl).port), honest)
  await ergon.waitForModel('late')
  assert.equal((await post('late')).status, 200)
  await ergon.control('model.remove', { model: 'late' })

  await back.close()
})

test('a server that answers and cannot serve is refused when it is added', async () => {
  const ergon = sharedErgon()
  const server = await startScriptedUpstream('port', honest)
  const body = { upstream: server.baseUrl, upstream_model: 'upstream-name', name: 'refused' }
  const add = (more: object = {}) => ergon.control('model.add', { ...body, ...more })
  // The list of models is open, as at many servers; the model is not.
  server.probe = answering(401, {})
  await assert.rejects(add({ api_key: 'wrong' }), /answered 401, it refuses the key/)
  await assert.rejects(add(), /answered 401, it wants a key: add --api-key-stdin/)
  assert.equal(await ergon.modelState('refused'), undefined)
  server.probe = ({ path }, response) =>
    void response.writeHead(path.startsWith('/v1/') ? 200 : 404).end('{"choices":[]}')
  const models = server.models
  server.models = (asked, response) =>
    asked.path === '/v1/models' ? models(asked, response) : void response.writeHead(404).end()
  await assert.rejects(
    add({ upstream: server.baseUrl.replace('/v1', '') }),
    /no OpenAI-shaped server answers at .* \(404\); one does at http:.*\/v1$/,
  )
  server.probe = answering(404, { error: { message: 'The model `upstream-name` does not exist' } })
  const { warning } = await add()
  assert.match(warning ?? '', /does not have the model "upstream-name"; it lists upstream-name/)
  await ergon.control('model.remove', { model: 'refused' })
  await server.close()
})

test('a server that refuses its key later is unauthorized until it takes the key', async () => {
  const ergon = sharedErgon()
  const server = await startScriptedUpstream('port', honest)
  const body = { upstream: server.baseUrl, upstream_model: 'upstream-name', name: 'locked' }
  await ergon.control('model.add', { ...body, api_key: 'right' })
  await ergon.waitForModel('locked')
  server.models = server.probe = server.script = answering(401, {})
  // Five failures in a row open the breaker, and then the server is asked.
  while ((await ergon.modelState('locked')) !== 'unauthorized') await (await post('locked')).text()
  server.models = answering(200, { data: [{ id: 'upstream-name' }] })
  server.script = honest
  await ergon.waitForModel('locked')
  await ergon.control('model.remove', { model: 'locked' })
  await server.close()
})

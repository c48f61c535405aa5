// A server that nobody answers at: said when it is added, in the model list, and no more once it is back.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startScriptedUpstream } from '#inference/testing/scripted-upstream.ts'
import { sharedErgon } from '../parts.ts'
import { honest } from '../upstreams.ts'
import { post } from './scripted-models.ts'

test('a server that is added before it is up is unreachable until it is', async () => {
  const ergon = sharedErgon()
  const gone = await startScriptedUpstream('port', honest)
  await gone.close()
  const body = { upstream: gone.baseUrl, upstream_model: 'upstream-name', name: 'late' }
  const { warning } = await ergon.control<{ warning: string }>('POST', '/models', body)
  assert.match(warning, /does not answer \(connect ECONNREFUSED/)
  assert.equal(await ergon.modelState('late'), 'unreachable')

  const back = await startScriptedUpstream(Number(new URL(gone.baseUrl).port), honest)
  await ergon.waitForModel('late')
  assert.equal((await post('late')).status, 200)
  await ergon.control('DELETE', '/models/late')

  back.models = (_asked, response) => void response.writeHead(401).end()
  const refused = await ergon.control<{ warning: string }>('POST', '/models', {
    ...body,
    api_key: 'wrong',
  })
  assert.match(refused.warning, /refuses the key \(401\)/)
  await ergon.control('DELETE', '/models/late')
  await back.close()
})

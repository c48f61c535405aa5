// Images and sound go to a model that was declared to take them, whole, and to no other.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startScriptedUpstream } from '#inference/testing/scripted-upstream.ts'
import { product, sharedErgon } from '../product.ts'
import { ANSWER, honest } from '../upstreams.ts'
import { PLAIN } from '../settings.ts'

product(PLAIN)

const PROGRAM = join(import.meta.dirname, '../../src/cli/ergon.mjs')
const pixel = 'data:image/png;base64,iVBORw0KGgo='
const image = { type: 'image_url', image_url: { url: pixel, detail: 'high' } }
const sound = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }

test('an image goes to the model that takes images, and sound to the one that takes sound', async () => {
  const ergon = sharedErgon()
  const ergonSays = (...words: string[]) =>
    promisify(execFile)(process.execPath, [PROGRAM, '--data', ergon.dataFolder, ...words], {
      env: { PATH: process.env['PATH'] ?? '', ERGON_TOKEN: ergon.token },
    })
  const add = async (name: string, ...options: string[]) => {
    const upstream = await startScriptedUpstream('port', honest)
    const served = ['--upstream-model', 'served', '--name', name, '--context', '32000']
    await ergonSays('models', 'add', upstream.baseUrl, ...served, ...options)
    return upstream
  }
  const ask = async (parts: object[], model = 'auto') => {
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'What is this?' }, ...parts] },
      { role: 'assistant', content: 'Which?' },
      { role: 'user', content: 'All of it' },
    ]
    const answer = await fetch(`${ergon.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ergon.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages, max_tokens: 8 }),
    })
    return { status: answer.status, text: await answer.text(), messages }
  }
  const blind = await add('blind', '--tier', 'L3')
  const nobody = await ask([image])
  assert.equal(nobody.status, 400)
  assert.match(nobody.text, /takes no image/)
  const seeing = await add('seeing', '--image')
  const dear = ['--nj-per-token', '900000000']
  const hearing = await add('hearing', '--image', '--audio', ...dear)
  const upstreams = { blind, seeing, hearing }

  const seen = await ask([image])
  assert.equal(seen.status, 200, seen.text)
  assert.ok(seen.text.includes(ANSWER))
  const heard = await ask([image, sound])
  assert.equal(heard.status, 200, heard.text)
  const got = Object.values(upstreams).map(({ asked }) => asked.map(({ body }) => body['messages']))
  assert.deepEqual(got, [[], [seen.messages], [heard.messages]])
  assert.equal((await ask([sound], 'seeing')).status, 400)

  const { stdout } = await ergonSays('models', 'list')
  assert.match(stdout, /^seeing .* text,image /m)
  assert.match(stdout, /^hearing .* text,image,audio /m)
  for (const [name, upstream] of Object.entries(upstreams)) {
    await ergon.control('model.remove', { model: name })
    await upstream.close()
  }
})

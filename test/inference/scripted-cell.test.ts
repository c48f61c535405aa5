// A chat cell whose model writes what its weights say: tool calls, and answers from their results.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { writeScriptedLlama } from '../gguf/scripted-llama.ts'
import { chunksOf, commentsOf, finishOf, startCell, textOf, type TestCell } from './model-cell.ts'

const CHAT = '/v1/chat/completions'
const user = (content: string) => [{ role: 'user', content }]

describe('a chat cell with a scripted model', () => {
  let folder: string
  let cell: TestCell
  const CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
  const ANSWER = 'It rains in Oslo, it rains and rains: 3 °C 😀. It rains.'
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ergon-scripted-'))
    const file = join(folder, 'scripted.gguf')
    writeScriptedLlama(file, { says: `I look.\n${CALL}\n${CALL}`, afterTool: ANSWER })
    cell = await startCell({ id: 'scripted', file, tools: true })
  })
  after(async () => {
    await cell.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const tools = [{ type: 'function', function: { name: 'get_weather', parameters: {} } }]

  it('turns the calls that the model writes into tool calls', async () => {
    const reply = await cell.post(CHAT, { messages: user('Weather?'), tools })
    const chunks = chunksOf(reply.text)
    assert.equal(textOf(chunks), 'I look.')
    const deltas = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? [])
    assert.deepEqual(
      deltas
        .filter((delta) => delta.id !== undefined)
        .map((delta) => [delta.index, delta.function.name]),
      [
        [0, 'get_weather'],
        [1, 'get_weather'],
      ],
    )
    assert.equal(deltas[1]?.function.arguments, '{"city":"Oslo"}')
    assert.equal(finishOf(chunks), 'tool_calls')
    assert.ok(commentsOf(reply.text).length > 3, 'a held call still tells its cost')
  })

  it('holds calls that the model chooses to the schema of their arguments', async () => {
    const city = { type: 'object', properties: { city: { enum: ['Bergen', 'Oslo Airport'] } } }
    const held = [{ type: 'function', function: { name: 'get_weather', parameters: city } }]
    const body = { messages: user('Weather?'), tools: held, max_tokens: 120, temperature: 0 }
    const chunks = chunksOf((await cell.post(CHAT, body)).text)
    const deltas = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? [])
    const called = JSON.parse(deltas[1]?.function.arguments ?? '{}') as { city?: string }
    assert.ok(['Bergen', 'Oslo Airport'].includes(called.city ?? ''), JSON.stringify(deltas))
  })

  it('makes one call when parallel calls are off', async () => {
    const body = { messages: user('Weather?'), tools, parallel_tool_calls: false }
    const chunks = chunksOf((await cell.post(CHAT, body)).text)
    const ids = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? [])
    assert.equal(ids.filter((delta) => delta.id !== undefined).length, 1)
    assert.equal(finishOf(chunks), 'tool_calls')
  })

  it('gives the text as it is when there are no tools, or none may be called', async () => {
    for (const more of [{}, { tools, tool_choice: 'none' }]) {
      const chunks = chunksOf((await cell.post(CHAT, { messages: user('Hi'), ...more })).text)
      assert.equal(textOf(chunks), `I look.\n${CALL}\n${CALL}`)
      assert.equal(finishOf(chunks), 'stop')
    }
  })

  it('answers from the result of a tool', async () => {
    const call = { name: 'get_weather', arguments: '{"city":"Oslo"}' }
    const messages = [
      ...user('Weather? '.repeat(20)),
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: call }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'rain, 3 °C' },
    ]
    const chunks = chunksOf((await cell.post(CHAT, { messages, tools })).text)
    assert.equal(textOf(chunks), ANSWER)
    assert.equal(finishOf(chunks), 'stop')
  })

  it('forces a call of one of several tools', async () => {
    const city = { type: 'object', properties: { city: { enum: ['Oslo'] } } }
    const several = ['a', 'b'].map((name) => ({
      type: 'function',
      function: { name, parameters: city },
    }))
    const body = { messages: user('Hi'), tools: several, tool_choice: 'required', max_tokens: 200 }
    const chunks = chunksOf((await cell.post(CHAT, body)).text)
    const deltas = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? [])
    assert.ok(['a', 'b'].includes(deltas[0]?.function.name ?? ''))
    const text = deltas.map((delta) => delta.function.arguments).join('')
    assert.deepEqual(JSON.parse(text), { city: 'Oslo' })
  })

  it('holds the arguments of a call to their schema, without being asked to be strict', async () => {
    const parameters = { properties: { amount: { type: 'integer', minimum: 100, maximum: 120 } } }
    const tools = [{ type: 'function', function: { name: 'pay', parameters } }]
    for (const seed of [1, 2, 3]) {
      const body = { messages: user('Hi'), tools, tool_choice: 'required', temperature: 1, seed }
      const chunks = chunksOf((await cell.post(CHAT, body)).text)
      const deltas = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? [])
      const { amount } = JSON.parse(deltas.map((delta) => delta.function.arguments).join(''))
      assert.ok(amount >= 100 && amount <= 120, String(amount))
    }
  })

  it('says what it is told with any sampling', async () => {
    const body = { messages: user('Hi'), temperature: 2, top_p: 0.5, n: 4, stop: 'look' }
    const chunks = chunksOf((await cell.post(CHAT, body)).text)
    for (let index = 0; index < 4; index++) assert.equal(textOf(chunks, index), 'I ')
  })

  // The last one: a start takes a second of CPU.
  it('leaves when its parent is gone', async () => {
    cell.child.stdio[3]?.destroy()
    await once(cell.child, 'exit')
    assert.equal(cell.child.exitCode, 0)
  })
})

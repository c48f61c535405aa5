// A model that was trained for tools: an operator's own, whose answers are known to the letter, as each client uses it.
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, jsonSchema, tool } from 'ai'
import OpenAI from 'openai'
import { collect, QUESTION, WEATHER_TOOL } from '../../acceptance/world.ts'
import { writeScriptedLlama } from '../gguf/scripted-llama.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import type { Ergon } from '../start-ergon.ts'

product(PLAIN)

/** A GGUF file whose weights spell one text: a real model, served by path as an operator's own. */
const MODEL = 'scripted'
const CALL = { name: 'get_weather', arguments: { city: 'Paris' } }
const AFTER = 'It is sunny there, with a light wind.'

let ergon: Ergon
const key = () => ({ baseURL: `${ergon.baseUrl}/v1`, apiKey: ergon.token })

const folder = mkdtempSync(join(tmpdir(), 'ergon-acceptance-'))
after(() => rmSync(folder, { recursive: true, force: true }))
before(async () => {
  ergon = sharedErgon()
  chmodSync(folder, 0o755)
  const file = join(folder, 'scripted.gguf')
  writeScriptedLlama(file, {
    says: `<tool_call>\n${JSON.stringify(CALL)}\n</tool_call>`,
    afterTool: AFTER,
  })
  const added = await ergon.cli('models', 'add', file, '--name', MODEL, '--tools')
  if (added.code !== 0) throw new Error(`the model could not be added: ${added.stderr}`)
  await ergon.waitForModel(MODEL)
})
after(() => ergon.control('model.remove', { model: MODEL }))

test('the added model is listed beside the others', async () => {
  const models = await collect(new OpenAI(key()).models.list())
  assert.ok(models.some(({ id }) => id === MODEL))
})

test('openai: it chooses the tool, and goes on with its result', async () => {
  const openai = new OpenAI(key())
  const messages = [{ role: 'user' as const, content: QUESTION }]
  const tools = [{ type: 'function' as const, function: WEATHER_TOOL }]
  const first = { model: MODEL, messages, tools, temperature: 0 }
  const { choices } = await openai.chat.completions.create(first)
  assert.equal(choices[0]?.finish_reason, 'tool_calls')
  const message = choices[0].message
  const [call] = message.tool_calls ?? []
  assert.ok(call?.type === 'function')
  assert.equal(call.function.name, CALL.name)
  assert.deepEqual(JSON.parse(call.function.arguments), CALL.arguments)
  const second = await openai.chat.completions.create({
    ...first,
    messages: [...messages, message, { role: 'tool', tool_call_id: call.id, content: 'sunny' }],
  })
  assert.equal(second.choices[0]?.message.content, AFTER)
  assert.equal(second.choices[0].finish_reason, 'stop')
})

test('AI SDK: calls a tool that the model chose and goes on with its result', async () => {
  const provider = createOpenAICompatible({ name: 'ergon', includeUsage: true, ...key() })
  const asked: unknown[] = []
  const { text, steps } = await generateText({
    model: provider(MODEL),
    prompt: QUESTION,
    temperature: 0,
    maxOutputTokens: 100,
    tools: {
      get_weather: tool({
        description: WEATHER_TOOL.description,
        inputSchema: jsonSchema<{ city: string }>(WEATHER_TOOL.parameters as object),
        execute: (input) => {
          asked.push(input)
          return Promise.resolve('sunny')
        },
      }),
    },
    stopWhen: ({ steps: done }) => done.length >= 3,
  })
  assert.deepEqual(asked, [CALL.arguments])
  assert.equal(text, AFTER)
  assert.equal(steps.length, 2)
})

test('LangChain: binds a tool that the model chooses', async () => {
  const { baseURL, apiKey } = key()
  const chat = new ChatOpenAI({
    model: MODEL,
    apiKey,
    temperature: 0,
    maxTokens: 32,
    configuration: { baseURL },
  })
  const bound = chat.bindTools([{ type: 'function', function: WEATHER_TOOL }])
  const { tool_calls: calls } = await bound.invoke(QUESTION)
  assert.deepEqual(
    calls?.map(({ name, args }) => ({ name, arguments: args })),
    [CALL],
  )
})

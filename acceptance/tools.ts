// Tools that a model chooses by itself, with each client: the default model, which was not trained to, and
// a model of an operator's own, whose answers are known to the letter. That one comes after all that asks for
// `auto`, which would be free to choose it, and goes.
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, jsonSchema, tool } from 'ai'
import OpenAI from 'openai'
import { zodFunction } from 'openai/helpers/zod'
import { z } from 'zod'
import { writeScriptedLlama } from '../test/gguf/scripted-llama.ts'
import { CHAT_MODEL, collect, QUESTION, WEATHER_TOOL, type World } from './world.ts'

/** A GGUF file whose weights spell one text: a real model, served by path as an operator's own. */
const MODEL = 'scripted'
const CALL = { name: 'get_weather', arguments: { city: 'Paris' } }
const AFTER = 'It is sunny there, with a light wind.'

export function toolsTests(world: () => World): void {
  const key = () => ({ baseURL: world().baseURL, apiKey: world().apiKey })

  describe('the default model and tools', () => {
    const messages = [{ role: 'user' as const, content: 'What is the weather in Paris?' }]
    const ask = { model: CHAT_MODEL, messages, temperature: 0, max_tokens: 64 }
    const weather = { type: 'function' as const, function: WEATHER_TOOL }
    const RESULT = { temperature: '18 C', sky: 'sunny' }

    for (const model of [CHAT_MODEL, 'auto'])
      test(`openai: runTools() calls the tool and answers from its result, model ${model}`, async () => {
        const asked: unknown[] = []
        const runner = new OpenAI(key()).chat.completions.runTools({
          ...ask,
          model,
          tools: [
            {
              type: 'function',
              function: {
                ...WEATHER_TOOL,
                parse: JSON.parse,
                function: (given: { city: string }) => {
                  asked.push(given)
                  return Promise.resolve(RESULT)
                },
              },
            },
          ],
        })
        assert.match((await runner.finalContent()) ?? '', /18|sunny/)
        assert.deepEqual(asked, [{ city: 'Paris' }])
      })

    test('openai: a streamed call is put together', async () => {
      const stream = new OpenAI(key()).chat.completions.stream({ ...ask, tools: [weather] })
      const done: string[] = []
      stream.on('tool_calls.function.arguments.done', ({ name, arguments: given }) => {
        done.push(`${name}${given}`)
      })
      const { choices } = await stream.finalChatCompletion()
      assert.equal(choices[0]?.finish_reason, 'tool_calls')
      assert.deepEqual(done, ['get_weather{"city":"Paris"}'])
    })

    test('openai: parse() gives arguments as the Zod schema has them, whatever is called', async () => {
      const parameters = z.object({
        city: z.string().max(30),
        days: z.number().int().min(1).max(7),
        unit: z.enum(['celsius', 'fahrenheit']),
        mail: z.email().max(30),
        from: z.iso.date(),
      })
      const description = WEATHER_TOOL.description
      const { choices } = await new OpenAI(key()).chat.completions.parse({
        ...ask,
        max_tokens: 200,
        tools: [zodFunction({ name: 'get_weather', description, parameters })],
        tool_choice: 'required',
      })
      const [call] = choices[0]?.message.tool_calls ?? []
      assert.ok(call?.type === 'function')
      assert.ok(parameters.parse(call.function.parsed_arguments))
    })

    test('openai: a question that no tool is for is answered in words', async () => {
      const asked = [{ role: 'user' as const, content: QUESTION }]
      const { choices } = await new OpenAI(key()).chat.completions.create({
        ...ask,
        messages: asked,
        tools: [weather],
      })
      assert.match(choices[0]?.message.content ?? '', /Paris/)
      assert.equal(choices[0]?.message.tool_calls, undefined)
    })

    test('openai: the model list says that it is weak at tools', async () => {
      const model = await new OpenAI(key()).models.retrieve(CHAT_MODEL)
      assert.equal((model as unknown as { tools: string }).tools, 'weak')
    })

    test('LangChain: bindTools() gives the call', async () => {
      const { baseURL, apiKey } = key()
      const more = { temperature: 0, maxTokens: 64, configuration: { baseURL } }
      const chat = new ChatOpenAI({ model: CHAT_MODEL, apiKey, ...more })
      const { tool_calls: calls } = await chat.bindTools([weather]).invoke(ask.messages)
      assert.deepEqual(
        calls?.map(({ name, args }) => ({ name, args })),
        [{ name: 'get_weather', args: { city: 'Paris' } }],
      )
    })

    test('AI SDK: generateText() calls the tool and goes on with its result', async () => {
      const provider = createOpenAICompatible({ name: 'ergon', includeUsage: true, ...key() })
      const { text, steps } = await generateText({
        model: provider(CHAT_MODEL),
        prompt: 'What is the weather in Paris?',
        temperature: 0,
        maxOutputTokens: 64,
        tools: {
          get_weather: tool({
            description: WEATHER_TOOL.description,
            inputSchema: jsonSchema<{ city: string }>(WEATHER_TOOL.parameters as object),
            execute: () => Promise.resolve(RESULT),
          }),
        },
        stopWhen: ({ steps: done }) => done.length >= 3,
      })
      assert.equal(steps.length, 2)
      assert.match(text, /18|sunny/)
    })
  })

  describe('a model that was trained for tools', () => {
    const folder = mkdtempSync(join(tmpdir(), 'ergon-acceptance-'))
    after(() => rmSync(folder, { recursive: true, force: true }))
    before(async () => {
      const { ergon } = world()
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
    after(() => world().ergon.control('DELETE', `/models/${MODEL}`))

    test('is listed beside the others', async () => {
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
  })
}

// Tools that a model chooses by itself, with each client.
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, jsonSchema, tool } from 'ai'
import OpenAI from 'openai'
import { zodFunction } from 'openai/helpers/zod'
import { z } from 'zod'
import { key, needing, offered, QUESTION, WEATHER_TOOL } from './world.ts'

describe('tools', () => {
  const test = needing('tools')
  const openai = () => new OpenAI(key())
  const messages = [{ role: 'user' as const, content: 'What is the weather in Paris?' }]
  const ask = () => ({ model: offered('tools'), messages, temperature: 0, max_tokens: 64 })
  const weather = { type: 'function' as const, function: WEATHER_TOOL }
  const RESULT = { temperature: '18 C', sky: 'sunny' }

  for (const name of ['by name', 'auto'])
    test(`openai: runTools() calls the tool and answers from its result, model ${name}`, async () => {
      const asked: unknown[] = []
      const runner = openai().chat.completions.runTools({
        ...ask(),
        model: name === 'auto' ? name : offered('tools'),
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
    const stream = openai().chat.completions.stream({ ...ask(), tools: [weather] })
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
      // Short: a weak model fills them to their ends.
      city: z.string().max(12),
      days: z.number().int().min(1).max(7),
      unit: z.enum(['celsius', 'fahrenheit']),
      mail: z.email().max(16),
      from: z.iso.date(),
    })
    const description = WEATHER_TOOL.description
    const { choices } = await openai().chat.completions.parse({
      ...ask(),
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
    const { choices } = await openai().chat.completions.create({
      ...ask(),
      messages: asked,
      tools: [weather],
    })
    assert.match(choices[0]?.message.content ?? '', /Paris/)
    assert.equal(choices[0]?.message.tool_calls, undefined)
  })

  test('LangChain: bindTools() gives the call', async () => {
    const { baseURL, apiKey } = key()
    const more = { temperature: 0, maxTokens: 64, configuration: { baseURL } }
    const chat = new ChatOpenAI({ model: offered('tools'), apiKey, ...more })
    const { tool_calls: calls } = await chat.bindTools([weather]).invoke(messages)
    assert.deepEqual(
      calls?.map(({ name, args }) => ({ name, args })),
      [{ name: 'get_weather', args: { city: 'Paris' } }],
    )
  })

  test('AI SDK: generateText() calls the tool and goes on with its result', async () => {
    const provider = createOpenAICompatible({ name: 'ergon', includeUsage: true, ...key() })
    const { text, steps } = await generateText({
      model: provider(offered('tools')),
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

// A double of an OpenAI-shaped server that costs as little as node:http can: every byte of its answers
// is made before the first request. Nothing that it says about energy leaves the bench.
//
// A request with `stream` gets `max_tokens` chunks of a token each, else the same words as one JSON
// text (225 bytes at 8 tokens). Model `paced` writes each chunk in a turn of its own, as an engine does;
// any other writes them in one turn, and the kernel delivers them together.
import { createServer, type ServerResponse } from 'node:http'
import { listenForParent } from './child.ts'

const WORD = ' joule'
const HEAD = '"id":"chatcmpl-0123456789abcdef","created":1790000000,"model":"m"'
const TOKENS_MAX = 512

type Question = {
  stream?: boolean
  max_tokens?: number
  /** Newer clients of OpenAI send this in its place. */
  max_completion_tokens?: number
  model?: string
  stream_options?: unknown
}

const usageOf = (tokens: number) =>
  `{"prompt_tokens":24,"completion_tokens":${tokens},"total_tokens":${24 + tokens}}`
const chunk = (choices: string, usage = 'null') =>
  Buffer.from(
    `data: {${HEAD},"object":"chat.completion.chunk","choices":${choices},"usage":${usage}}\n\n`,
  )
const choice = (delta: string, finish: string) =>
  `[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}]`

const FIRST = chunk(choice('{"role":"assistant","content":""}', 'null'))
const TOKEN = chunk(choice(`{"content":"${WORD}"}`, 'null'))
const LAST = chunk(choice('{}', '"stop"'))
const DONE = Buffer.from('data: [DONE]\n\n')

const streams = new Map<number, Buffer[]>()
const wholes = new Map<number, Buffer>()

function streamOf(tokens: number): Buffer[] {
  const known = streams.get(tokens)
  if (known !== undefined) return known
  const made = [FIRST, ...Array.from({ length: tokens }, () => TOKEN), LAST]
  made.push(chunk('[]', usageOf(tokens)), DONE)
  streams.set(tokens, made)
  return made
}

function wholeOf(tokens: number): Buffer {
  const known = wholes.get(tokens)
  if (known !== undefined) return known
  const message = `{"role":"assistant","content":"${WORD.repeat(tokens).trim()}"}`
  const made = Buffer.from(
    `{${HEAD},"object":"chat.completion","choices":[{"index":0,"message":${message},` +
      `"finish_reason":"stop"}],"usage":${usageOf(tokens)}}`,
  )
  wholes.set(tokens, made)
  return made
}

function reply(question: Question, response: ServerResponse): void {
  const { max_completion_tokens: asked = question.max_tokens ?? 8 } = question
  const tokens = Math.min(asked, TOKENS_MAX)
  if (question.stream !== true) {
    const body = wholeOf(tokens)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
    response.end(body)
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const chunks = streamOf(tokens)
  if (question.model === 'paced') return pace(response, chunks, 0)
  for (const bytes of chunks) response.write(bytes)
  response.end()
}

function pace(response: ServerResponse, chunks: readonly Buffer[], at: number): void {
  const bytes = chunks[at]
  if (bytes === undefined || response.destroyed) return void response.end()
  response.write(bytes)
  setImmediate(pace, response, chunks, at + 1)
}

listenForParent(
  createServer((request, response) => {
    // LiteLLM looks around before it starts.
    if (request.method !== 'POST') return void response.writeHead(404).end()
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const text = Buffer.concat(pieces).toString('latin1')
      reply(JSON.parse(text) as Question, response)
    })
  }),
)

// A small OpenAI-shaped server for tests whose answers are scripted to the byte: for what no real
// engine does on demand, which is to lie, to hang and to die.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { PROBE_AGENT } from '#inference/providers/ask-server.ts'
import { CALL_HEADER, CALLS_PATH } from '#inference/cell-calls.ts'

export type ScriptedRequest = {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Record<string, unknown>
}
export type Script = (asked: ScriptedRequest, response: ServerResponse) => void | Promise<void>

export type ScriptedUpstream = {
  readonly socketPath: string
  readonly baseUrl: string
  readonly asked: ScriptedRequest[]
  /** Connections that were closed before their answer was complete. */
  readonly abandoned: () => number
  /** Connections that are open. */
  readonly connections: () => Promise<number>
  script: Script
  /** The cell's reaction when nobody waits for its answer any more: it breaks off, without figures. */
  left: (response: ServerResponse) => void
  /** The answer of GET /models; its calls are in no list here. */
  models: Script
  /** The answer to the probe for a token when a server is added; in no list here either. */
  probe: Script
  close(): Promise<void>
}

/** Listens on a unix socket (for cells), or on a free or that port of 127.0.0.1. */
export async function startScriptedUpstream(
  on: 'socket' | 'port' | number,
  script: Script,
): Promise<ScriptedUpstream> {
  const folder = await mkdtemp(join(tmpdir(), 'ergon-up-'))
  const socketPath = join(folder, 'up.sock')
  const asked: ScriptedRequest[] = []
  const calls = new Map<unknown, ServerResponse>()
  let abandoned = 0
  const server = createServer((request, response) => {
    response.once('close', () => {
      if (!response.writableFinished && request.method === 'POST') abandoned++
    })
    if (request.method === 'GET') {
      const { url: path = '', headers } = request
      return void upstream.models({ path, headers, body: {} }, response)
    }
    if (request.method === 'DELETE') {
      const call = calls.get((request.url ?? '').slice(CALLS_PATH.length))
      if (call !== undefined) upstream.left(call)
      return void response.writeHead(call === undefined ? 404 : 204).end()
    }
    calls.set(request.headers[CALL_HEADER], response)
    void (async () => {
      const parts: Buffer[] = []
      for await (const part of request as AsyncIterable<Buffer>) parts.push(part)
      const body = JSON.parse(Buffer.concat(parts).toString('utf8')) as Record<string, unknown>
      const one = { path: request.url ?? '', headers: request.headers, body }
      if (one.headers['user-agent'] === PROBE_AGENT) return await upstream.probe(one, response)
      asked.push(one)
      await upstream.script(one, response)
    })()
  })
  if (on === 'socket') server.listen(socketPath)
  else server.listen(on === 'port' ? 0 : on, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address() as AddressInfo | string
  const port = typeof address === 'string' ? 0 : address.port
  const upstream: ScriptedUpstream = {
    socketPath,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    asked,
    abandoned: () => abandoned,
    connections: () => promisify(server.getConnections.bind(server))(),
    script,
    left: (response) => void response.destroy(),
    models: answering(200, { object: 'list', data: [{ id: 'upstream-name' }] }),
    probe: answering(200, { choices: [], data: [] }),
    async close() {
      server.close()
      server.closeAllConnections()
      await rm(folder, { recursive: true, force: true })
    },
  }
  return upstream
}

export const frame = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
export const DONE = 'data: [DONE]\n\n'

/** Answers with these texts as an event stream, one write each. */
export const streaming =
  (...texts: readonly string[]): Script =>
  (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    for (const text of texts) response.write(text)
    response.end()
  }

export const answering =
  (status: number, body: unknown, headers: Record<string, string> = {}): Script =>
  (_asked, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }

/** A chunk of a model cell: what it says, and its figures so far. */
export const cellChunk = (
  delta: object,
  [cpuNs, prompt, completion]: readonly [number, number, number],
  finish: string | null = null,
): string =>
  frame({
    id: 'x',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'upstream-name',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ergon: { cpu_ns: String(cpuNs), prompt_tokens: prompt, completion_tokens: completion },
  })

/** A whole answer of a cell: "Hello world" in two pieces. */
export const cellHello = [
  ': {"cpu_ns":"1000000","prompt_tokens":5,"completion_tokens":0}\n\n',
  cellChunk({ role: 'assistant', content: 'Hello' }, [2_000_000, 5, 1]),
  cellChunk({ content: ' world' }, [3_000_000, 5, 2]),
  cellChunk({}, [3_500_000, 5, 2], 'stop'),
  DONE,
]

/** A chunk of an upstream without a meter. */
export const plainChunk = (content: string | null, finish: string | null = null): string =>
  frame({
    id: 'x',
    choices: [{ index: 0, delta: content === null ? {} : { content }, finish_reason: finish }],
  })

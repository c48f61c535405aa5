// Starts a model cell as the agent would: a child with config on fd 3 and a unix socket.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ModelConfig } from '#inference/engine/model-config.ts'
import { MODEL_PROGRAM } from '#inference/models/fleet.ts'
import { programAlone } from '../ergon-cache.ts'

export type Reply = { status: number; headers: IncomingMessage['headers']; text: string }

export type TestCell = {
  readonly pid: number
  readonly socket: string
  readonly child: ChildProcess
  get(path: string): Promise<Reply>
  /** Sends a body and reads the whole answer. */
  post(path: string, body: unknown): Promise<Reply>
  /** Sends a body and hands over the response while it streams. */
  open(path: string, body: unknown, signal?: AbortSignal): Promise<IncomingMessage>
  stop(): Promise<void>
}

export async function startCell(
  model: Partial<ModelConfig> & Pick<ModelConfig, 'id' | 'file'>,
  planted: readonly string[] = [],
): Promise<TestCell> {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-cell-'))
  const socket = join(folder, 's')
  const config: ModelConfig = {
    kind: 'chat',
    contextSize: 1024,
    sequences: 4,
    threads: 1,
    ...model,
  }
  const { argv, env } = await programAlone(MODEL_PROGRAM, planted)
  const child = spawn(process.execPath, argv, {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    env,
  })
  let errors = ''
  child.stderr?.on('data', (bytes: Buffer) => (errors += bytes.toString()))
  const channel = child.stdio[3]
  if (channel === null || channel === undefined || !('write' in channel))
    throw new Error('fd 3 is no stream')
  channel.on('error', () => {})
  channel.write(`${JSON.stringify({ model: config, socket })}\n`)

  const open: TestCell['open'] = async (path, body, signal) => {
    const call = request({
      socketPath: socket,
      path,
      method: body === undefined ? 'GET' : 'POST',
      ...(signal === undefined ? {} : { signal }),
    })
    call.end(body === undefined ? undefined : JSON.stringify(body))
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    return response
  }
  const whole = async (path: string, body?: unknown): Promise<Reply> => {
    const response = await open(path, body)
    let text = ''
    for await (const part of response) text += String(part)
    return { status: response.statusCode ?? 0, headers: response.headers, text }
  }
  const deadline = Date.now() + 60_000
  for (let up = false; !up;) {
    if (child.exitCode !== null) throw new Error(`the cell ended: ${errors}`)
    if (Date.now() > deadline) throw new Error(`the cell did not start: ${errors}`)
    const reply = await whole('/healthz').catch(() => undefined)
    up = reply?.status === 200
    if (!up) await sleep(20)
  }
  return {
    pid: child.pid ?? 0,
    socket,
    child,
    get: (path) => whole(path),
    post: (path, body) => whole(path, body),
    open,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM')
        await once(child, 'exit')
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

type Chunk = {
  choices: {
    index: number
    text?: string
    delta: {
      role?: string
      content?: string
      tool_calls?: { index: number; id?: string; function: { name?: string; arguments: string } }[]
    }
    finish_reason: string | null
    logprobs: { content: { token: string; logprob: number; top_logprobs: unknown[] }[] } | null
  }[]
  usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number }
  ergon: { cpu_ns: string; prompt_tokens: number; completion_tokens: number }
  error?: { code: string; param: string | null; message: string; type: string }
}

/** The data events of a stream, [DONE] left out. */
export const chunksOf = (text: string): Chunk[] =>
  text
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice(6)) as Chunk)

export const commentsOf = (text: string): Chunk['ergon'][] =>
  text
    .split('\n\n')
    .filter((event) => event.startsWith(': '))
    .map((event) => JSON.parse(event.slice(2)) as Chunk['ergon'])

/** The text of one choice. */
export const textOf = (chunks: readonly Chunk[], index = 0): string =>
  chunks
    .flatMap((chunk) => chunk.choices)
    .filter((choice) => choice.index === index)
    .map((choice) => choice.text ?? choice.delta.content ?? '')
    .join('')

export const finishOf = (chunks: readonly Chunk[], index = 0): string | null =>
  chunks
    .flatMap((chunk) => chunk.choices)
    .filter((choice) => choice.index === index)
    .at(-1)?.finish_reason ?? null

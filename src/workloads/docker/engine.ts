// A client of the Engine API, which Docker and Podman serve on a unix socket of this machine. Source: Docker Engine API 1.40,
// without a version in its paths: each engine then speaks its own.
import type { IncomingMessage } from 'node:http'
import { addAbortSignal, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { request } from '#base/node-http.ts'
import { callUnix } from '#base/unix-client.ts'

export interface ContainerEngine {
  /** The answer, parsed; undefined of an empty one. Throws EngineFault. */
  ask<T>(method: string, path: string, more?: EngineCall): Promise<T>
  /** Sends a body as it comes. Throws EngineFault. */
  send(path: string, body: Readable, signal: AbortSignal): Promise<void>
  /** The output of a container from now on, in frames, until it ends. */
  attach(container: string, signal: AbortSignal): Promise<Readable>
}

export type EngineCall = {
  readonly body?: object
  /** Ends the call; a minute by default. */
  readonly signal?: AbortSignal
}

/** A refusal; status 0 where the engine does not answer. */
export class EngineFault extends Error {
  readonly status: number

  constructor(status: number, message: string, cause?: unknown) {
    super(message, { cause })
    this.status = status
  }
}

const CALL_MS = 60_000
const OK_MOST = 299
const TEXT_MAX = 500

export function createEngine(socketPath: string): ContainerEngine {
  return {
    async ask<T>(method: string, path: string, { body, signal }: EngineCall = {}) {
      const call = { socketPath, method, path, signal: signal ?? AbortSignal.timeout(CALL_MS) }
      const { status, text } = await callUnix({ ...call, body }).catch((error: Error) => {
        throw unanswered(socketPath, error)
      })
      if (status > OK_MOST) throw refused(status, text)
      return (text.trim() === '' ? undefined : JSON.parse(text)) as T
    },
    async send(path, body, signal) {
      const { sent, answer } = open(socketPath, path, signal, {
        'content-type': 'application/x-tar',
      })
      // The answer may come before the whole body is sent, where it is a refusal.
      void pipeline(body, sent, { signal }).catch((error: Error) => sent.destroy(error))
      const { response, text } = await answer.then(async (found) => ({
        response: found,
        text: await textOf(found),
      }))
      if ((response.statusCode ?? 0) > OK_MOST) throw refused(response.statusCode ?? 0, text)
      // A refusal that came behind the head.
      const failed = /"error(?:Detail)?":\s*"([^"]+)"/.exec(text)?.[1]
      if (failed !== undefined) throw new EngineFault(0, failed)
    },
    async attach(container, signal) {
      const path = `/containers/${container}/attach?stream=1&stdout=1&stderr=1`
      const { sent, answer } = open(socketPath, path, signal, {
        connection: 'Upgrade',
        upgrade: 'tcp',
      })
      const switched = new Promise<Readable>((resolve) =>
        sent.once('upgrade', (_, stream: Readable, head: Buffer) => {
          stream.unshift(head)
          resolve(stream)
        }),
      )
      sent.end()
      const stream = await Promise.race([switched, answer])
      const status = 'statusCode' in stream ? (stream.statusCode ?? 0) : 0
      if (status > OK_MOST) throw refused(status, await textOf(stream))
      return addAbortSignal(signal, stream)
    },
  }
}

function open(
  socketPath: string,
  path: string,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>>,
) {
  const sent = request({ socketPath, path, method: 'POST', agent: false, headers, signal })
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve)
    sent.once('error', (error) => reject(unanswered(socketPath, error)))
  })
  answer.catch(() => undefined)
  return { sent, answer }
}

async function textOf(stream: Readable): Promise<string> {
  let text = ''
  for await (const chunk of stream) text = `${text}${String(chunk)}`.slice(-TEXT_MAX * 10)
  return text
}

const unanswered = (socketPath: string, error: Error) =>
  new EngineFault(0, `the engine at ${socketPath} does not answer: ${error.message}`, error)

function refused(status: number, text: string): EngineFault {
  return new EngineFault(status, messageIn(text).slice(0, TEXT_MAX))
}

/** Podman says the cause apart. */
function messageIn(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown }
    return typeof message === 'string' ? message : text
  } catch {
    return text
  }
}

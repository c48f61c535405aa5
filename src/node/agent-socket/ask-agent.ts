// Requests to the agent on its socket. An answer stays open, and has a line of JSON for each news.
import { setTimeout as startTimer } from 'node:timers'
import { sleep } from '#base/clock.ts'
import { Failure, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { request } from '#base/node-http.ts'
import { lineOf, onLines } from './json-lines.ts'

/** The agent's socket, and the proof that a process may ask. */
export type AgentSocket = { readonly socketPath: string; readonly secret: string }

export type AgentRequest = {
  readonly path: string
  readonly take: (line: unknown) => void
  /** Silence of the agent after which the request is given up. */
  readonly firstLineMs: number
  readonly signal?: AbortSignal
}

export interface AgentAnswer {
  say(line: object): void
  end(): void
  /** Resolves with the reason when the answer has ended. */
  readonly ended: Promise<Error>
}

/** The header that tells the agent that a process of the service asks. */
export const SECRET_HEADER = 'x-ergon-proxy'
const FIRST_LINE_MS = 10_000
const AGAIN_MS = 500

/** The agent has answered, or may yet, with no line in time. */
export class AgentSilent extends Error {}

/** Asks once. */
export function askAgent({ socketPath, secret }: AgentSocket, question: AgentRequest): AgentAnswer {
  const { path, take, firstLineMs, signal } = question
  const { promise: ended, resolve } = Promise.withResolvers<Error>()
  const sent = request({
    socketPath,
    path,
    method: 'POST',
    agent: false,
    headers: { [SECRET_HEADER]: secret },
    ...(signal && { signal }),
  })
  const late = startTimer(
    () => sent.destroy(new AgentSilent('the agent does not answer')),
    firstLineMs,
  )
  const end = (reason: Error) => {
    clearTimeout(late)
    resolve(reason)
  }
  sent.on('error', end)
  sent.once('response', (response) => {
    response.on('error', end)
    response.on('close', () => end(new Failure('the answer has ended')))
    if (response.statusCode !== 200)
      return void response.destroy(new Failure(`the agent answers with ${response.statusCode}`))
    onLines(response, (line) => {
      clearTimeout(late)
      take(line)
    })
  })
  sent.on('close', () => end(new Failure('the question has ended')))
  sent.flushHeaders()
  return {
    say: (line) => void (sent.destroyed || sent.write(lineOf(line))),
    end: () => void sent.destroy(),
    ended,
  }
}

/** Asks again where an answer ends, until the signal aborts. Never rejects. */
export async function followAgent(
  agent: AgentSocket,
  {
    path,
    begin,
  }: {
    readonly path: string
    /** Called before each try; the function that it returns takes the lines. */
    readonly begin: () => AgentRequest['take']
  },
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    const question = { path, take: begin(), firstLineMs: FIRST_LINE_MS, signal }
    const reason = await askAgent(agent, question).ended
    if (signal.aborted) return
    log.warn('The agent is asked again', { path, error: messageOf(reason) })
    await sleep(AGAIN_MS, signal).catch(() => undefined)
  }
}

// Requests to the agent on its socket: a connection each. The first line has the secret and the path. Both ends
// send lines of JSON after that, and the end of the connection is the end of the request.
import { connect } from 'node:net'
import { sleep } from '#base/clock.ts'
import { Failure, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { lineOf, onLines } from './json-lines.ts'

/** The agent's socket, and the proof that a process may ask. */
export type AgentSocket = { readonly socketPath: string; readonly secret: string }

/** The first line of a request. */
export type FirstLine = { readonly secret: string; readonly path: string }

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
  /** Resolves with the reason when the request has ended. */
  readonly ended: Promise<Error>
}

const FIRST_LINE_MS = 10_000
const AGAIN_MS = 500

/** The agent has answered, or may yet, with no line in time. */
export class AgentSilent extends Error {}

/** Asks once. */
export function askAgent({ socketPath, secret }: AgentSocket, question: AgentRequest): AgentAnswer {
  const { path, take, firstLineMs, signal } = question
  const { promise: ended, resolve } = Promise.withResolvers<Error>()
  const socket = connect(socketPath)
  const end = () => void socket.destroy()
  const late = setTimeout(
    () => socket.destroy(new AgentSilent('the agent does not answer')),
    firstLineMs,
  )
  let reason: Error | undefined
  socket.on('error', (error) => (reason = reasonOf(error)))
  socket.on('end', () => socket.destroy(new Failure('the agent has ended the request')))
  socket.on('close', () => {
    clearTimeout(late)
    signal?.removeEventListener('abort', end)
    resolve(reason ?? new Failure('the request has ended'))
  })
  onLines(socket, (line) => {
    clearTimeout(late)
    take(line)
  })
  socket.write(lineOf({ secret, path } satisfies FirstLine))
  signal?.addEventListener('abort', end)
  if (signal?.aborted === true) end()
  return {
    say: (line) => void (socket.writable && socket.write(lineOf(line))),
    end,
    ended,
  }
}

/** Errors of the connection have one plain reason. */
function reasonOf(error: NodeJS.ErrnoException): Error {
  const { code, syscall } = error
  return syscall === undefined ? error : new Failure(`the agent is away: ${code}`)
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

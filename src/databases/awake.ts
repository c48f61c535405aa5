// The proxy's request to the agent: to keep the server of a database running while sessions use it. The request
// stays open for as long as that; its end, also that of a killed proxy, lets the server stop when it is idle.
import { request } from '#base/node-http.ts'
import type { FatalError } from './proxy/wire.ts'

/**
 * The lines of the answer: where the server listens, the warning that sessions begin with, and why sessions must end:
 * those of some backends, or all.
 */
export type AwakeLine =
  | { readonly socketPath: string; readonly warning: FatalError | null }
  | { readonly warning: FatalError | null }
  | { readonly fatal: FatalError; readonly pids?: readonly number[] }

export interface Awake {
  readonly socketPath: string
  /** For sessions that begin. */
  readonly warning: FatalError | null
  /** Called with the backends whose sessions must end, and the last message for their clients. */
  onCut: (pids: readonly number[], fatal: FatalError) => void
  /** Resolves when the server must not be used any more, with the last message for its clients. */
  readonly ended: Promise<FatalError>
  release(): void
}

/** The agent refused to start the server. */
export class NotAwake extends Error {
  readonly fatal: FatalError
  constructor(fatal: FatalError) {
    super(fatal.message)
    this.fatal = fatal
  }
}

/** The header that tells the agent that a proxy asks. */
export const SECRET_HEADER = 'x-ergon-proxy'
/** The last message of a database whose owner lets it sleep. */
export const SUSPENDED: FatalError = {
  code: '57P03',
  message: 'the database is suspended',
  hint: 'Wake it up: ergon db resume <name>',
}

const AWAY: FatalError = {
  code: '57P03',
  message: 'the database cannot be started now',
  hint: 'Try again in a few seconds.',
}
const LINE_CHARACTERS_MAX = 65_536

/** Asks the agent for a running server. Rejects with NotAwake, or with the signal's reason. */
export function keepAwake(
  agent: { readonly socketPath: string; readonly secret: string },
  database: string,
  signal: AbortSignal,
): Promise<Awake> {
  return new Promise((resolve, reject) => {
    let isAwake = false
    let end: (fatal: FatalError) => void = () => undefined
    const ended = new Promise<FatalError>((settle) => (end = settle))
    const sent = request({
      socketPath: agent.socketPath,
      path: `/${database}`,
      method: 'POST',
      agent: false,
      headers: { [SECRET_HEADER]: agent.secret },
    })
    const release = () => void sent.destroy()
    const stop = () => {
      if (isAwake) return
      release()
      reject(signal.reason as Error)
    }
    const fail = (fatal: FatalError) => (isAwake ? end(fatal) : reject(new NotAwake(fatal)))
    const awake = { socketPath: '', warning: null, onCut: () => undefined, ended, release } as {
      -readonly [Key in keyof Awake]: Awake[Key]
    }
    const take = (line: AwakeLine) => {
      if ('fatal' in line)
        return line.pids === undefined ? fail(line.fatal) : awake.onCut(line.pids, line.fatal)
      Object.assign(awake, line)
      if (isAwake || !('socketPath' in line)) return
      isAwake = true
      signal.removeEventListener('abort', stop)
      resolve(awake)
    }
    signal.addEventListener('abort', stop, { once: true })
    sent.on('error', () => fail(AWAY))
    sent.once('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
        if (text.length > LINE_CHARACTERS_MAX) return void sent.destroy()
        const lines = text.split('\n')
        text = lines.pop() ?? ''
        for (const line of lines) take(JSON.parse(line) as AwakeLine)
      })
      response.on('error', () => fail(AWAY))
      response.on('close', () => fail(AWAY))
    })
    sent.end()
  })
}

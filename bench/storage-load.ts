// Drives the client of the storage bench (storage-client.ts), a process of its own.
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export type Keys = { readonly id: string; readonly secret: string }

/** One request: what is signed of it, and how long its body is. */
export type Wanted = {
  readonly method: 'GET' | 'PUT'
  readonly path: string
  readonly query?: string
  readonly bodyBytes?: number
}

export type StorageJob = {
  readonly port: number
  readonly keys: Keys
  /** Each is sent once, signed before the clock starts. */
  readonly requests: readonly Wanted[]
  readonly connections: number
  /** A shorter answer is a failure. */
  readonly bytesMin?: number
  /** Every body stops half way until all have come so far; then `halfway` is called. */
  readonly isHeld?: boolean
}

export type StorageResult = {
  readonly requests: number
  readonly failures: number
  /** Answered 503 and sent again. */
  readonly refused: number
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** The first answer that was no success. */
  readonly firstFailure: string
  /** Mean of X-Energy-Joules over the answers that have it. */
  readonly billedJ: number | undefined
}

/** `begin`: all is signed; `halfway`: see isHeld. The client goes on when they have resolved. */
export type Marks = { begin?(): void; halfway?(): Promise<void> }

export type StorageClient = {
  run(job: StorageJob, marks?: Marks): Promise<StorageResult>
  close(): void
}

export type ClientMessage =
  | { readonly at: 'begin' }
  | { readonly at: 'halfway' }
  | { readonly result: StorageResult }

export function startStorageClient(): StorageClient {
  const child = fork(fileURLToPath(new URL('./storage-client.ts', import.meta.url)))
  return {
    run: (job, marks = {}) =>
      new Promise((resolve, reject) => {
        const ended = (error?: unknown) => {
          child.off('message', read)
          child.off('exit', died)
          if (error !== undefined) reject(error)
        }
        const read = (message: ClientMessage) => {
          if ('result' in message) {
            ended()
            resolve(message.result)
          } else if (message.at === 'begin') {
            marks.begin?.()
            child.send({ go: true })
          } else {
            const seen = marks.halfway?.() ?? Promise.resolve()
            seen.then(() => child.send({ go: true }), ended)
          }
        }
        const died = () => ended(new Error('The storage client died'))
        child.on('message', read)
        child.once('exit', died)
        child.send({ job })
      }),
    close: () => child.disconnect(),
  }
}

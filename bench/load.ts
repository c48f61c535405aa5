// Drives the load client: one measurement at a time, with marks at the begin and the end of counting.
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The uncounted time before a measurement, as a share of the counted time. */
export const WARM_UP_SHARE = 0.25

export type LoadJob = {
  readonly port: number
  /** The whole request as it goes over the wire. */
  readonly request: string
  readonly connections: number
  /** Counted time. */
  readonly seconds: number
  /** A shorter answer is a failure. */
  readonly bytesMin: number
}

export type LoadResult = {
  readonly requests: number
  readonly failures: number
  /** Why requests failed, with their number. */
  readonly reasons: Readonly<Record<string, number>>
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export type LoadClient = {
  readonly pid: number
  /** `mark` is called when counting begins; the result comes when it ends. */
  run(job: LoadJob, mark: () => void): Promise<LoadResult>
  close(): void
}

type Message = { readonly began: true } | { readonly result: LoadResult }

export function startLoadClient(): LoadClient {
  const child = fork(fileURLToPath(new URL('./load-client.ts', import.meta.url)))
  return {
    pid: child.pid ?? 0,
    run: (job, mark) =>
      new Promise((resolve, reject) => {
        const read = (message: Message) => {
          if ('began' in message) return mark()
          child.off('message', read)
          child.off('exit', died)
          resolve(message.result)
        }
        const died = () => reject(new Error('The load client died'))
        child.on('message', read)
        child.once('exit', died)
        child.send(job)
      }),
    close: () => child.disconnect(),
  }
}

/** A POST of JSON as bytes on the wire. */
export function postRequest(
  path: string,
  headers: Readonly<Record<string, string>>,
  body: unknown,
): string {
  const text = JSON.stringify(body)
  const lines = Object.entries({
    Host: 'localhost',
    'Content-Type': 'application/json',
    ...headers,
    'Content-Length': String(Buffer.byteLength(text)),
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`
}

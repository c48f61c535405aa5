// The load of the storage bench: requests of signature version 4 with UNSIGNED-PAYLOAD over bare
// keep-alive sockets, the same for every server, all signed before the clock starts.
import { hash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { canonicalRequest, headerValues } from '../src/s3/authentication/canonical.ts'
import { sign, signingKey } from '../src/s3/authentication/verify.ts'
import { Connection, type Answered, type Work } from './connection.ts'
import type { ClientMessage, StorageJob, StorageResult, Wanted } from './storage-load.ts'

const REGION = 'us-east-1'
const SIGNED = ['host', 'x-amz-content-sha256', 'x-amz-date']

const bodies = new Map<number, Buffer>()

/** One body for each length: random, so that nothing can be saved by compressing it. */
function bodyOf(bytes: number): Buffer {
  const kept = bodies.get(bytes) ?? randomBytes(bytes)
  bodies.set(bytes, kept)
  return kept
}

/** Heads as they go over the wire. */
function signer({ port, keys }: StorageJob): (wanted: Wanted) => Buffer {
  const timestamp = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const scoped = { date: timestamp.slice(0, 8), region: REGION, service: 's3' }
  const scope = `${scoped.date}/${REGION}/s3/aws4_request`
  const key = signingKey(scoped, keys.secret)
  // prettier-ignore
  const rawHeaders = ['Host', `localhost:${port}`, 'x-amz-content-sha256', 'UNSIGNED-PAYLOAD',
    'x-amz-date', timestamp]
  const values = headerValues(rawHeaders)
  return ({ method, path, query = '', bodyBytes = 0 }) => {
    const request = { method, rawPath: path, rawQuery: query, rawHeaders }
    const canonical = canonicalRequest(request, SIGNED, values, 'UNSIGNED-PAYLOAD')
    const digest = hash('sha256', Buffer.from(canonical, 'latin1'), 'hex')
    const signature = sign(key, `AWS4-HMAC-SHA256\n${timestamp}\n${scope}\n${digest}`)
    const lines = [
      `${method} ${path}${query === '' ? '' : `?${query}`} HTTP/1.1`,
      `Host: localhost:${port}`,
      'x-amz-content-sha256: UNSIGNED-PAYLOAD',
      `x-amz-date: ${timestamp}`,
      `Authorization: AWS4-HMAC-SHA256 Credential=${keys.id}/${scope}, SignedHeaders=${SIGNED.join(';')}, Signature=${signature}`,
      `Content-Length: ${bodyBytes}`,
    ]
    return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  }
}

/** A server may be busy for a moment: so many of a job's requests may be sent again. */
const REFUSED_SHARE_MAX = 0.1

class Tally {
  refused = 0
  failures = 0
  firstFailure = ''
  readonly latenciesMs: number[] = []
  #billedJ = 0
  #billed = 0

  add({ ms, isOk, bytes, head }: Answered, bytesMin = 0): void {
    this.latenciesMs.push(ms)
    if (!isOk || bytes < bytesMin) this.failed(`${bytes} bytes after ${head}`)
    const joules = /\r\nx-energy-joules: *([0-9.]+)/i.exec(head)?.[1]
    if (joules === undefined) return
    this.#billedJ += Number(joules)
    this.#billed++
  }
  failed(why: string): void {
    this.failures++
    this.firstFailure ||= why
  }
  result(seconds: number): StorageResult {
    const sorted = this.latenciesMs.toSorted((a, b) => a - b)
    const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
    return {
      requests: sorted.length,
      failures: this.failures,
      refused: this.refused,
      seconds,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      firstFailure: this.firstFailure,
      billedJ: this.#billed === 0 ? undefined : this.#billedJ / this.#billed,
    }
  }
}

const tell = (message: ClientMessage) => process.send?.(message)

/** Tells where it is, and waits until it may go on. */
async function pause(at: 'begin' | 'halfway'): Promise<void> {
  const go = once(process, 'message')
  tell({ at })
  await go
}

async function run(job: StorageJob): Promise<StorageResult> {
  const head = signer(job)
  const left: (readonly Buffer[])[] = job.requests.map((wanted) => {
    const { bodyBytes = 0 } = wanted
    return bodyBytes === 0 ? [head(wanted)] : [head(wanted), bodyOf(bodyBytes)]
  })
  const tally = new Tally()
  if (job.isHeld === true) return await held(job, left, tally)
  left.reverse()
  const refusedMax = job.requests.length * REFUSED_SHARE_MAX
  await pause('begin')
  const fromMs = performance.now()
  await new Promise<void>((resolve) => {
    let ended = 0
    const end = () => ++ended === job.requests.length && resolve()
    const work: Work = {
      port: job.port,
      next: () => left.pop(),
      answered(answer) {
        // As SDKs do; what it took stays in the time of the whole.
        if (answer.head.startsWith('HTTP/1.1 503') && tally.refused < refusedMax) {
          tally.refused++
          left.push(answer.request)
          return
        }
        tally.add(answer, job.bytesMin)
        end()
      },
      broke() {
        tally.failed('the connection broke')
        end()
      },
    }
    for (let n = 0; n < job.connections; n++) new Connection(work)
  })
  return tally.result((performance.now() - fromMs) / 1000)
}

/** A connection for each request; all of them stop in the middle of their bodies. */
async function held(
  job: StorageJob,
  requests: readonly (readonly Buffer[])[],
  tally: Tally,
): Promise<StorageResult> {
  await pause('begin')
  const fromMs = performance.now()
  const uploads = await Promise.all(
    requests.map(async ([head, body]) => {
      const socket = connect({ host: '127.0.0.1', port: job.port, noDelay: true })
      socket.on('error', (error) => tally.failed(error.message))
      const middle = (body?.length ?? 0) / 2
      await new Promise<void>((resolve) => {
        socket.once('close', resolve)
        socket.write(head ?? '')
        socket.write(body?.subarray(0, middle) ?? '', () => resolve())
      })
      return { socket, rest: body?.subarray(middle) ?? '' }
    }),
  )
  await pause('halfway')
  await Promise.all(
    uploads.map(async ({ socket, rest }) => {
      const sentMs = performance.now()
      const answer = once(socket, 'data').then(([bytes]) => (bytes as Buffer).toString('latin1'))
      const closed = once(socket, 'close').then(() => 'nothing: the connection broke')
      socket.write(rest)
      const text = await Promise.race([answer, closed]).catch(String)
      const isOk = text.startsWith('HTTP/1.1 200')
      tally.add({ ms: performance.now() - sentMs, bytes: 0, isOk, head: text, request: [] })
      socket.destroy()
    }),
  )
  return tally.result((performance.now() - fromMs) / 1000)
}

process.on('message', (message: { job: StorageJob } | { go: true }) => {
  if ('job' in message) void run(message.job).then((result) => tell({ result }))
})
process.once('disconnect', () => process.exit(0))

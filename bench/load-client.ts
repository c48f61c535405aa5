// The load: keep-alive connections on bare sockets that send the same bytes again and again, each as
// soon as its last answer is whole (closed loop). A process of its own, kept for the whole run so that
// all targets meet it warm. It looks at an answer just enough to know where it ends and that it is one.
import { connect, type Socket } from 'node:net'
import { WARM_UP_SHARE, type LoadJob, type LoadResult } from './load.ts'

const ANSWER_MS_MAX = 5000

class Connection {
  readonly #job: LoadJob
  readonly #request: Buffer
  readonly #tally: Tally
  #socket: Socket
  #head = ''
  /** Bytes of the body still to come; -1 when it is chunked; -2 while the head is read. */
  #left = -2
  #bytes = 0
  #tail = ''
  #sentMs = 0
  #ending = false

  constructor(job: LoadJob, tally: Tally) {
    this.#job = job
    this.#tally = tally
    this.#request = Buffer.from(job.request, 'latin1')
    this.#socket = this.#open()
  }

  /** Ends when its answer is whole: whoever leaves is treated as one who leaves. */
  close(): void {
    this.#ending = true
    this.#socket.removeAllListeners('close')
    setTimeout(() => this.#socket.destroy(), ANSWER_MS_MAX).unref()
  }

  #open(): Socket {
    const socket = connect({ host: '127.0.0.1', port: this.#job.port, noDelay: true })
    socket.on('connect', () => this.#send())
    socket.on('data', (bytes) => this.#read(bytes))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#tally.failures++
      this.#left = -2
      this.#head = ''
      this.#socket = this.#open()
    })
    return socket
  }

  #send(): void {
    this.#bytes = 0
    this.#tail = ''
    this.#left = -2
    this.#sentMs = performance.now()
    this.#socket.write(this.#request)
  }

  #read(bytes: Buffer): void {
    if (this.#left !== -2) return this.#readBody(bytes)
    const text = this.#head + bytes.toString('latin1')
    const end = text.indexOf('\r\n\r\n')
    if (end < 0) {
      this.#head = text
      return
    }
    const body = bytes.subarray(end + 4 - this.#head.length)
    this.#head = ''
    const head = text.slice(0, end)
    if (!head.startsWith('HTTP/1.1 200')) this.#tally.failures++
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    this.#left = length === undefined ? -1 : Number(length)
    if (body.length > 0 || this.#left === 0) this.#readBody(body)
  }

  #readBody(bytes: Buffer): void {
    this.#bytes += bytes.length
    if (this.#left >= 0) {
      this.#left -= bytes.length
      if (this.#left <= 0) this.#done()
      return
    }
    // The end of a chunked body, with or without trailers, is its only empty line in CRLF.
    this.#tail = (this.#tail + bytes.toString('latin1', Math.max(0, bytes.length - 4))).slice(-4)
    if (this.#tail === '\r\n\r\n') this.#done()
  }

  #done(): void {
    if (this.#bytes < this.#job.bytesMin) this.#tally.failures++
    this.#tally.add(performance.now() - this.#sentMs)
    if (this.#ending) this.#socket.destroy()
    else this.#send()
  }
}

class Tally {
  failures = 0
  #counting = false
  #latenciesMs: number[] = []

  add(ms: number): void {
    if (this.#counting) this.#latenciesMs.push(ms)
  }
  begin(): void {
    this.#counting = true
    this.failures = 0
  }
  end(seconds: number): LoadResult {
    const sorted = this.#latenciesMs.toSorted((a, b) => a - b)
    const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
    return {
      requests: sorted.length,
      failures: this.failures,
      seconds,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
    }
  }
}

function run(job: LoadJob): void {
  const tally = new Tally()
  const connections = Array.from({ length: job.connections }, () => new Connection(job, tally))
  setTimeout(
    () => {
      tally.begin()
      const startedMs = performance.now()
      process.send?.({ began: true })
      setTimeout(() => {
        const result = tally.end((performance.now() - startedMs) / 1000)
        process.send?.({ result })
        for (const connection of connections) connection.close()
      }, job.seconds * 1000)
    },
    job.seconds * WARM_UP_SHARE * 1000,
  )
}

process.on('message', (job: LoadJob) => run(job))
process.once('disconnect', () => process.exit(0))

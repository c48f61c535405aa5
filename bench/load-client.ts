// The load of the gateway's bench: connections that send the same bytes again and again. A process of
// its own, kept for the whole run so that all targets meet it warm.
import { Connection, type Answered, type Work } from './connection.ts'
import { WARM_UP_SHARE, type LoadJob, type LoadResult } from './load.ts'

const REASONS_MAX = 20

class Tally implements Work {
  readonly port: number
  readonly #request: readonly Buffer[]
  readonly #bytesMin: number
  #failures = 0
  /** The first bytes of the answers that failed, with their number. */
  #failed = new Map<string, number>()
  #counting = false
  #latenciesMs: number[] = []

  constructor({ port, request, bytesMin }: LoadJob) {
    this.port = port
    this.#request = [Buffer.from(request, 'latin1')]
    this.#bytesMin = bytesMin
  }

  next(): readonly Buffer[] {
    return this.#request
  }
  answered({ ms, bytes, isOk, head }: Answered): void {
    if (!isOk) this.#fail(head.slice(0, head.indexOf('\r\n')))
    else if (bytes < this.#bytesMin) this.#fail(`an answer of ${bytes} bytes`)
    if (this.#counting) this.#latenciesMs.push(ms)
  }
  broke(): void {
    this.#fail('a broken connection')
  }
  #fail(why: string): void {
    this.#failures++
    if (this.#failed.size < REASONS_MAX || this.#failed.has(why))
      this.#failed.set(why, (this.#failed.get(why) ?? 0) + 1)
  }
  begin(): void {
    this.#counting = true
    this.#failures = 0
    this.#failed.clear()
  }
  end(seconds: number): LoadResult {
    const sorted = this.#latenciesMs.toSorted((a, b) => a - b)
    const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
    return {
      requests: sorted.length,
      failures: this.#failures,
      reasons: Object.fromEntries(this.#failed),
      seconds,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
    }
  }
}

function run(job: LoadJob): void {
  const tally = new Tally(job)
  const connections = Array.from({ length: job.connections }, () => new Connection(tally))
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

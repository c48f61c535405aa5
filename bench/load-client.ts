// The load of the gateway's bench: connections that send the same bytes again and again. A process of
// its own, kept for the whole run so that all targets meet it warm.
import { Connection, type Work } from './connection.ts'
import { WARM_UP_SHARE, type LoadJob, type LoadResult } from './load.ts'

class Tally implements Work {
  readonly port: number
  readonly #request: readonly Buffer[]
  readonly #bytesMin: number
  #failures = 0
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
  answered({ ms, bytes, isOk }: { ms: number; bytes: number; isOk: boolean }): void {
    if (!isOk) this.#failures++
    if (bytes < this.#bytesMin) this.#failures++
    if (this.#counting) this.#latenciesMs.push(ms)
  }
  broke(): void {
    this.#failures++
  }
  begin(): void {
    this.#counting = true
    this.#failures = 0
  }
  end(seconds: number): LoadResult {
    const sorted = this.#latenciesMs.toSorted((a, b) => a - b)
    const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
    return {
      requests: sorted.length,
      failures: this.#failures,
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

// The learned tail: CPU that a reply costs after its figures are final (writing head and body). Only 54 to 71 % of a
// request's CPU has been spent when its header is written, so the header adds the cost of earlier such replies. The
// difference from the truth is the operator's, never an amendment.

/** Size class of the unwritten rest. */
export type TailClass = 0 | 1 | 2 | 3

export interface Tails {
  /** Expected CPU after settling, in ns; 0 until something was learned. */
  expectedNs(operation: string, size: TailClass): number
  /** One reply's CPU after settling, in ns. */
  learn(operation: string, size: TailClass, cpuNs: number): void
}

const DECAY = 16
// Past this a sample is no tail but another's work in between (a collection, a slow neighbour).
const TAIL_NS_MAX = 2_000_000
const OPERATIONS_MAX = 256

/** The class of a body by its length in bytes: up to 4 KiB, 64 KiB, 1 MiB, beyond. */
export function tailClassOf(bytes: number): TailClass {
  if (bytes <= 4096) return 0
  if (bytes <= 65_536) return 1
  return bytes <= 1_048_576 ? 2 : 3
}

/** Averages per operation and size; operation names are the product's own, so few. */
export function createTails(options: { readonly maxNs?: number } = {}): Tails {
  const maxNs = options.maxNs ?? TAIL_NS_MAX
  const averages = new Map<string, [number, number, number, number]>()
  return {
    expectedNs: (operation, size) => Math.round(averages.get(operation)?.[size] ?? 0),
    learn(operation, size, cpuNs) {
      if (!Number.isFinite(cpuNs) || cpuNs < 0) throw new RangeError(`Not a CPU time: ${cpuNs}`)
      let row = averages.get(operation)
      if (row === undefined) {
        if (averages.size >= OPERATIONS_MAX)
          throw new RangeError(`Too many operations: ${operation}`)
        averages.set(operation, (row = [0, 0, 0, 0]))
      }
      const sample = Math.min(cpuNs, maxNs)
      row[size] = row[size] === 0 ? sample : row[size] + (sample - row[size]) / DECAY
    },
  }
}

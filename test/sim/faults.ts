// Faults planted in the real code: with any of them a simulation must turn red.
import { Journal } from '#charging/journal.ts'
import { Leases } from '#charging/leases.ts'
import { Measure } from '#charging/measure.ts'

export type Plant =
  | 'none'
  | 'journal not written'
  | 'measured is billed'
  | 'dead session is released'
  | 'stale token is honoured'

export const PLANTS: readonly Plant[] = [
  'journal not written',
  'measured is billed',
  'dead session is released',
  'stale token is honoured',
]

/** Puts a fault into the classes; dispose of it to take it out. Those of gateways are in gateway.ts. */
export function plant(fault: Plant): Disposable {
  if (fault === 'journal not written')
    return replace(
      Journal.prototype,
      'append',
      () =>
        function unwritten(record) {
          return { ...record, bytes: Buffer.from(record.bytes as string) }
        },
    )
  if (fault !== 'measured is billed') return { [Symbol.dispose]: () => {} }
  const parts = replace(
    Measure.prototype,
    'parts',
    (real) =>
      function unlimited(this: Measure, tariff, extra) {
        return real.call(this, tariff, extra, (1n << 100n) as Parameters<typeof real>[2])
      },
  )
  // The invariant of leases would stop it at once: what if it were not there?
  const settle = replace(
    Leases.prototype,
    'settle',
    () =>
      function unchecked(this: Leases, lease, held, spent) {
        lease.held -= held
        lease.used += spent
      },
  )
  return {
    [Symbol.dispose]() {
      parts[Symbol.dispose]()
      settle[Symbol.dispose]()
    },
  }
}

function replace<T extends object, K extends keyof T>(
  prototype: T,
  name: K,
  make: (real: T[K]) => T[K],
): Disposable {
  const real = prototype[name]
  prototype[name] = make(real)
  return {
    [Symbol.dispose]() {
      prototype[name] = real
    },
  }
}

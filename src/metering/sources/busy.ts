// Busy processor time of the whole machine, from /proc/stat (94 µs a read, steps of 10 ms).
import { closeSync, openSync, readSync } from 'node:fs'
import { invariant } from '#base/errors.ts'

// USER_HZ is 100 on every architecture that Node runs on: it is part of the kernel's interface.
const NS_PER_TICK = 10_000_000n
const LINE_BYTES = 512

export interface BusyReader {
  /** Cumulative busy time of all processors in ns. */
  busyNs(): bigint
  close(): void
}

/** Reads the summary line of a /proc/stat; `path` for tests. */
export function createBusyReader(path = '/proc/stat'): BusyReader {
  const fd = openSync(path, 'r')
  const line = Buffer.alloc(LINE_BYTES)
  return {
    busyNs: () => busyOfLine(line.toString('latin1', 0, readSync(fd, line, 0, LINE_BYTES, 0))),
    close: () => closeSync(fd),
  }
}

/**
 * user + nice + system + irq + softirq (proc(5)). Steal is another machine's time; guest time is
 * already inside user.
 */
export function busyOfLine(text: string): bigint {
  const fields = /^cpu +((?:\d+ ?)+)/.exec(text)?.[1]?.trim().split(' ')
  invariant(fields !== undefined && fields.length >= 7, `not a /proc/stat: ${text.slice(0, 40)}`)
  const [user = '', nice = '', system = '', , , irq = '', softirq = ''] = fields
  return (
    [user, nice, system, irq, softirq].reduce((ns, field) => ns + BigInt(field), 0n) * NS_PER_TICK
  )
}

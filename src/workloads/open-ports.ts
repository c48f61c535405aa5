// The ports of TCP on which anything listens in the network of a process. Source: proc(5), /proc/PID/net/tcp.
import { readFileSync } from 'node:fs'

const LISTENING = '0A'
const PORT = /^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) \S+ ([0-9A-F]{2}) /

/** Ascending; empty where the process is gone. */
export function openPorts(pid: number): readonly number[] {
  const found = new Set<number>()
  for (const table of ['tcp', 'tcp6'])
    for (const line of linesOf(`/proc/${pid}/net/${table}`)) {
      const [, port = '', state] = PORT.exec(line) ?? []
      if (state === LISTENING) found.add(Number.parseInt(port, 16))
    }
  return [...found].toSorted((one, other) => one - other)
}

function linesOf(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split('\n')
  } catch {
    return []
  }
}

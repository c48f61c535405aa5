// The CPU that some connections use in our own PostgreSQL. Each connection has a process of the server, and the kernel counts
// the CPU of a process. The server reads these counts, since it sees its processes in any namespace.
import type { MeasuredConnections, Queryable } from './connect.ts'

/** Connections that are opened with it as `measured`. */
export interface BackendCpu extends MeasuredConnections {
  /** Nanoseconds of CPU of all these connections so far, their starts included. `state` has other connections, of a superuser. */
  totalNs(state: Queryable): Promise<number>
}

// The first number is the time on a CPU, in nanoseconds (sched-stats.rst of Linux: /proc/<pid>/schedstat).
const READ = `
  select pid, split_part(pg_read_file('/proc/' || pid || '/schedstat', true), ' ', 1)::float8 as ns
  from pg_stat_activity where application_name = $1`

/**
 * Measures connections by a name that no others have. The end of a process is not measured; it comes a minute behind the last
 * statement (`idleTimeoutMillis`), so it takes nothing but the end itself.
 */
export function measureBackends(name: string): BackendCpu {
  let seen = new Map<number, number>()
  let totalNs = 0
  let running = 0
  let isUsed = false
  return {
    name,
    count(change) {
      running += change
      isUsed = true
    },
    async totalNs(state) {
      if (!isUsed && running === 0) return totalNs
      isUsed = false
      const { rows } = await state.query<{ pid: number; ns: number | null }>(READ, [name])
      const now = new Map<number, number>()
      for (const { pid, ns } of rows) {
        // The process ended after it was listed.
        if (ns === null) continue
        const before = seen.get(pid) ?? 0
        // Another process has the number where its CPU is less.
        totalNs += ns < before ? ns : ns - before
        now.set(pid, ns)
      }
      seen = now
      return totalNs
    },
  }
}

// The memory that a process takes for some work.
import { readFileSync } from 'node:fs'

/** The most memory of a process while work goes on, above what it had before. */
export async function grownBytes(pid: number, work: () => Promise<void>): Promise<number> {
  const resident = () =>
    1024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  const start = resident()
  let most = start
  const timer = setInterval(() => (most = Math.max(most, resident())), 20)
  await work().finally(() => clearInterval(timer))
  return Math.max(most, resident()) - start
}

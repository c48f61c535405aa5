// Traces of an instance on the machine: its first process, and the loop device of its volume.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import type { Cell } from '#cells/cell.ts'

/** Pid 1 of an instance, which leads connections into its network. */
export function relayOf({ spec }: Cell): number {
  const read = (pid: string, file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8')
  const all = readdirSync('/proc').filter((pid) => {
    try {
      return (
        read(pid, 'cgroup').includes(`/${spec.name}`) && /^NSpid:.*\t1$/m.test(read(pid, 'status'))
      )
    } catch {
      return false
    }
  })
  assert.equal(all.length, 1)
  return Number(all[0])
}

/** True while a loop device has the file of a volume. */
export const isAttached = (id: string): boolean =>
  execFileSync('losetup', ['--list', '--output', 'BACK-FILE'], { encoding: 'utf8' }).includes(id)

// The position of another program of this machine in a file, as the kernel knows it (proc_pid_fdinfo(5)).
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Bytes from the beginning of the file at an absolute path without links; undefined where it is not open. */
export function readPositionOf(pid: number, path: string): number | undefined {
  try {
    const positions = readdirSync(`/proc/${pid}/fd`)
      .filter((descriptor) => readlinkSync(`/proc/${pid}/fd/${descriptor}`) === path)
      .map((descriptor) => readFileSync(`/proc/${pid}/fdinfo/${descriptor}`, 'utf8'))
      .map((text) => Number(/^pos:\s+(\d+)$/m.exec(text)?.[1] ?? 0))
    return positions.length === 0 ? undefined : Math.max(...positions)
  } catch {
    // It has ended, or has just closed a file, or there is no /proc.
    return undefined
  }
}

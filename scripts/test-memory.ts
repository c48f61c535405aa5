// The files of a test run in memory: a file system that only this run sees, and that ends with its last process. On a disk
// each commit of a state waits for a sync, and each removed file costs the kernel time. Kills lose nothing in either place;
// what a power cut loses is simulated (test/durability).
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { basename, join } from 'node:path'

/** statfs(2). */
const TMPFS = 0x01021994
/** For the files of four processes of tests, which took 0.6 GiB, and for all their products. */
const AVAILABLE_BYTES_MIN = 6 * 1024 ** 3
/** A process keeps its id where it begins anew; a run inside of this one has another. Podman takes short paths alone. */
const OWN = `ergon-${process.pid}-`
const NAMESPACE = ['unshare', '--mount', '--propagation', 'private', '--']
const MOUNT = ['mount', '-t', 'tmpfs', '-o', 'mode=1777', 'ergon-tests']
/** Its arguments are the command that runs with the file system. A run without one ends: its files would be on the disk. */
const MOUNTED = `${MOUNT.join(' ')} "$TMPDIR" || { rmdir "$TMPDIR"; exit 1; }; exec "$@"`

/** Begins this process anew with its temporary folder in memory, where the machine has the right and the room. */
export function moveIntoMemory(): void {
  if (isOwn(tmpdir())) return removeAtEnd(tmpdir())
  if (isInMemory(tmpdir()) || whyOnDisk() !== false) return
  const folder = mkdtempSync(join(tmpdir(), OWN))
  const own = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  const words = ['-c', 'exec "$@"', 'sh', ...NAMESPACE, 'sh', '-c', MOUNTED, 'sh', ...own]
  // A copy of the cache is on one file system with the data folders, which have hard links to its files.
  const environment = { TMPDIR: folder, ERGON_TEST_CACHE: join(folder, 'cache') }
  process.execve?.('/bin/sh', ['sh', ...words], { ...process.env, ...environment })
}

/** Why the files of a run stay on the disk; to skip with. */
export function whyOnDisk(): string | false {
  if (!canMount()) return 'this user may not mount a file system'
  const available = availableBytes()
  return available < AVAILABLE_BYTES_MIN && `${available} bytes of memory are available`
}

/** True of a folder that is on a file system in memory. */
export const isInMemory = (folder: string): boolean => statfsSync(folder).type === TMPFS

/** Mounts in a namespace that ends with the mount: a container may have the right to one of both alone. */
const canMount = (): boolean => {
  const [program = '', ...words] = [...NAMESPACE, ...MOUNT, tmpdir()]
  return process.geteuid?.() === 0 && spawnSync(program, words).status === 0
}

function availableBytes(): number {
  const kib = /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]
  // The kernel's figure is the machine's; a container has a limit of its own, and Node says 0 where none is known.
  return Math.min(1024 * Number(kib ?? 0), process.constrainedMemory() || Infinity)
}

const isOwn = (folder: string): boolean => basename(folder).startsWith(OWN)

/** The folder itself is on the disk. A run that is killed by SIGKILL leaves an empty one. */
function removeAtEnd(folder: string): void {
  process.on('exit', () => {
    spawnSync('umount', ['--lazy', folder])
    rmSync(folder, { recursive: true, force: true })
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => process.exit(128 + constants.signals[signal]))
}

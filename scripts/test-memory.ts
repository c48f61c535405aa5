// The files of a test run in memory: a file system that only this run sees, and that ends with its last process. On a disk
// each commit of a state waits for a sync, and each removed file costs the kernel time. Kills lose nothing in either place;
// what a power cut loses is simulated (test/durability).
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

/** statfs(2). */
const TMPFS = 0x01021994
/** For the files of four processes of tests, which took 0.6 GiB, and for all their products. */
const AVAILABLE_BYTES_MIN = 6 * 1024 ** 3
/** A process keeps its id where it begins anew; a run inside of this one has another. Podman takes short paths alone. */
const OWN = `ergon-${process.pid}-`
const NAMESPACE = ['unshare', '--mount', '--propagation', 'private', '--']
/** Its arguments are the command that runs with the file system. */
const MOUNTED = 'mount -t tmpfs -o mode=1777 ergon-tests "$TMPDIR"; exec "$@"'

/** Begins this process anew with its temporary folder in memory, where the machine has the right and the room. */
export function moveIntoMemory(): void {
  if (isOwn(tmpdir())) return removeAtEnd(tmpdir())
  if (isInMemory() || whyOnDisk() !== false) return
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

const isInMemory = (): boolean => statfsSync(tmpdir()).type === TMPFS

const canMount = (): boolean => {
  const [program = '', ...words] = [...NAMESPACE, 'true']
  return process.geteuid?.() === 0 && spawnSync(program, words).status === 0
}

function availableBytes(): number {
  const kib = /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]
  return 1024 * Number(kib ?? 0)
}

const isOwn = (folder: string): boolean => basename(folder).startsWith(OWN)

/** The folder itself is on the disk, and so are the files where nothing could be mounted. A run that is killed leaves it. */
function removeAtEnd(folder: string): void {
  process.on('exit', () => {
    spawnSync('umount', ['--lazy', folder])
    rmSync(folder, { recursive: true, force: true })
  })
}
